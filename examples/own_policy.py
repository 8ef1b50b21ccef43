"""A policy of your own, held to the laws and compared. Run it with `python examples/own_policy.py`."""

from dataclasses import dataclass

import numpy as np

from rankloop.checks import check_policy
from rankloop.exploration import draw_by_score
from rankloop.lab.analysis.sweep_analysis import analyse_sweep
from rankloop.lab.report.result_tables import build_summary_table
from rankloop.lab.report.table_formats import to_markdown
from rankloop.lab.sweeps.results_folder import run_sweep
from rankloop.lab.sweeps.sweep import Sweep
from rankloop.lab.users import CASCADE_TABLES, PresetUser
from rankloop.policies import PDGD, Policy, Random, state
from rankloop.types import Feedback, FloatArray, Query, Ranking


@dataclass(kw_only=True, eq=False)
class Rocchio(Policy):
    """Moves towards what was clicked and away from what was seen and left."""

    rate: float = 0.1  # an ordinary field is a setting; one made by state(...) is what it has learned
    weights: FloatArray = state((1,), feature_axes=(0,))  # for every feature; at first one 0 for all

    def score(self, query: Query) -> FloatArray:
        """Weighted sums of the features; higher is better."""
        return query.features @ np.broadcast_to(self.weights, query.features.shape[1])

    def rank(self, query: Query, *, k: int, rng: np.random.Generator) -> Ranking:
        """The best first; equals in random order."""
        return Ranking(query, draw_by_score(self.score(query), k, rng))

    def learn(self, feedback: Feedback) -> None:
        """One step, if there is something to tell apart."""
        clicked = feedback.clicks[: feedback.n_examined]
        seen = feedback.ranking.query.features[feedback.ranking.order[: clicked.size]]
        if seen.size and clicked.any() and not clicked.all():
            self.weights = self.weights + self.rate * (seen[clicked].mean(0) - seen[~clicked].mean(0))


check_policy(Rocchio)  # raises LawBroken, and says how, if a law is broken
policies = {"Rocchio": Rocchio(), "PDGD": PDGD(), "random": Random()}
users = {name: PresetUser(name) for name in CASCADE_TABLES}  # perfect, navigational, informational
sweep = Sweep(data=["linear"], users=users, policies=policies, seeds=range(3))
analysis = analyse_sweep(run_sweep(sweep), sweep)
print(to_markdown(build_summary_table(analysis, "cumulative nDCG@10")))
