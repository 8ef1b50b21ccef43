"""What olRankNet, olLambdaRank and P²NeurRank share: any scorer, a memory, a respect for certain orders."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, Self, TypeAlias

import numpy as np

from rankloop.bounds import Positive
from rankloop.errors import RankingError
from rankloop.learning.adam import adam
from rankloop.learning.click_pairs import Pairing
from rankloop.learning.pair_loss import loss_direction, matching_shares, pair_residuals
from rankloop.learning.replay_memory import Comparisons, compare_results, enlarge, store_comparisons
from rankloop.learning.training import Batch, ReplayMemory, Training
from rankloop.policies.explores_uncertain import ExploresUncertain
from rankloop.policies.order_scorer_policy import OrderScorerPolicy
from rankloop.policies.scorer_policy import check_size
from rankloop.scorers import MLP, Scorer
from rankloop.state_fields import state
from rankloop.types import Array, BoolArray, Feedback, FloatArray, IntArray, Query, State

Optimiser: TypeAlias = Literal["adam", "gradient-descent"]

LARGEST = 1e9  # weights: layers of them still have a product
AVERAGED = 10  # the average is over about the last tenth of all steps


@dataclass(kw_only=True, eq=False)
class NeuralPairwise(ExploresUncertain, OrderScorerPolicy):
    r"""A policy around $P(i \succ j) = \sigma(f(x_i; \theta) - f(x_j; \theta))$ that explores the uncertain.

    It minimises the cross-entropy of the pairs that clicks suggest,

    $$-\sum_{i \succ j} w_{ij} \log \sigma(f(x_i; \theta) - f(x_j; \theta))
    + \tfrac{\lambda}{2} \lVert\theta - \theta_0\rVert^2,$$

    on the lists that `training` chooses from its memory; $w_{ij}$ is the pair's share of its list
    (`matching_shares`). The steps are of size `learning_rate`, along the slope as Adam scales it or, with
    `optimiser="gradient-descent"`, along the slope itself, both of the mean over the lists. With `averaging`
    the ranker is the average of the parameters over the last tenth of all steps, which is smoother than the
    last; a training that restarts has none. `exploration` and `pairing` are PairRank's, `regularisation` is
    $\lambda$.
    """

    state_shaping = ("training.memory",)

    scorer: Scorer = field(default_factory=MLP)
    pairing: Pairing = "all"
    training: Training = field(default_factory=ReplayMemory)
    learning_rate: Positive = 1e-4
    optimiser: Optimiser = "adam"
    averaging: bool = True
    regularisation: Positive = 100.0
    average: FloatArray = state((0,), feature_axes=(0,))
    moments: FloatArray = state((2, 0), feature_axes=(1,))  # of Adam
    steps: Array = state(dtype=np.int64)
    lists: Array = state(dtype=np.int64)  # learned from
    documents: FloatArray = state((0, 0, 0), feature_axes=(2,), rewritten=True)
    wins: BoolArray = state((0, 0, 0), np.bool_, feature_axes=(), rewritten=True)
    seeds: IntArray = state((0,), np.int64, feature_axes=(), rewritten=True)

    def from_state(self, state: State) -> Self:
        """Make a policy with these settings and that state, if they fit together."""
        twin = super().from_state(state)
        if twin.parameters.size:
            check_form("parameters", twin.parameters, self._origin(twin.documents.shape[2]))
        return twin

    def learn(self, feedback: Feedback) -> None:
        """Remember what the list teaches, and train on it and on some of what was remembered."""
        query, seed = feedback.ranking.query, int(feedback.ranking.evidence["seed"])
        compared = compare_results(feedback, self.layout.columns(query), self.pairing, seed)
        if not (compared.wins.any() and query.features.shape[1]):
            return
        check_size(compared.documents)
        undo = self._note_what_changes()
        try:
            with np.errstate(over="ignore", invalid="ignore"):
                self._train(compared, seed)
        except RankingError:
            undo()
            raise
        self._update_certainty(compared)
        self.learn_order(feedback)

    def widened(self, n_features: int) -> None:
        """Not possible: the units of a network start with weights for all features, drawn together."""
        del n_features

    def parameters_for(self, features: FloatArray) -> FloatArray:
        """Give the averaged parameters, or the scorer's starting point before anything was learned."""
        return self.average if self.average.size else self.scorer.start(features.shape[1])

    def _knows_of(self, query: Query) -> bool:
        """Whether anything is known of such documents, by what was learned or from the caller's order."""
        return bool(query.features.shape[1] and (self.parameters.size or self.layout.applies_to(query)))

    def _certain_by_caller(self, query: Query) -> BoolArray:
        """Certain orders where nothing is known but the caller's: all of it; without one, none."""
        if not self.layout.applies_to(query):
            return np.zeros((query.n_docs, query.n_docs), dtype=bool)
        scores = self.score(query)
        return np.asarray(scores[:, None] > scores)

    def _note_what_changes(self) -> Callable[[], None]:
        """Note what a training changes, and return a function that puts it back.

        Arrays are replaced and need no copy; of the memory, which is written in place, one slot changes.
        """
        before, slot = dict(vars(self)), self._next_slot()
        memories: list[Array] = [getattr(self, name) for name in self.rewritten_names()]
        slots = [(memory, memory[slot].copy()) for memory in memories if slot < len(memory)]

        def undo() -> None:
            vars(self).update(before)
            for memory, former in slots:
                memory[slot] = former

        return undo

    def _next_slot(self) -> int:
        """Find the slot of the memory for the next list: that of the oldest if there is no room."""
        return int(self.lists) % (self.training.memory or int(self.lists) + 1)

    def _train(self, compared: Comparisons, seed: int) -> None:
        if not self.parameters.size:
            self._start(compared.documents)
        newest = self._remember(compared, seed)
        rng = np.random.default_rng((seed, 1))  # (seed,) itself may have matched the pairs
        if self.training.restart:
            self._restart(self.documents.shape[2])
        for batch in self.training.batches(int(self.lists), newest, rng):
            self._step(batch)
        if self.optimiser == "gradient-descent" and np.abs(self.parameters).max() > LARGEST:
            raise RankingError(
                f"gradient descent does not converge: weights of {np.abs(self.parameters).max():.0e}; "
                "lower the learning rate"
            )

    def _start(self, documents: FloatArray) -> None:
        self._restart(documents.shape[1])
        self.documents = np.zeros((0, 0, documents.shape[1]), dtype=documents.dtype)

    def _restart(self, n_features: int) -> None:
        """Forget all steps."""
        self.parameters = self.average = self._origin(n_features)
        self.moments = np.zeros((2, *self.parameters.shape))
        self.steps = np.zeros_like(self.steps)

    def _origin(self, n_features: int) -> FloatArray:
        """Where the parameters start, and what the penalty pulls them back to."""
        return self.scorer.start(n_features)

    def _remember(self, compared: Comparisons, seed: int) -> int:
        """Keep the comparisons of a list; the slot it is in."""
        widths = (self.documents.shape[2], compared.documents.shape[1])
        known, found = (width - self.layout.extra for width in widths)
        if known != found:
            raise RankingError(f"this ranker knows {known} features but the query has {found}")
        slot = self._next_slot()
        self.documents, self.wins = store_comparisons(self.documents, self.wins, slot, compared)
        self.seeds = enlarge(self.seeds, self.documents.shape[:1])
        self.seeds[slot] = seed
        self.lists = self.lists + 1
        return slot

    def _step(self, batch: Batch) -> None:
        """One step on these lists."""

        def weigh(scores: FloatArray, wins: BoolArray) -> FloatArray:
            return self._weigh(scores, wins, self.seeds[batch.slots]) * batch.counts[:, None, None]

        documents, wins = self.documents[batch.slots], self.wins[batch.slots]
        direction = loss_direction(self.scoring, self.parameters, documents, wins, weigh)
        away = self.parameters - self._origin(self.documents.shape[2])
        direction = direction - self.regularisation / float(self.lists) * away
        if self.optimiser == "adam":
            direction, self.moments = adam(self.moments, direction, int(self.steps))
        self.step_to(self.parameters, self.learning_rate, direction)
        self.steps = self.steps + 1
        if self.averaging and not self.training.restart:
            share = AVERAGED / (AVERAGED + float(self.steps))
            self.average = self.average + share * (self.parameters - self.average)
        else:
            self.average = self.parameters

    def _weigh(self, scores: FloatArray, wins: BoolArray, seeds: IntArray) -> FloatArray:
        """Say what each win counts, on lists with these seeds."""
        del seeds  # nothing is random here
        return pair_residuals(scores, wins) * matching_shares(wins)

    def _update_certainty(self, compared: Comparisons) -> None:
        """Update what the certain orders need, after training."""


def check_form(name: str, found: Array, expected: Array) -> None:
    """Refuse arrays of a state that other settings have made."""
    if found.shape != expected.shape:
        raise RankingError(
            f"with these settings the {name} have the shape {expected.shape}, in the state {found.shape}: "
            "expected the settings it was learned with (scorer, covariance, number of networks)"
        )
