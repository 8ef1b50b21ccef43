"""What policies that choose one ad for a visitor share: a context, ads known by id, exact propensities."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rankloop.errors import RankingError
from rankloop.exploration import draw, draw_by_score
from rankloop.learning.item_keys import KeyArray, keys_of
from rankloop.policies.items.item_policy import ItemPolicy
from rankloop.types import BoolArray, Feedback, FloatArray, IntArray, Query, Ranking


@dataclass(kw_only=True, eq=False)
class AdPolicy(ItemPolicy):
    """Shows one ad, drawn by probabilities that it knows, and learns whether it was clicked.

    The features are the visitor's, in the query's context; an empty context reads as zeros. Ads are known by
    id, come and go: one that was never shown is met when it is, and one that is withdrawn is not asked for.
    The evidence is the propensity of every candidate. Longer lists go on with the best of the rest; what
    stands on top was seen, clicked or not, and of the rest what the cascade rule says.
    """

    evidence_scope = "documents"  # a click means the same whoever chose the ad
    reads = "context"
    scores_alone: ClassVar[bool] = False
    learns_without_clicks = True  # no click is a 0

    @abstractmethod
    def propensities(self, query: Query) -> FloatArray:
        """With which probability each candidate is shown on top, [n_docs]."""

    @abstractmethod
    def learn_rows(self, contexts: FloatArray, keys: KeyArray, clicks: BoolArray) -> None:
        """Learn from rows of a log: who came [n, n_context], what was shown [n], what was clicked [n]."""

    @abstractmethod
    def explain_scores(self, query: Query) -> FloatArray:
        """Say what each feature of the context adds to each candidate's score, [n_docs, n_context]."""

    @property
    @abstractmethod
    def n_context(self) -> int:
        """How many features of a context are known; 0 as long as nothing was learned."""

    def rank(self, query: Query, *, k: int, rng: np.random.Generator) -> Ranking:
        """One ad by its propensity; the evidence is that of all."""
        propensities = self.propensities(query)
        first = draw(propensities, rng)
        if min(k, query.n_docs) == 1:
            return Ranking(query, np.array([first]), {"propensities": propensities})
        order = draw_by_score(self.score(query), query.n_docs, rng)
        order = np.concatenate(([first], order[order != first]))[:k]
        return Ranking(query, order, {"propensities": propensities})

    def learn(self, feedback: Feedback) -> None:
        """Take in what was seen: the ad on top, and of longer lists all to the one after the last click."""
        clicks, ranking = feedback.clicks, feedback.ranking
        seen = max(feedback.n_examined, 1)
        keys = keys_of(ranking.query).keys[ranking.order[:seen]]
        context = self._context(ranking.query, growing=True)
        self.learn_rows(np.repeat(context[None], seen, axis=0), keys, clicks[:seen])

    def _context(self, query: Query, *, growing: bool = False) -> FloatArray:
        """Read the features of whoever asks, as many as are known or, while `growing` from none, come."""
        features, known = query.context.features, self.n_context
        if features.size == known or (growing and not known):
            return np.asarray(features, dtype=np.float64)
        if not features.size:
            return np.zeros(known)
        if not known:
            return np.zeros(0)
        raise RankingError(
            f"query {query.id!r}: this policy knows contexts of {known} features, found {features.size}"
        )


def check_rows(contexts: FloatArray, keys: KeyArray, clicks: BoolArray, known: int) -> None:
    """Refuse rows of a log that do not fit together, or what is known."""
    if contexts.ndim != 2 or not len(contexts) == len(keys) == len(clicks) or clicks.dtype != np.bool_:
        raise RankingError(
            "rows of a log are contexts [n, n_context], keys [n] and boolean clicks [n], found "
            f"{contexts.shape}, {keys.shape} and {clicks.dtype} {clicks.shape}"
        )
    if known and contexts.shape[1] != known:
        raise RankingError(f"this policy knows contexts of {known} features, found {contexts.shape[1]}")


def rank_unready_last(scores: FloatArray, ready: BoolArray) -> FloatArray:
    """Put the scores of ads that are not ready below all others.

    >>> rank_unready_last(np.array([2.0, 0.0, 5.0]), np.array([True, False, True])).tolist()
    [2.0, 1.0, 5.0]
    """
    if ready.all() or not ready.any():
        return np.where(ready, scores, 0.0)
    return np.where(ready, scores, scores[ready].min() - 1.0)


def rows_of(keys: KeyArray, key: int) -> IntArray:
    """Find the rows in which an ad was shown."""
    return np.flatnonzero(keys == np.uint64(key))
