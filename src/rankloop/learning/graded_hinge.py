"""Hinge losses over graded lists: better results are to score 1 above worse ones."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from rankloop.types import Array, FloatArray, IntArray

Weigh = Callable[[FloatArray], FloatArray]  # from grades, best first, to what each result counts


@dataclass(frozen=True, slots=True, eq=False)
class GradeGroups:
    """A list in its ideal order: by grade and, within a grade, by score; grade by grade."""

    order: IntArray  # [n] rows of the list, best first
    grades: Array  # [n] in that order
    scores: FloatArray  # [n] in that order
    starts: IntArray  # [n_groups] where each grade begins; there stands its highest score

    def below(self) -> IntArray:
        """For all grades but the lowest: where the highest score of all lower grades stands."""
        tops = self.scores[self.starts[:0:-1]]  # from the lowest grade up
        highest = np.maximum.accumulate(tops)
        where = np.maximum.accumulate(np.where(tops == highest, np.arange(tops.size), 0))
        return self.starts[:0:-1][where][::-1]


def grade_groups(scores: FloatArray, grades: Array) -> GradeGroups:
    """Find the groups of a list; they cost a sort, and all that follows goes through the list once.

    >>> groups = grade_groups(np.array([0.1, 0.5, 0.3]), np.array([0, 1, 0]))
    >>> groups.order.tolist(), groups.starts.tolist(), groups.below().tolist()
    ([1, 2, 0], [0, 1], [1])
    """
    order = np.lexsort((-scores, -grades))
    ordered = grades[order]
    starts = np.concatenate(([0], (ordered[1:] != ordered[:-1]).nonzero()[0] + 1))
    return GradeGroups(order, ordered, scores[order], starts)


def listwise_hinge(scores: FloatArray, grades: FloatArray, weigh: Weigh) -> tuple[float, FloatArray]:
    r"""Loss $\sum_i v_i \max_{j: R_j < R_i} (1 + s_j - s_i)_+$ and its subgradient in the scores, [n].

    The weights $v$ go by rank in the ideal order, within a grade by score, and are held fixed.

    >>> loss, slope = listwise_hinge(np.zeros(3), np.array([0.0, 1.0, 0.0]), lambda ideal: ideal)
    >>> loss, slope.tolist()
    (1.0, [1.0, -1.0, 0.0])
    """
    groups = grade_groups(scores, grades)
    slope = np.zeros(scores.size)
    better = int(groups.starts[-1])  # all but the lowest grade
    if not better:
        return 0.0, slope
    weights = weigh(groups.grades)[:better]
    rivals = np.repeat(groups.below(), np.diff(groups.starts))
    hinges = 1.0 + groups.scores[rivals] - groups.scores[:better]
    active = weights * (hinges > 0)
    slope[groups.order] = np.bincount(rivals, active, minlength=scores.size)
    slope[groups.order[:better]] -= active
    return float(active @ hinges), slope


def worst_pair(scores: FloatArray, grades: Array) -> tuple[int, int] | None:
    r"""Find the pair $R_i > R_j$ with the largest $s_j - s_i$; `None` if all grades are equal.

    >>> worst_pair(np.array([0.1, 0.5, 0.3]), np.array([2, 0, 1]))
    (0, 1)
    """
    groups = grade_groups(scores, grades)
    if groups.starts.size < 2:
        return None
    lowest = groups.starts[1:] - 1  # of each grade but the lowest, where its lowest score stands
    below = groups.below()
    worst = int((groups.scores[below] - groups.scores[lowest]).argmax())
    return int(groups.order[lowest[worst]]), int(groups.order[below[worst]])
