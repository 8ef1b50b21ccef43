r"""Generalisation bounds of linear rankers, $s = Xw$ with $\lVert w \rVert_2 \le W_2$, with all constants.

None of them grows with the length of the lists but for a logarithm. They hold for every distribution of
queries, the worst one included, and are far above what happens on any real one: diagnostics, and no promise.

Chaudhuri: Learning to rank: online learning, statistical theory and applications. University of Michigan,
2016, chapter 4.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log, log2, sqrt

from rankloop.bounds import Count, Positive, check_settings
from rankloop.errors import SettingError


@dataclass(frozen=True, kw_only=True)
class LinearClass:
    r"""Linear rankers within a ball, and how much they are learned from.

    $\lVert w \rVert_2 \le W_2$, every document has $\lVert x \rVert_2 \le R_X$, and there are $n$ lists.
    `documents` are those of all lists together, $mn$ where each has $m$.

    >>> LinearClass(norm=5.0, radius=2.0, queries=100, documents=2000).reach
    10.0
    """

    norm: Positive  # W₂
    radius: Positive  # R_X
    queries: Count  # n
    documents: Count  # m·n

    def __post_init__(self) -> None:
        """Refuse balls and samples that are none."""
        check_settings(self)
        if self.documents < self.queries:
            raise SettingError(
                f"expected a document for each query, found {self.queries} queries "
                f"and {self.documents} documents"
            )

    @property
    def reach(self) -> float:
        """The largest score there can be, $W_2 R_X$."""
        return self.norm * self.radius

    @property
    def rate(self) -> float:
        r"""How fast covers of the class shrink, $\sqrt{\log_2(3mn) / n}$."""
        return sqrt(log2(3 * self.documents) / self.queries)


def bound_ogd_excess(ball: LinearClass, lipschitz: float) -> float:
    r"""Theorem 35, for the average iterate of online gradient descent on a convex loss.

    $$\mathbb{E} L(\bar w) - L(w) \le G W_2 R_X \sqrt{2/n}$$

    >>> bound_ogd_excess(LinearClass(norm=5.0, radius=2.0, queries=200, documents=4000), 2.0)
    2.0
    """
    return lipschitz * ball.reach * sqrt(2 / ball.queries)


def find_regularisation(ball: LinearClass, lipschitz: float) -> float:
    r"""Compute the weight $\lambda$ of Theorem 36, $\sqrt{(4 G^2 R_X^2 / n) / (W_2^2 / 2 + 4 W_2^2 / n)}$.

    >>> find_regularisation(LinearClass(norm=1.0, radius=1.0, queries=8, documents=8), 1.0)
    0.7071067811865476
    """
    slope, n = lipschitz * ball.radius, ball.queries
    return sqrt((4 * slope**2 / n) / (ball.norm**2 / 2 + 4 * ball.norm**2 / n))


def bound_regularised_excess(ball: LinearClass, lipschitz: float) -> float:
    r"""Theorem 36, for the minimiser of $\lambda \lVert w \rVert^2 / 2 + \hat L(w)$ in the ball, $L$ convex.

    $$\mathbb{E} L(\hat w_\lambda) - L(w^*) \le 2 G R_X W_2 \left(8/n + \sqrt{2/n}\right)$$

    >>> ball = LinearClass(norm=5.0, radius=2.0, queries=200, documents=4000)
    >>> round(bound_regularised_excess(ball, 2.0), 9)
    5.6
    """
    n = ball.queries
    return 2 * lipschitz * ball.reach * (8 / n + sqrt(2 / n))


def bound_lipschitz_complexity(ball: LinearClass, lipschitz: float, largest: float) -> float:
    r"""Corollary 37: Rademacher complexity of a Lipschitz loss that is at most $B$, convex or not.

    $$\hat{\mathfrak R}_n \le 10\, a \log \frac{6 B}{5 a}, \qquad a = G W_2 R_X \sqrt{\log_2(3mn)/n}$$

    Twice it bounds by how much the held-out loss is above that of the sample, in expectation. It is derived
    for $a < B$; for larger $a$ what holds for any loss is returned, $B$.

    >>> ball = LinearClass(norm=1.0, radius=1.0, queries=240_000, documents=2**24 // 3)
    >>> round(bound_lipschitz_complexity(ball, 1.0, 1.0), 4)  # a = 1/100 and 10a = 1/10
    0.4787
    """
    scale = lipschitz * ball.reach * ball.rate
    return largest if scale >= largest else 10 * scale * log(6 * largest / (5 * scale))


def smooth_scale(ball: LinearClass, smoothness: float) -> float:
    r"""$C = 5 \sqrt 3 \, W_2 R_X \sqrt{H \log_2(3mn) / n}$ of Corollary 43.

    >>> ball = LinearClass(norm=1.0, radius=1.0, queries=240_000, documents=2**24 // 3)
    >>> round(smooth_scale(ball, 1 / 3), 4)
    0.05
    """
    return 5 * sqrt(3 * smoothness) * ball.reach * ball.rate


def bound_smooth_complexity(ball: LinearClass, smoothness: float, largest: float, loss: float) -> float:
    r"""Corollary 43: the complexity of rankers whose loss in the sample is at most $r$, for a smooth loss.

    $$\hat{\mathfrak R}_n \le 4 \sqrt r \, C \log \frac{3 \sqrt B}{C}$$

    It vanishes with $r$: what fits the sample well can be trusted sooner. It is derived for $C < \sqrt B$;
    for larger $C$ what holds for any loss is returned, $\sqrt{r B}$.

    >>> ball = LinearClass(norm=1.0, radius=1.0, queries=240_000, documents=2**24 // 3)
    >>> bound_smooth_complexity(ball, 1 / 3, 1.0, loss=0.0)
    0.0
    """
    scale = smooth_scale(ball, smoothness)
    if scale >= sqrt(largest):
        return sqrt(loss * largest)
    return 4 * sqrt(loss) * scale * log(3 * sqrt(largest) / scale)


def bound_optimistic_loss(
    ball: LinearClass, smoothness: float, largest: float, loss: float, *, delta: float = 0.05
) -> float:
    r"""Theorem 44: with probability $1 - \delta$, the loss of every ranker that has `loss` in the sample.

    $$L \le \left(\frac{b + \sqrt{b^2 + 4c}}{2}\right)^2, \qquad b = \sqrt{8 r^*} + \sqrt{4 r_0}, \qquad
    c = \hat L + 45 r^* + 20 r_0,$$

    with $r^* = (4 C \log(3 \sqrt B / C))^2$ and $r_0 = B (\log(1/\delta) + \log\log n) / n$: the solution of
    $L \le \hat L + 45 r^* + 20 r_0 + \sqrt{8 r^* L} + \sqrt{4 r_0 L}$. No loss is above $B$.

    >>> much = LinearClass(norm=1.0, radius=1.0, queries=10**12, documents=10**13)
    >>> round(bound_optimistic_loss(much, 1.0, 1.0, 0.3), 2)
    0.3
    """
    if not 0 < delta < 1 or ball.queries < 3:
        raise SettingError(
            f"expected delta between 0 and 1 and at least 3 queries, found {delta} and {ball.queries}"
        )
    scale, n = smooth_scale(ball, smoothness), ball.queries
    if scale >= sqrt(largest):
        return largest
    fixed = (4 * scale * log(3 * sqrt(largest) / scale)) ** 2  # r*
    rare = largest * (log(1 / delta) + log(log(n))) / n  # r₀
    b, c = sqrt(8 * fixed) + sqrt(4 * rare), loss + 45 * fixed + 20 * rare
    return min(largest, ((b + sqrt(b * b + 4 * c)) / 2) ** 2)
