r"""Propensities of lists that are greedy with probability $1 - \gamma$ and otherwise uniform."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankloop.types import BoolArray, FloatArray, IntArray


@dataclass(frozen=True, slots=True, eq=False)
class TopKPropensities:
    r"""With which probability candidates stand among the first $k$ of $m$, alone and in pairs.

    With $T$ the first $k$ of the greedy list,

    $$q_i = (1 - \gamma)\,[i \in T] + \gamma \frac{k}{m}, \qquad
    q_{ij} = (1 - \gamma)\,[i, j \in T] + \gamma \frac{k (k - 1)}{m (m - 1)}.$$

    So there are two values of each: of what is in $T$, and of what only chance can show.

    >>> drawn = TopKPropensities(np.array([2, 0]), gamma=0.5, n_docs=4)
    >>> drawn.greedy(1), drawn.chance(1), drawn.chance(2) == 0.5 / 6
    (0.75, 0.25, True)
    >>> drawn.in_top(np.array([0, 1])).tolist()
    [True, False]
    """

    top: IntArray  # [k] T, rows of the candidates
    gamma: float
    n_docs: int  # m

    def chance(self, needs: int) -> float:
        """Of one candidate, or of two (`needs`), that are not all in the greedy top."""
        k, m = len(self.top), self.n_docs
        share = k / m if needs == 1 else k * (k - 1) / max(m * (m - 1), 1)
        return self.gamma * share

    def greedy(self, needs: int) -> float:
        """Of one candidate, or of two, in the greedy top."""
        return (1.0 - self.gamma) + self.chance(needs)

    def in_top(self, rows: IntArray) -> BoolArray:
        """Which of these candidates are in the greedy top."""
        member = np.zeros(self.n_docs, dtype=np.bool_)
        member[self.top] = True
        return member[rows]

    def term_weights(self, rows: IntArray, *, greedy: float, chance: float, needs: int) -> FloatArray:
        """Say what the grades of these rows count, [r], or those of their pairs, [r, r].

        Those of the greedy top count `greedy`, those that only chance can show `chance`.
        """
        inside = self.in_top(rows)
        if needs > 1:
            inside = inside[:, None] & inside
        return np.where(inside, greedy, chance)
