"""RTop-kF: fixed items learned from the grades of the first k, by a perturbed leader in blocks."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, sqrt
from typing import ClassVar, Literal

import numpy as np

from rankloop.bounds import Count, Positive
from rankloop.errors import SettingError
from rankloop.policies.items.item_policy import GradedItemPolicy, mean_gain
from rankloop.state_fields import state
from rankloop.types import Array, Feedback, FloatArray, IntArray, Query, Ranking

NO_CELL: IntArray = np.empty(0, dtype=np.int64)


@dataclass(kw_only=True, eq=False)
class RTopKItems(GradedItemPolicy):
    r"""Follows the perturbed leader, and in every block shows each item on top once, to see its grade.

    The $m$ candidates make $C = \lceil m / k \rceil$ cells of $k$ = `top_k` items. In a block of $L \ge C$
    lists, $C$ explore: they show a cell on top, and what the grades of these items are worth, $g(r)$, is the
    estimate of the block. The other lists show

    $$\text{argsort}\left(-(\hat s + p)\right), \qquad p \sim U[0, 1/\epsilon]^m,$$

    where $\hat s$ adds up the estimates of the blocks before. So the regret grows like $T^{2/3}$ in any
    world, drawn by chance or by an adversary, and that is the best there is.

    With a `horizon` of $T$ lists there are `blocks` of the same length or, if their number is not given, the
    theory's $m^{1/3} T^{2/3} / C^{2/3}$. Without, block $i$ has $\lceil 2.5 \, C \sqrt{i} \rceil$ lists. Each
    list explores a uniform cell with probability $C / L$: nothing depends on what was learned of lists
    before, so it does not matter when feedback arrives. With `explore_once`, every cell is explored once in
    a block, at a list that is drawn uniformly among those of the block.

    >>> policy, rng = RTopKItems(top_k=1), np.random.default_rng(0)
    >>> query = Query("any", np.empty((3, 0)), ("tea", "coffee", "water"))
    >>> for _ in range(200):
    ...     shown = policy.rank(query, k=3, rng=rng)
    ...     policy.learn(Feedback(shown, np.array([0, 1, 0])[shown.order], signal="grades"))
    >>> policy.score(query).tolist()
    [0.0, 1.0, 0.0]

    Chaudhuri, Tewari: Online learning to rank with top-k feedback. JMLR 2017.
    """

    item_arrays: ClassVar[tuple[str, ...]] = ("totals", "counts", "block_totals", "block_counts")

    growth: ClassVar[float] = 2.5

    top_k: Count = 10
    explore_once: bool = False
    horizon: Count | None = None
    blocks: Count | None = None
    below_cell: Literal["leader", "random"] = "leader"
    epsilon: Positive | None = 1.0
    totals: FloatArray = state((0,), feature_axes=())  # of the estimates of all blocks
    counts: IntArray = state((0,), np.int64, feature_axes=())  # of blocks with an estimate
    block_totals: FloatArray = state((0,), feature_axes=())  # of what was seen in this block
    block_counts: IntArray = state((0,), np.int64, feature_axes=())
    passed: Array = state(dtype=np.int64)  # lists of this block
    block: Array = state(dtype=np.int64)  # how many came before this one

    def __post_init__(self) -> None:
        """Refuse blocks that nobody knows the length of."""
        super().__post_init__()
        if self.blocks is not None and self.horizon is None:
            raise SettingError(f"{self.blocks} blocks of how many lists? give a horizon, too")

    def rank(self, query: Query, *, k: int, rng: np.random.Generator) -> Ranking:
        """Show the perturbed leader's list or, by chance, a cell on top; the cell is the evidence."""
        totals, counts, seen = self.values_of(query, "totals", "counts", "block_counts")
        cell = self._draw_cell(seen, min(k, self.top_k, query.n_docs), rng)
        order: IntArray = (-self._perturbed(totals, counts, k, rng)).argsort()
        if cell.size:
            order = self._exploring(cell, order, rng)
        return Ranking(query, order[:k], {"cell": cell})

    def learn(self, feedback: Feedback) -> None:
        """Take in what an exploring list shows of its cell; with the last list of a block, its estimate."""
        query, order = feedback.ranking.query, feedback.ranking.order
        size = feedback.ranking.evidence["cell"].size
        index = self.add_candidates(query)
        if size:
            grades, known = feedback.graded()
            seen = known[:size].nonzero()[0]
            self._see(index[order[seen]], self.gain_of(grades[seen]))
        self._count(query.n_docs, _cells(query.n_docs, min(order.size, self.top_k)))

    def score(self, query: Query) -> FloatArray:
        """Say what each item is worth on average, by the blocks so far; 0 for those never seen."""
        totals, counts = self.values_of(query, "totals", "counts")
        return mean_gain(totals, counts)

    def block_length(self, *, cells: int, items: int) -> int:
        """How many lists the present block has.

        >>> RTopKItems().block_length(cells=4, items=20)
        10
        >>> RTopKItems(horizon=10_000, blocks=200).block_length(cells=20, items=20)
        50
        """
        if self.horizon is None:
            return ceil(self.growth * cells * sqrt(int(self.block) + 1))
        lists = self.horizon // self.count_blocks(cells=cells, items=items)
        if lists < cells:
            raise SettingError(
                f"a block must have a list for each of its {cells} cells, found {lists}: "
                f"{self.horizon} lists make at most {self.horizon // cells} blocks"
            )
        return lists

    def count_blocks(self, *, cells: int, items: int) -> int:
        """How many blocks there are, K; without a horizon, how many there have been with this one.

        >>> RTopKItems(horizon=10_000).count_blocks(cells=20, items=20)
        171
        """
        if self.horizon is None:
            return int(self.block) + 1
        theory = items ** (1 / 3) * (self.horizon / cells) ** (2 / 3)
        return self.blocks or max(1, min(round(theory), self.horizon // cells))

    def chance_to_explore(self, *, cells: int, left: int, length: int) -> float:
        """Compute the probability that the next list explores.

        If every cell is explored once, that is how many cells are `left` over the lists that are left: drawn
        one after the other, it is the same as drawing all of them at the start of the block.
        """
        if self.explore_once:
            return min(1.0, left / max(length - int(self.passed), 1))
        return min(1.0, cells / length)

    def _draw_cell(self, seen: IntArray, size: int, rng: np.random.Generator) -> IntArray:
        """Draw the rows to show on top in order to see their grades; none, if this list does not explore."""
        items, cells = seen.size, _cells(seen.size, size)
        length = self.block_length(cells=cells, items=items)
        pool = (seen == 0).nonzero()[0] if self.explore_once else items  # rows, or how many
        count = pool if isinstance(pool, int) else pool.size
        left = _cells(count, size)
        if rng.random() >= self.chance_to_explore(cells=cells, left=left, length=length):
            return NO_CELL
        start = size * int(rng.integers(left))
        return rng.permutation(pool)[start : start + size]

    def _perturbed(
        self, totals: FloatArray, counts: IntArray, k: int, rng: np.random.Generator
    ) -> FloatArray:
        """Perturb the totals, each as if the item had been there in all blocks, and a perturbation."""
        noise = rng.random(totals.size) * self._noise(totals.size, k)
        return mean_gain(totals, counts) * int(self.block) + noise

    def _noise(self, items: int, k: int) -> float:
        r"""How large perturbations are, $1/\epsilon$; in theory the top worth times $\sqrt{mK}$."""
        if self.epsilon is not None:
            return 1 / self.epsilon
        cells = _cells(items, min(k, self.top_k, items))
        return self.highest_gain * sqrt(items * self.count_blocks(cells=cells, items=items))

    def _exploring(self, cell: IntArray, order: IntArray, rng: np.random.Generator) -> IntArray:
        """Put the cell on top and the rest below it, both as the leader has them, or in random order."""
        inside = np.zeros(order.size, dtype=np.bool_)
        inside[cell] = True
        inside = inside[order]
        top, rest = order[inside], order[~inside]
        return np.concatenate((top, rest) if self.below_cell == "leader" else (cell, rng.permutation(rest)))

    def _see(self, items: IntArray, gains: FloatArray) -> None:
        self.block_totals, self.block_counts = self.block_totals.copy(), self.block_counts.copy()
        np.add.at(self.block_totals, items, gains)
        np.add.at(self.block_counts, items, 1)

    def _count(self, items: int, cells: int) -> None:
        """One list more; after the last of the block its estimate, the mean seen of each item, is added."""
        self.passed = self.passed + 1
        if int(self.passed) < self.block_length(cells=cells, items=items):
            return
        self.totals = self.totals + mean_gain(self.block_totals, self.block_counts)
        self.counts = self.counts + (self.block_counts > 0)
        self.block_totals, self.block_counts = np.zeros_like(self.totals), np.zeros_like(self.counts)
        self.passed, self.block = np.zeros_like(self.passed), self.block + 1


def _cells(items: int, size: int) -> int:
    return ceil(items / size)
