"""What duels cost: how surely the best ranker would beat those that a dueling bandit compares."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rankloop.errors import SettingError
from rankloop.lab.simulation.lambdarank_probe import offline_lambdarank
from rankloop.lab.simulation.measures import Measure
from rankloop.lab.simulation.probe_base import Look, RoundProbe
from rankloop.lab.theory import duel_losses
from rankloop.metrics import NDCG
from rankloop.policies import MGD, Policy
from rankloop.scorers import Linear
from rankloop.types import FloatArray

DUELS = Measure(
    "dueling regret",
    kind="duels",
    direction="lower",
    unit="duels",
    title="dueling regret",
    meaning="How often would the best linear ranker beat those that were compared, beyond half the time?",
)


@dataclass(frozen=True, kw_only=True)
class DuelingRegret(RoundProbe):
    r"""Regret of dueling bandits, $\sum_t f_t(w^*, w_t) + f_t(w^*, w'_t)$ less a half for each.

    $f_t(w^*, w) = \sigma(v_t(w^*) - v_t(w))$ with nDCG@`top` of the query's documents, ranked by the weights,
    as the utility $v_t$. $w^*$ is an offline LambdaRank. Of several candidates their mean counts. It looks at
    every round, as a sum should; with `every` above 1 it is an estimate.

    Wang, Kim, McCord-Snook, Wu, Wang: Variance reduction in gradient exploration for online learning to rank.
    SIGIR 2019, Equation 1.
    """

    name: ClassVar[str] = "duels"
    add_up: ClassVar[bool] = True

    every: int = 1
    top: int = 10

    def __post_init__(self) -> None:
        """Refuse lists of nothing."""
        super().__post_init__()
        if self.top < 1:
            raise SettingError(f"top must be at least 1, found {self.top}")

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The sum over all rounds so far."""
        return (DUELS,)

    def applies(self, policy: Policy) -> bool:
        """To policies that compare linear rankers with their neighbours."""
        return isinstance(policy, MGD) and isinstance(policy.scorer, Linear)

    def values(self, look: Look) -> Mapping[Measure, float]:
        """What the current ranker and its candidates lose to the best one."""
        policy, features = look.policy, look.judged.query.features
        assert isinstance(policy, MGD)
        current = policy.parameters_for(features)
        candidates = current + policy.radius * look.ranking.evidence["directions"]
        weights = np.vstack((offline_lambdarank(look.train), current, candidates))
        best, now, *others = self._utilities(weights, look)
        losses = duel_losses(best, np.array([now, *others]))
        return {DUELS: float(losses[0] + losses[1:].mean())}

    def _utilities(self, weights: FloatArray, look: Look) -> list[float]:
        """The nDCG of the query's documents in the order of each ranker."""
        orders = (-(weights @ look.judged.query.features.T)).argsort(axis=1, kind="stable")
        return [NDCG(k=self.top)(order, look.judged.relevance) for order in orders]
