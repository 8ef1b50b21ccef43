"""Random forests, one for each ad."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rankloop.bounds import Count, NonNegative
from rankloop.learning.forest import Forest, descend, find_grower, grow, join_trees
from rankloop.policies.ads.ad_policy import rank_unready_last
from rankloop.policies.ads.batch_ad_policy import BatchAdPolicy
from rankloop.state_fields import state
from rankloop.types import FloatArray, IntArray, Query


@dataclass(kw_only=True, eq=False)
class AdForest(BatchAdPolicy):
    """Grows for each ad a forest that tells who clicks, and shows the ad with the highest share of clicks.

    The trees are grown by scikit-learn (`pip install 'rankloop[ads]'`) and kept as arrays: ranking needs none
    of it, and nothing is pickled.

    >>> from rankloop.types import Context, Feedback, Query, Ranking
    >>> policy = AdForest(trees=10)
    >>> for x in (0.0, 0.5, 1.0) * 20:  # those in the middle like tea: no line tells them from the others
    ...     query = Query("visitor", np.empty((2, 0)), ("tea", "coffee"), context=Context("", np.array([x])))
    ...     policy.learn(Feedback(Ranking(query, np.array([0])), np.array([x == 0.5])))
    ...     policy.learn(Feedback(Ranking(query, np.array([1])), np.array([x != 0.5])))
    >>> int(policy.score(query).argmax())
    1

    Breiman: Random forests. Machine Learning, 2001.
    """

    state_shaping = ("trees",)

    item_arrays: ClassVar[tuple[str, ...]] = ("ready", "roots")

    growth: NonNegative = 1.0
    trees: Count = 200
    nodes: FloatArray = state((0, 5), feature_axes=())  # of all trees of all ads
    roots: IntArray = state((0, 0), np.int64, feature_axes=())  # [n_ads, trees] rows of nodes

    def check_installed(self) -> None:
        """Refuse to be served without scikit-learn: the first fit would come many lists later."""
        find_grower()

    def score(self, query: Query) -> FloatArray:
        """Average the share of clicks over the trees; ads that cannot be the best yet stand below all."""
        (ready,) = self.values_of(query, "ready")
        return rank_unready_last(self._chances(query, self._context(query)), ready.astype(np.bool_))

    def explain_scores(self, query: Query) -> FloatArray:
        """By how much the share of clicks would fall if a feature were 0."""
        context = self._context(query)
        chances, found = self._chances(query, context), np.zeros((query.n_docs, context.size))
        for feature in range(context.size):
            without = np.where(np.arange(context.size) == feature, 0.0, context)
            found[:, feature] = chances - self._chances(query, without)
        return found

    def _chances(self, query: Query, context: FloatArray) -> FloatArray:
        if not len(self.nodes):
            return np.zeros(query.n_docs)
        (roots,) = self.values_of(query, "roots")
        return np.asarray(descend(self.nodes, roots, context).mean(axis=-1))

    def _fit_ads(self, fits: list[tuple[int, FloatArray, FloatArray]]) -> None:
        forests = {index: self._grown(positive, negative) for index, positive, negative in fits}
        starts = np.cumsum([0, *(len(forest.nodes) for forest in forests.values())])[:-1]
        roots = np.zeros((len(self.keys), self.trees), dtype=np.int64)
        for (index, forest), start in zip(forests.items(), starts.tolist(), strict=True):
            roots[index] = forest.roots + start
        tables = [forest.nodes for forest in forests.values()]
        self.nodes, self.roots = join_trees(tables, starts) if tables else self.nodes[:0], roots

    def _grown(self, positive: FloatArray, negative: FloatArray) -> Forest:
        rows = np.concatenate((positive, negative))
        return grow(rows, np.arange(len(rows)) < len(positive), trees=self.trees, seed=self.seed)
