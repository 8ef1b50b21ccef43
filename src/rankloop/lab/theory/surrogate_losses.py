r"""Surrogate losses of ranking, and their constants when scores are measured by their largest entry.

The Lipschitz constant in $\ell_\infty$ is the largest $\lVert \nabla_s \phi \rVert_1$, the smoothness the
largest $\max_{u, v \in \{-1, 1\}^m} u^\top \nabla_s^2 \phi \, v$. Both are the smallest that hold, also
where others are printed: the tests find scores that come as close as one likes.

Chaudhuri: Learning to rank: online learning, statistical theory and applications. University of Michigan,
2016, section 4.3.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import log
from typing import ClassVar, Protocol

import numpy as np

from rankloop.bounds import Count, Positive, check_settings
from rankloop.query_set import QuerySet
from rankloop.types import FloatArray, IntArray


@dataclass(frozen=True, kw_only=True)
class Constants:
    """What a bound must know of a loss."""

    lipschitz: float  # G
    smoothness: float | None  # H; None: not smooth, or not known
    largest: float  # B, where scores are within the reach


class Surrogate(Protocol):
    """A loss of the scores of a list, to be minimised."""

    label: ClassVar[str]
    convex: ClassVar[bool]

    def losses(self, scores: FloatArray, queries: QuerySet) -> FloatArray:
        """Compute the loss of every query: [n_queries]."""
        ...

    def slopes(self, scores: FloatArray, queries: QuerySet) -> FloatArray:
        """Compute the gradient over the scores, query by query: [n_rows]."""
        ...

    def constants(self, reach: float, longest: int) -> Constants:
        """Give the constants for scores of at most `reach`, and lists of at most so many documents."""
        ...

    def as_printed(self, reach: float, longest: int) -> Constants:
        r"""As the document prints them, with its $B = 2 G W_2 R_X$."""
        ...


@dataclass(frozen=True)
class ListNetLoss:
    r"""Cross entropy, $-\sum_i \operatorname{softmax}(R)_i \log \operatorname{softmax}(s)_i$.

    $G = 2$, approached where all weight is on one wrong document; $H = 1$, since
    $u^\top (\operatorname{diag} p - p p^\top) u = 1 - (p^\top u)^2$. It is at most $\log m + 2 W_2 R_X$.

    >>> two = QuerySet(np.eye(2), np.array([0, 2]), np.array([0, 0]), ("q",))
    >>> ListNetLoss().losses(np.zeros(2), two).round(9).tolist()  # log 2
    [0.693147181]
    """

    label: ClassVar[str] = "ListNet"
    convex: ClassVar[bool] = True

    def losses(self, scores: FloatArray, queries: QuerySet) -> FloatArray:
        """Take the log of the sum of exponentials, less the mean score by the grades."""
        starts, top = queries.offsets[:-1], largest_each(scores, queries)
        sums = np.add.reduceat(np.exp(scores - spread(top, queries)), starts)
        wanted = softmax(queries.relevance.astype(np.float64), queries)
        return np.asarray(top + np.log(sums) - np.add.reduceat(wanted * scores, starts))

    def slopes(self, scores: FloatArray, queries: QuerySet) -> FloatArray:
        """One distribution less the other."""
        return softmax(scores, queries) - softmax(queries.relevance.astype(np.float64), queries)

    def constants(self, reach: float, longest: int) -> Constants:
        """Whatever the length of the lists, but for a logarithm in the largest loss."""
        return Constants(lipschitz=2.0, smoothness=1.0, largest=log(longest) + 2 * reach)

    def as_printed(self, reach: float, longest: int) -> Constants:
        """Twice the smoothness, and a larger largest loss."""
        del longest
        return Constants(lipschitz=2.0, smoothness=2.0, largest=4 * reach)


@dataclass(frozen=True)
class SmoothDCGLoss:
    r"""What is missing of SmoothDCG@1: $G(Y) - \sum_i G(R_i) \operatorname{softmax}(s / \sigma)_i$.

    $Y$ is the highest grade there is, $G(r) = 2^r - 1$. The slope is a mean absolute deviation of gains over
    $\sigma$, so its Lipschitz constant is $G(Y) / (2 \sigma)$: a quarter of the printed one. Not convex.

    >>> two = QuerySet(np.eye(2), np.array([0, 2]), np.array([0, 2]), ("q",))
    >>> SmoothDCGLoss(top_grade=2).losses(np.zeros(2), two).tolist()
    [1.5]
    """

    top_grade: Count = 1
    smoothing: Positive = 1.0  # σ

    label: ClassVar[str] = "SmoothDCG"
    convex: ClassVar[bool] = False

    def __post_init__(self) -> None:
        """Refuse a step function, and worlds in which nothing is relevant."""
        check_settings(self)

    def losses(self, scores: FloatArray, queries: QuerySet) -> FloatArray:
        """Subtract from the highest gain there is that of a softly chosen document."""
        chances = softmax(scores / self.smoothing, queries)
        return np.asarray(
            self.top_gain - np.add.reduceat(chances * self._gains(queries), queries.offsets[:-1])
        )

    def slopes(self, scores: FloatArray, queries: QuerySet) -> FloatArray:
        """Downhill for what gains more than the mean."""
        chances, gains = softmax(scores / self.smoothing, queries), self._gains(queries)
        means = np.add.reduceat(chances * gains, queries.offsets[:-1])
        return np.asarray(-chances * (gains - spread(means, queries)) / self.smoothing)

    def constants(self, reach: float, longest: int) -> Constants:
        """Whatever the length of the lists."""
        del reach, longest
        lipschitz = self.top_gain / (2 * self.smoothing)
        return Constants(lipschitz=lipschitz, smoothness=None, largest=self.top_gain)

    def as_printed(self, reach: float, longest: int) -> Constants:
        """Four times the Lipschitz constant."""
        del longest
        lipschitz = 2 * self.top_gain / self.smoothing
        return Constants(lipschitz=lipschitz, smoothness=None, largest=2 * lipschitz * reach)

    @property
    def top_gain(self) -> float:
        """$G(Y)$."""
        return float(2**self.top_grade - 1)

    def _gains(self, queries: QuerySet) -> FloatArray:
        return np.exp2(queries.relevance.astype(np.float64)) - 1.0


@dataclass(frozen=True)
class RankSVMLoss:
    r"""Hinge of all pairs, $\sum_{R_i > R_j} \max(0, 1 + s_j - s_i)$.

    Its slope is at most $2 \lfloor m^2 / 4 \rfloor$ in $\ell_1$, for any number of grades: with signs $u$,
    $\sum (u_j - u_i) \le 2 \, |\{u_j = 1, u_i = -1\}|$ over pairs, and two groups of $m$ documents have at
    most $\lfloor m^2 / 4 \rfloor$ pairs between them. So it is the one whose constant grows with the lists.

    >>> two = QuerySet(np.eye(2), np.array([0, 2]), np.array([0, 2]), ("q",))
    >>> RankSVMLoss().losses(np.array([0.5, 0.0]), two).tolist()
    [1.5]
    """

    label: ClassVar[str] = "RankSVM"
    convex: ClassVar[bool] = True

    def losses(self, scores: FloatArray, queries: QuerySet) -> FloatArray:
        """Add up what is missing of a margin of 1, over all pairs."""
        better, worse, owner = graded_pairs(queries)
        missing = np.maximum(1.0 + scores[worse] - scores[better], 0.0)
        return np.bincount(owner, missing, minlength=len(queries)).astype(np.float64)

    def slopes(self, scores: FloatArray, queries: QuerySet) -> FloatArray:
        """Up for what should be below, down for what should be above."""
        better, worse, _ = graded_pairs(queries)
        wrong = (1.0 + scores[worse] > scores[better]).astype(np.float64)
        up, down = (np.bincount(rows, wrong, scores.size) for rows in (worse, better))
        return (up - down).astype(np.float64)

    def constants(self, reach: float, longest: int) -> Constants:
        r"""By the longest list; at scores of 0 the loss is at most the number of pairs, $m(m-1)/2$."""
        lipschitz, pairs = 2.0 * (longest**2 // 4), longest * (longest - 1) / 2
        return Constants(lipschitz=lipschitz, smoothness=None, largest=pairs + lipschitz * reach)

    def as_printed(self, reach: float, longest: int) -> Constants:
        r"""Of the order $m^2$, the document says: ours."""
        lipschitz = self.constants(reach, longest).lipschitz
        return Constants(lipschitz=lipschitz, smoothness=None, largest=2 * lipschitz * reach)


@lru_cache(maxsize=4)
def graded_pairs(queries: QuerySet) -> tuple[IntArray, IntArray, IntArray]:
    """Find the rows of all pairs of a query, better and worse, and the number of their query: [n_pairs] each.

    >>> queries = QuerySet(np.eye(3), np.array([0, 1, 3]), np.array([0, 2, 1]), ("a", "b"))
    >>> [each.tolist() for each in graded_pairs(queries)]
    [[1], [2], [1]]
    """
    found = []
    for number, start in enumerate(queries.offsets[:-1].tolist()):
        grades = queries.relevance[start : queries.offsets[number + 1]]
        better, worse = (grades[:, None] > grades).nonzero()
        found.append(np.stack((better + start, worse + start, np.full(better.size, number))))
    rows = np.concatenate(found, axis=1)
    return rows[0], rows[1], rows[2]


def spread(values: FloatArray, queries: QuerySet) -> FloatArray:
    """Repeat a value of each query for all its documents: [n_rows]."""
    return np.repeat(values, np.diff(queries.offsets))


def largest_each(values: FloatArray, queries: QuerySet) -> FloatArray:
    """Find the largest of each query: [n_queries]."""
    return np.asarray(np.maximum.reduceat(values, queries.offsets[:-1]))


def softmax(values: FloatArray, queries: QuerySet) -> FloatArray:
    """Shares that grow with the exponential, query by query.

    >>> two = QuerySet(np.eye(3), np.array([0, 1, 3]), np.array([0, 2, 1]), ("a", "b"))
    >>> softmax(np.array([9.0, 1.0, 1.0]), two).tolist()
    [1.0, 0.5, 0.5]
    """
    lifts = np.exp(values - spread(largest_each(values, queries), queries))
    return np.asarray(lifts / spread(np.add.reduceat(lifts, queries.offsets[:-1]), queries))
