"""What counterfactual learners share: a log of somebody's lists, and clicks that count by weights."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field
from typing import Annotated, Literal, TypeAlias

import numpy as np

from rankloop.bounds import Bound, Positive
from rankloop.errors import RankingError
from rankloop.exploration import draw_by_score, draw_plackett_luce
from rankloop.learning.adam import adam
from rankloop.learning.replay_memory import enlarge
from rankloop.learning.training import Batch, ReplayMemory, Training
from rankloop.policies.scorer_policy import ScorerPolicy, check_size
from rankloop.state_fields import state
from rankloop.types import Array, BoolArray, Feedback, FloatArray, IntArray, Query, Ranking

Logging: TypeAlias = Literal["caller", "greedy", "plackett-luce"]


@dataclass(kw_only=True, eq=False)
class CounterfactualPolicy(ScorerPolicy):
    r"""A policy that learns from a log of clicks what it would not have shown itself.

    `logging` says whose lists are shown: those of the production ranker, which is the caller's order
    (`"caller"`; a query without one is shown in random order), those of what was learned so far (`"greedy"`),
    or lists drawn from its scores (`"plackett-luce"`). Every list with a click is remembered and learned from
    as `training` says, by Adam with the step `learning_rate`. Clicks count by inverse weights of at most
    `clip`.
    """

    state_shaping = ("training.memory",)
    evidence_scope = "documents"  # what counts is what was shown where
    refused_in_service = (
        "is a baseline of experiments that explores nothing by itself and trusts its model of examination: "
        "serve pairrank"
    )

    logging: Logging = "caller"
    training: Training = field(default_factory=ReplayMemory)
    learning_rate: Positive = 0.003
    clip: Annotated[float, Bound(at_least=1)] = 10.0
    moments: FloatArray = state((2, 0), feature_axes=(1,))  # of Adam
    steps: Array = state(dtype=np.int64)
    lists: Array = state(dtype=np.int64)  # learned from
    documents: FloatArray = state((0, 0, 0), feature_axes=(2,), rewritten=True)
    clicked: BoolArray = state((0, 0), np.bool_, feature_axes=(), rewritten=True)
    lengths: IntArray = state((0,), np.int64, feature_axes=(), rewritten=True)

    def rank(self, query: Query, *, k: int, rng: np.random.Generator) -> Ranking:
        """Make the list of whoever makes the log."""
        seed = rng.integers(2**63)  # for learn(): it must draw nothing of its own
        if self.logging == "plackett-luce":
            order = draw_plackett_luce(self.score(query), k, rng)
        else:
            order = draw_by_score(self._logged_scores(query), k, rng)
        return Ranking(query, order, {"seed": np.array(seed)})

    def learn(self, feedback: Feedback) -> None:
        """Remember a list with a click, and train on it and on some of what was remembered."""
        ranking, clicks = feedback.ranking, feedback.clicks
        if not (clicks.any() and ranking.query.features.shape[1]):
            return
        documents = ranking.query.features[ranking.order]
        check_size(documents)
        rng = np.random.default_rng(int(ranking.evidence["seed"]))
        self._fit_width(documents)
        newest = self._remember(documents, clicks)
        if self.training.restart:
            self._restart(documents.shape[1])
        for batch in self.training.batches(int(self.lists), newest, rng):
            self._step(batch)

    @abstractmethod
    def _votes(self, scores: FloatArray, clicks: BoolArray, shown: BoolArray) -> FloatArray:
        """Say what each result's score should go up by, [n_lists, length]."""

    def _learn_examination(
        self, scores: FloatArray, clicks: BoolArray, shown: BoolArray, counts: FloatArray
    ) -> None:
        """Learn how positions are examined, from the same lists; nothing, if that is taken as known."""

    def _logged_scores(self, query: Query) -> FloatArray:
        if self.logging == "greedy":
            return self.score(query)
        return np.zeros(query.n_docs) if query.caller_scores is None else query.caller_scores

    def _fit_width(self, documents: FloatArray) -> None:
        """Start with the first list; refuse later ones of another width."""
        known, found = self.documents.shape[2], documents.shape[1]
        if not self.parameters.size:
            self._restart(found)
            self.documents = np.zeros((0, 0, found), dtype=documents.dtype)
        elif known != found:
            raise RankingError(f"this ranker knows {known} features but the query has {found}")

    def _restart(self, n_features: int) -> None:
        """Forget all steps."""
        self.parameters = self.scorer.start(n_features)
        self.moments = np.zeros((2, self.parameters.size))
        self.steps = np.zeros_like(self.steps)

    def _remember(self, documents: FloatArray, clicks: BoolArray) -> int:
        """Keep a list, in place of the oldest if there is no room; the slot it is in."""
        slot, n = int(self.lists) % (self.training.memory or int(self.lists) + 1), len(clicks)
        slots, length, width = self.documents.shape
        slots, length = slots if slot < slots else max(2 * slots, slot + 1), max(n, length)
        self.documents = enlarge(self.documents, (slots, length, width))
        self.clicked = enlarge(self.clicked, (slots, length))
        self.lengths = enlarge(self.lengths, (slots,))
        self.documents[slot, :n], self.lengths[slot] = documents, n
        self.clicked[slot] = False
        self.clicked[slot, :n] = clicks
        self.lists = self.lists + 1
        return slot

    def _step(self, batch: Batch) -> None:
        """One step on these lists."""
        documents, clicks = self.documents[batch.slots], self.clicked[batch.slots]
        shown = np.arange(documents.shape[1]) < self.lengths[batch.slots, None]
        rows, counts = documents[shown], batch.counts[:, None] / len(batch.slots)
        scores = np.zeros(shown.shape)
        scores[shown] = self.scorer.score(self.parameters, rows)
        votes = self._votes(scores, clicks, shown) * counts
        direction = self.scorer.vjp(self.parameters, rows, votes[shown].astype(rows.dtype, copy=False))
        direction, self.moments = adam(self.moments, direction, int(self.steps))
        self._learn_examination(scores, clicks, shown, counts)
        self.step_to(self.parameters, self.learning_rate, direction)
        self.steps = self.steps + 1
