"""LambdaMART trained on labels before its first round: a skyline of trees."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankloop.bounds import Count, Positive
from rankloop.errors import RankingError
from rankloop.exploration import draw_by_score
from rankloop.lab.baselines.boosted_trees import Boosting, grower, lambdamart, sums
from rankloop.lab.baselines.judged_lists import append, judged_list
from rankloop.learning.forest import Forest
from rankloop.policies.scorer_policy import check_size
from rankloop.policy import Policy
from rankloop.state_fields import state
from rankloop.types import Array, Feedback, FloatArray, IntArray, Query, Ranking

FIRST = 16  # lists before the first trees are grown


LEAVES = 31  # of a tree, at most
LEAST_IN_LEAF = 20  # documents


@dataclass(kw_only=True, eq=False)
class LambdaMART(Policy):
    r"""Boosted regression trees whose sum sorts documents by grade, as nDCG asks for.

    It keeps judged lists and grows its trees anew each time there are twice as many, the last time when there
    are `lists`; then it learns no more. In a simulation it gets its lists before the first round, drawn at
    random from the training queries: what trees reach that are shown the truth. Each of `trees` trees fits
    the lambdas $\sigma(s_j - s_i)\,|\Delta\text{nDCG}|$ of the sum of those before it.

    The trees are grown by LightGBM (`pip install 'rankloop[lightgbm]'`) on one thread, which gives the same
    trees each time, and kept as arrays: ranking needs none of it, and nothing is pickled.

    >>> from rankloop.checks import share_of_right_pairs, small_world
    >>> from rankloop.lab.users import LabelJudge
    >>> world, rng, policy = small_world(), np.random.default_rng(0), LambdaMART(lists=64, trees=50)
    >>> for index in rng.integers(len(world), size=policy.warm_up).tolist():
    ...     query, relevance = world[index].query, world[index].relevance
    ...     policy.learn(LabelJudge().respond(Ranking(query, np.arange(query.n_docs)), relevance, rng))
    >>> share_of_right_pairs(policy, world) > 0.97
    True

    Burges: From RankNet to LambdaRank to LambdaMART: an overview. Microsoft Research, 2010.
    Ke et al.: LightGBM: a highly efficient gradient boosting decision tree. NeurIPS 2017.
    """

    signals = ("grades",)
    evidence_scope = "documents"  # grades hold wherever a document stands

    lists: Count = 2000
    trees: Count = 100
    learning_rate: Positive = 0.1
    kept: Array = state(dtype=np.int64)  # judged lists
    documents: FloatArray = state((0, 0), feature_axes=(1,), rewritten=True)
    grades: FloatArray = state((0,), feature_axes=(), rewritten=True)
    ends: IntArray = state(
        (0,), np.int64, feature_axes=(), rewritten=True
    )  # of the lists among the documents
    nodes: FloatArray = state((0, 5), feature_axes=())  # of all trees
    roots: IntArray = state((0,), np.int64, feature_axes=())

    def check_installed(self) -> None:
        """Refuse to be used without LightGBM: the first trees would come many lists later."""
        grower()

    @property
    def warm_up(self) -> int:
        """All the lists it learns from."""
        return self.lists

    @property
    def warm_up_batch(self) -> int:
        """Lists are drawn one by one."""
        return 1

    def rank(self, query: Query, *, k: int, rng: np.random.Generator) -> Ranking:
        """Rank the best first."""
        return Ranking(query, draw_by_score(self.score(query), k, rng))

    def score(self, query: Query) -> FloatArray:
        """Sum the trees; without trees all documents are alike."""
        known, found = self.documents.shape[1], query.features.shape[1]
        if not (self.roots.size and found):
            return np.zeros(query.n_docs)
        if known != found:
            raise RankingError(f"this ranker knows {known} features but the query has {found}")
        return sums(Forest(self.nodes, self.roots), query.features)

    def learn(self, feedback: Feedback) -> None:
        """Keep the list, and grow the trees anew when there are twice as many as at the last time."""
        if feedback.signal != "grades":
            raise RankingError(f"this policy learns from grades, found {feedback.signal}: give it a judge")
        judged, count = judged_list(feedback), int(self.kept)
        if count >= self.lists or not judged.documents.size:
            return
        check_size(judged.documents)
        known, found = self.documents.shape[1], judged.documents.shape[1]
        if not count:
            self.documents = np.zeros((0, found), dtype=judged.documents.dtype)
        elif known != found:
            raise RankingError(f"this ranker knows {known} features but the query has {found}")
        self.documents, self.grades, self.ends = append(self.documents, self.grades, self.ends, count, judged)
        self.kept = self.kept + 1
        if _grows_at(count + 1, self.lists):
            self._grow(count + 1)

    def _grow(self, lists: int) -> None:
        ends = self.ends[:lists]
        rows = slice(int(ends[-1]))
        how = Boosting(self.trees, LEAVES, LEAST_IN_LEAF, self.learning_rate)
        forest = lambdamart(self.documents[rows], self.grades[rows], ends, how)
        self.nodes, self.roots = forest.nodes, forest.roots


def _grows_at(count: int, last: int) -> bool:
    """Whether trees are grown after so many lists: 16, 32, 64, ..., and the last."""
    return count == last or (count >= FIRST and not count & (count - 1))
