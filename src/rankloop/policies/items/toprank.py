"""TopRank: a partial order of each query's documents, from clicks alone."""

from __future__ import annotations

from dataclasses import dataclass
from math import erf, pi, sqrt
from typing import Annotated, ClassVar, Self

import numpy as np

from rankloop.bounds import Bound
from rankloop.errors import RankingError
from rankloop.learning.item_keys import KeyArray
from rankloop.learning.pair_counts import Layout, add_query, move_values
from rankloop.policy import Policy
from rankloop.state_fields import state
from rankloop.types import BoolArray, Feedback, FloatArray, IntArray, Query, Ranking

WIDENING = 4 * sqrt(2 / pi) / erf(sqrt(2))  # c, about 3.34


@dataclass(kw_only=True, eq=False)
class TopRank(Policy):
    r"""Shuffles documents until clicks say which belongs above which; each query is learned by itself.

    The documents that none of the others is known to beat are the first block, those that none of the rest
    beats are the second, and so on; each block is shown in random order. For two documents of one block, a
    click on exactly one of them counts: $U_{ij} = C_i - C_j$ (what is not shown is not clicked),
    $S_{ij} = \sum U_{ij}$, $N_{ij} = \sum |U_{ij}|$. From then on $i$ stands above $j$ if

    $$S_{ij} \ge \sqrt{2 N_{ij} \log\left(c \sqrt{N_{ij}} / \delta\right)}, \qquad
    c = \frac{4 \sqrt{2 / \pi}}{\text{erf}(\sqrt 2)}.$$

    Documents are known by id; without ids, by their row in their query. `delta` is the probability with which
    a relation may be wrong, in the paper 1 / (number of lists).

    >>> policy, query = TopRank(), Query("q", np.empty((3, 0)), ("tea", "coffee", "water"))
    >>> for seed in range(60):  # coffee is always clicked
    ...     shown = policy.rank(query, k=3, rng=np.random.default_rng(seed))
    ...     policy.learn(Feedback(shown, shown.order == 1))
    >>> policy.certain_orders(query)[1].tolist()
    [True, False, True]

    Lattimore, Kveton, Li, Szepesvári: TopRank: a practical algorithm for online stochastic ranking.
    NeurIPS 2018.
    """

    identifies_by = "ids"
    scores_alone: ClassVar[bool] = False  # a document is one for each query
    refused_in_service = (
        "learns every query by its id, and each list of a service has an id of its own: serve pairrank, "
        "which learns from all queries together"
    )

    delta: Annotated[float, Bound(above=0, below=1)] = 0.0001
    queries: KeyArray = state((0,), np.uint64, feature_axes=())
    sizes: IntArray = state((0,), np.int64, feature_axes=())  # documents of each query
    documents: KeyArray = state((0,), np.uint64, feature_axes=())
    net_clicks: IntArray = state((0,), np.int32, feature_axes=(), rewritten=True)  # S, of all pairs
    counts: IntArray = state((0,), np.int32, feature_axes=(), rewritten=True)  # N
    above: BoolArray = state((0,), np.bool_, feature_axes=())  # relations
    gains: IntArray = state((0,), np.int64, feature_axes=())  # the sum of S over others, for each document
    trials: IntArray = state((0,), np.int64, feature_axes=())  # of N

    def widened(self, n_features: int) -> Self | None:
        """None: features are not looked at, new ones neither."""
        del n_features
        return None

    def rank(self, query: Query, *, k: int, rng: np.random.Generator) -> Ranking:
        """Block after block, each shuffled; which block a document is in is the evidence."""
        blocks = self.blocks(query)
        return Ranking(query, shuffle_within_blocks(blocks, rng)[:k], {"blocks": blocks})

    def learn(self, feedback: Feedback) -> None:
        """Count the clicks on one of two documents of a block, and note the relations that they prove."""
        query, order = feedback.ranking.query, feedback.ranking.order
        blocks = feedback.ranking.evidence["blocks"]
        if blocks.shape != (query.n_docs,):
            raise RankingError(f"evidence of {blocks.size} blocks for {query.n_docs} documents")
        clicks = np.zeros(query.n_docs, dtype=np.int32)
        clicks[order] = feedback.clicks
        if not clicks.any():
            return
        wins = np.subtract.outer(clicks, clicks) * self._comparable(query, blocks)
        self._add_query(query)
        self._count(query, wins)

    def score(self, query: Query) -> FloatArray:
        """Score by block, the earlier the better; within a block, the share of net clicks."""
        layout = self._layout
        index, rows = layout.find(query), layout.rows(query)
        if index < 0:
            return np.zeros(query.n_docs)
        span = layout.documents_of(index)
        shares = np.where(rows < 0, 0.0, self.gains[span][rows] / (1 + self.trials[span][rows]))
        return 0.5 * shares - self.blocks(query)

    def list_scores(self, query: Query) -> FloatArray:
        """Scores that no certain order contradicts."""
        return -self.blocks(query).astype(np.float64)

    def certain_orders(self, query: Query) -> BoolArray:
        """`certain[i, j]`: a chain of relations says that `i` belongs above `j`, and none the opposite."""
        blocks = self.blocks(query)
        certain: BoolArray = transitive_closure(self.relations(query)) & np.less.outer(blocks, blocks)
        return certain

    def relations(self, query: Query) -> BoolArray:
        """Look up what was proved of the candidates, [n_docs, n_docs]."""
        layout = self._layout
        index, rows = layout.find(query), layout.rows(query)
        if index < 0:
            return np.zeros((query.n_docs, query.n_docs), dtype=np.bool_)
        size, known = int(layout.sizes[index]), rows >= 0
        square = self.above[layout.pairs_of(index)].reshape(size, size)
        found: BoolArray = square[rows[:, None], rows] & known[:, None] & known
        return found

    def blocks(self, query: Query) -> IntArray:
        """Find the block of each candidate, [n_docs], from 0."""
        return split_into_blocks(self.relations(query))

    @property
    def _layout(self) -> Layout:
        """The layout of these very arrays, made once; `learn` replaces them when it meets something new."""
        made: Layout | None = vars(self).get("_made_layout")
        mine = self.queries, self.sizes, self.documents
        if made is None or any(a is not b for a, b in zip(mine, made.arrays, strict=True)):
            vars(self)["_made_layout"] = made = Layout(*mine)
        return made

    def _comparable(self, query: Query, blocks: IntArray) -> BoolArray:
        """Which pairs a click says something about."""
        del query
        return np.equal.outer(blocks, blocks)

    def _add_query(self, query: Query) -> None:
        before = self._layout
        after = add_query(before, query)
        if after is before:
            return
        self.queries, self.sizes, self.documents = after.arrays
        for name, power in (("net_clicks", 2), ("counts", 2), ("above", 2), ("gains", 1), ("trials", 1)):
            setattr(self, name, move_values(getattr(self, name), before, after, power=power))

    def _count(self, query: Query, wins: IntArray) -> None:
        layout = self._layout
        index, rows = layout.find(query), layout.rows(query)
        size, pairs, span = int(layout.sizes[index]), layout.pairs_of(index), layout.documents_of(index)
        net, counts = (each[pairs].reshape(size, size) for each in (self.net_clicks, self.counts))
        where = rows[:, None], rows
        net[where] += wins
        counts[where] += np.abs(wins)
        self.gains, self.trials = self.gains.copy(), self.trials.copy()
        self.gains[span][rows] += wins.sum(axis=1)
        self.trials[span][rows] += np.abs(wins).sum(axis=1)
        proved = (wins > 0) & self._proves(net[where], counts[where])
        if proved.any():
            self.above = self.above.copy()
            self.above[pairs].reshape(size, size)[where] |= proved

    def _proves(self, net: IntArray, counts: IntArray) -> BoolArray:
        n = np.maximum(counts, 1)
        enough: BoolArray = net >= np.sqrt(2 * n * np.log(WIDENING * np.sqrt(n) / self.delta))
        return enough


