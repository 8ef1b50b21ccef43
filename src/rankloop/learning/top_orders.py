"""Certain orders near the top: all that the first results of a long list depend on, without the other pairs.

A document that `k` others certainly beat cannot be among the first `k`. Of a thousand a few dozen can, and
only their widths are needed. Certain orders are transitive where widths are lengths, so nobody who cannot be
among the first keeps out one who can.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankloop.types import BoolArray, FloatArray, IntArray

HEADS = 4  # times k: so many of the best by score say who cannot reach the top
MOST = 0.4  # of the documents: where more can, all pairs at once take less time


@dataclass(frozen=True, slots=True, eq=False)
class TopOrders:
    """The documents that can be among the first, and which of their orders are certain."""

    rows: IntArray  # [m] in the order of the query
    certain: BoolArray  # [m, m]


def top_orders(
    scores: FloatArray, projected: FloatArray, centred: FloatArray, scale: float, k: int
) -> TopOrders | None:
    r"""Who can be among the first `k`, where $s_i - s_j \ge z \lVert x_i - x_j \rVert_{A^{-1}}$ is certain.

    `scale` is $z^2$; the rows of `projected` are those of `centred` times $A^{-1}$. A list drawn from the
    result is the one that would be drawn from all pairs, and that is no matter of luck: products of other
    shapes may differ in their last bits, so a pair nearer to its width than rounding can be off gives `None`.
    So do documents of which too many can reach the top. Then all pairs are to be compared.

    >>> scores = np.arange(50.0)[::-1]
    >>> top = top_orders(scores, 0.5 * scores[:, None], scores[:, None], 1.0, 2)
    >>> top.rows.tolist(), top.certain.astype(int).tolist()
    ([0, 1], [[0, 1], [0, 0]])
    """
    n, heads = len(scores), HEADS * k
    if heads >= MOST * n:
        return None
    widths = _Widths.of(projected, centred, scale)
    if not np.isfinite(4 * (widths.lengths + widths.off)).all():
        return None
    best = np.argpartition(scores, n - heads)[n - heads :]
    columns = (widths.beaten(scores, best).sum(axis=0, dtype=np.int32) < k).nonzero()[0]
    if len(columns) > MOST * n:
        return None
    above = (scores >= scores[columns].min()).nonzero()[0]  # nobody else can beat them
    surely, perhaps = widths.compared(scores, above, columns)
    can = surely.sum(axis=0, dtype=np.int32) < k
    among = np.searchsorted(above, columns[can])
    outside = np.delete(
        surely[:, can], among, axis=0
    )  # widths are lengths, so this is empty but for rounding
    if perhaps[:, can].any() or outside.any():
        return None
    return TopOrders(columns[can], surely[among][:, can])


@dataclass(frozen=True, slots=True, eq=False)
class _Widths:
    """Squared widths of pairs, as in `squared_widths`, with how far rounding can be off."""

    projected: FloatArray  # [n, d]
    centred: FloatArray  # [n, d]
    lengths: FloatArray  # [n]
    off: FloatArray  # [n] for a document above
    off_below: FloatArray  # [n] for a document below
    scale: float

    @classmethod
    def of(cls, projected: FloatArray, centred: FloatArray, scale: float) -> _Widths:
        r"""Bound rounding: a sum of $d$ products is off by $d u \lVert x \rVert \lVert y \rVert$ at most."""
        one, other = (np.sqrt(np.einsum("ij,ij->i", each, each)) for each in (projected, centred))
        unit = float(np.finfo(centred.dtype).eps) * (centred.shape[1] + 16)  # two sums, and what follows
        off_below = unit * one * other
        off = off_below + 2 * unit * float(other.max()) * one
        return cls(projected, centred, np.einsum("ij,ij->i", projected, centred), off, off_below, scale)

    def beaten(self, scores: FloatArray, above: IntArray) -> BoolArray:
        """Which documents these surely beat, [above, n]."""
        lead, least = self._lead(scores[above], scores), self._twice(above, slice(None))
        upper = (self.lengths + self.off_below) - least
        upper += (self.lengths + self.off)[above, None]
        return self._exceeds(lead, upper)

    def compared(self, scores: FloatArray, above: IntArray, columns: IntArray) -> tuple[BoolArray, BoolArray]:
        """Which of these columns are surely beaten, and which only perhaps, [above, columns]."""
        lead, needed = self._lead(scores[above], scores[columns]), -self._twice(above, columns)
        needed += self.lengths[above, None]
        needed += self.lengths[columns]
        off = self.off[above, None] + self.off_below[columns]
        surely = self._exceeds(lead, needed + off)
        return surely, self._exceeds(lead, needed - off) & ~surely

    def _twice(self, above: IntArray, columns: IntArray | slice) -> FloatArray:
        gram: FloatArray = self.projected[above] @ self.centred[columns].T
        gram += gram
        return gram

    def _lead(self, above: FloatArray, below: FloatArray) -> FloatArray:
        """Squared leads; of who is not ahead, less than any width."""
        lead: FloatArray = np.subtract.outer(above, below)
        behind = lead <= 0
        lead *= lead
        lead[behind] = -np.inf
        return lead

    def _exceeds(self, lead: FloatArray, squared: FloatArray) -> BoolArray:
        squared *= self.scale
        return np.asarray(lead >= np.maximum(squared, 0.0, out=squared))
