"""AdaGrad on the rows that a batch touches."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from rankloop.types import FloatArray, IntArray


@dataclass(eq=False)
class RowAdaGrad:
    r"""AdaGrad steps of parameters, which are changed in place.

    $\theta \leftarrow \theta - \eta\, g / \sqrt{\sum g^2}$, entry by entry.

    >>> table = np.zeros((3, 1))
    >>> RowAdaGrad(table, 0.5).step(np.array([[4.0], [4.0]]), np.array([1, 1]))
    >>> table.round(6).tolist()
    [[0.0], [-0.5], [0.0]]

    Duchi, Hazan, Singer: Adaptive subgradient methods for online learning and stochastic optimization. JMLR
    2011.
    """

    values: FloatArray
    rate: float
    least: float | None = None  # values below it are set to it
    squares: FloatArray = field(init=False)

    def __post_init__(self) -> None:
        """Begin without a memory."""
        self.squares = np.full(self.values.shape, 1e-10)

    def step(self, gradient: FloatArray, rows: IntArray | None = None, *, shrink: float = 0.0) -> None:
        """Take one step; gradients of one row are added up, and `shrink` times its values once."""
        touched: IntArray | slice = slice(None)
        if rows is not None:
            touched, gradient = sum_rows(rows, gradient)
        values = self.values[touched]
        gradient = gradient + shrink * values
        squares = self.squares[touched] + gradient**2
        self.squares[touched] = squares
        moved = values - self.rate * gradient / np.sqrt(squares)
        self.values[touched] = moved if self.least is None else np.maximum(moved, self.least)


def sum_rows(rows: IntArray, values: FloatArray) -> tuple[IntArray, FloatArray]:
    """Return the rows that occur, and the sum of the values of each.

    >>> rows, sums = sum_rows(np.array([4, 2, 4]), np.array([[1.0], [2.0], [3.0]]))
    >>> rows.tolist(), sums.tolist()
    ([2, 4], [[2.0], [4.0]])
    """
    if not len(rows):
        return rows, values
    order = np.argsort(rows, kind="stable")
    ordered = rows[order]
    starts = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
    return ordered[starts], np.add.reduceat(values[order], starts, axis=0)
