"""RTop-kF: fixed items learned from the grades of the first k, by a perturbed leader in blocks."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import ceil, sqrt
from typing import ClassVar, Literal

import numpy as np

from rankloop.errors import SettingError
from rankloop.policies.items.item_blocks import Live, Schedule
from rankloop.policies.items.item_policy import FixedItems, mean_worth
from rankloop.state_fields import state
from rankloop.types import Array, Feedback, FloatArray, IntArray, Query, Ranking

NO_CELL: IntArray = np.empty(0, dtype=np.int64)


@dataclass(kw_only=True, eq=False)
class RTopKItems(FixedItems):
    r"""Follows the perturbed leader, and in every block shows each item on top once, to see its grade.

    The $m$ candidates make $C = \lceil m / k \rceil$ cells of $k$ = `top_k` items. In a block of $L \ge C$
    lists, $C$ explore: they show a cell on top, and what the grades of these items are worth, $g(r)$, is the
    estimate of the block. The other lists show

    $$\text{argsort}\left(-(\hat s + p)\right), \qquad p \sim U[0, 1/\epsilon]^m,$$

    where $\hat s$ adds up the estimates of the blocks before. So the regret grows like $T^{2/3}$ in any
    world, drawn by chance or by an adversary, and that is the best there is.

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

    top_k: int = 10
    schedule: Schedule = field(default_factory=Live)
    rest: Literal["leader", "random"] = "leader"
    epsilon: float | None = 1.0
    totals: FloatArray = state((0,), feature_axes=())  # of the estimates of all blocks
    counts: IntArray = state((0,), np.int64, feature_axes=())  # of blocks with an estimate
    block_totals: FloatArray = state((0,), feature_axes=())  # of what was seen in this block
    block_counts: IntArray = state((0,), np.int64, feature_axes=())
    passed: Array = state(dtype=np.int64)  # lists of this block
    block: Array = state(dtype=np.int64)  # how many came before this one

    def __post_init__(self) -> None:
        """Refuse to see nothing, and lists without a rule."""
        super().__post_init__()
        if type(self.top_k) is not int or self.top_k < 1:
            raise SettingError(f"top_k must be a whole number of at least 1, found {self.top_k}")
        if self.rest not in ("leader", "random"):
            raise SettingError(f'rest must be "leader" or "random", found {self.rest!r}')
        if self.epsilon is not None and not 0 < self.epsilon < np.inf:
            raise SettingError(f"epsilon must be positive, or None for the theory's, found {self.epsilon}")

    def rank(self, query: Query, *, k: int, rng: np.random.Generator) -> Ranking:
        """The perturbed leader's list or, by chance, one with a cell on top; the cell is the evidence."""
        totals, counts, seen = self._known(query, "totals", "counts", "block_counts")
        cell = self._draw_cell(seen, min(k, self.top_k, query.n_docs), rng)
        order: IntArray = (-self._perturbed(totals, counts, k, rng)).argsort()
        if cell.size:
            order = self._exploring(cell, order, rng)
        return Ranking(query, order[:k], {"cell": cell})

    def learn(self, feedback: Feedback) -> None:
        """Take in what an exploring list shows of its cell; with the last list of a block, its estimate."""
        query, order = feedback.ranking.query, feedback.ranking.order
        size = feedback.ranking.evidence["cell"].size
        index = self._meet(query)
        if size:
            grades, known = feedback.graded()
            seen = known[:size].nonzero()[0]
            self._see(index[order[seen]], self._worth(grades[seen]))
        self._count(query.n_docs, _cells(query.n_docs, min(order.size, self.top_k)))

    def score(self, query: Query) -> FloatArray:
        """What each item is worth on average, by the blocks so far; 0 for those never seen."""
        totals, counts = self._known(query, "totals", "counts")
        return mean_worth(totals, counts)

    def _draw_cell(self, seen: IntArray, size: int, rng: np.random.Generator) -> IntArray:
        """The rows to be shown on top in order to see their grades; none, if this list does not explore."""
        items, cells = seen.size, _cells(seen.size, size)
        length = self.schedule.length(int(self.block), cells=cells, items=items)
        pool = (seen == 0).nonzero()[0] if self.schedule.once else items  # rows, or how many
        count = pool if isinstance(pool, int) else pool.size
        left = _cells(count, size)
        chance = self.schedule.chance(cells=cells, left=left, passed=int(self.passed), length=length)
        if rng.random() >= chance:
            return NO_CELL
        start = size * int(rng.integers(left))
        return rng.permutation(pool)[start : start + size]

    def _perturbed(
        self, totals: FloatArray, counts: IntArray, k: int, rng: np.random.Generator
    ) -> FloatArray:
        """The totals, each as if the item had been there in all blocks, and a perturbation."""
        noise = rng.random(totals.size) * self._noise(totals.size, k)
        return mean_worth(totals, counts) * int(self.block) + noise

    def _noise(self, items: int, k: int) -> float:
        r"""How large perturbations are, $1/\epsilon$; in theory the top worth times $\sqrt{mK}$."""
        if self.epsilon is not None:
            return 1 / self.epsilon
        cells = _cells(items, min(k, self.top_k, items))
        return self.top_worth * sqrt(items * self.schedule.count(int(self.block), cells=cells, items=items))

    def _exploring(self, cell: IntArray, order: IntArray, rng: np.random.Generator) -> IntArray:
        """The cell on top and below it the rest, both as the leader would have them, or in random order."""
        inside = np.zeros(order.size, dtype=np.bool_)
        inside[cell] = True
        inside = inside[order]
        top, rest = order[inside], order[~inside]
        return np.concatenate((top, rest) if self.rest == "leader" else (cell, rng.permutation(rest)))

    def _see(self, items: IntArray, worth: FloatArray) -> None:
        self.block_totals, self.block_counts = self.block_totals.copy(), self.block_counts.copy()
        np.add.at(self.block_totals, items, worth)
        np.add.at(self.block_counts, items, 1)

    def _count(self, items: int, cells: int) -> None:
        """One list more; after the last of the block its estimate, the mean seen of each item, is added."""
        self.passed = self.passed + 1
        if int(self.passed) < self.schedule.length(int(self.block), cells=cells, items=items):
            return
        self.totals = self.totals + mean_worth(self.block_totals, self.block_counts)
        self.counts = self.counts + (self.block_counts > 0)
        self.block_totals, self.block_counts = np.zeros_like(self.totals), np.zeros_like(self.counts)
        self.passed, self.block = np.zeros_like(self.passed), self.block + 1


def _cells(items: int, size: int) -> int:
    return ceil(items / size)