def split_into_blocks(above: BoolArray) -> IntArray:
    """Find the block of each document, [n]: those that none of the rest stands above, again and again.

    Where relations go round in a circle, all that are left are one block.

    >>> split_into_blocks(np.array([[0, 1, 0], [0, 0, 0], [0, 1, 0]], dtype=bool)).tolist()
    [0, 1, 0]
    """
    blocks = np.zeros(len(above), dtype=np.int64)
    left = np.ones(len(above), dtype=np.bool_)
    block = 0
    while left.any():
        free = left & ~above[left].any(axis=0)
        free = free if free.any() else left.copy()
        blocks[free] = block
        left &= ~free
        block += 1
    return blocks


def transitive_closure(above: BoolArray) -> BoolArray:
    """Compute the transitive closure of relations.

    >>> transitive_closure(np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]], dtype=bool))[0].tolist()
    [False, True, True]
    """
    reached = above
    while above.any():
        paths = reached.astype(np.float32)
        further: BoolArray = reached | (paths @ paths > 0)
        if np.array_equal(further, reached):
            break
        reached = further
    return reached


def shuffle_within_blocks(blocks: IntArray, rng: np.random.Generator) -> IntArray:
    """All documents, block after block, each in random order."""
    drawn = rng.permutation(blocks.size)
    return drawn[blocks[drawn].argsort(kind="stable")]
