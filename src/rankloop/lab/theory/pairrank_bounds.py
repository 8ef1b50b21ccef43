r"""Bounds on how long PairRank and PePairRank stay uncertain, and on the pairs they show in the wrong order.

$k_\mu = 1/4$ and $c_\mu$ are the largest and the smallest slope of the logistic function. Constants that the
documents call universal and never give, $C_1$ and $C_2$, are `universal`, 1 unless you know better. The
bounds are for the worst world: diagnostics, and no promise.

Jia, Wang, Guo, Wang: PairRank: online pairwise learning to rank by divide-and-conquer. WWW 2021, section 3.3.
Jia: Toward reliable decision-making in information systems. PhD thesis, University of Virginia 2022, sections
2.1.4 and 2.2.3.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, inf, log, log1p, pi, sqrt
from typing import Annotated

from rankloop.bounds import Bound, Count, Factor, Positive, check_settings
from rankloop.lab.theory.pair_constants import PairConstants

STEEPEST = 0.25  # k_µ


@dataclass(frozen=True, kw_only=True)
class PairRankBounds:
    r"""Lemma 3 and Theorem 1 on PairRank (2.1.10 and 2.1.11 in the thesis).

    >>> world = PairConstants(
    ...     longest_weights=1.0,
    ...     longest_difference=1.0,
    ...     smallest_gap=0.1,
    ...     smallest_variance=0.1,
    ...     dimensions=5,
    ...     longest_list=20,
    ... )
    >>> bounds = PairRankBounds(constants=world, regularisation=1.0)
    >>> f"{bounds.settling_round:.1e}"  # a small world, and more rounds than anyone has
    '2.7e+12'
    >>> bounds.chance_uncertain(1.0)
    1.0
    """

    constants: PairConstants
    regularisation: Positive  # λ
    examined: Count = 10  # o_max, the most positions that are examined
    delta: Annotated[float, Bound(above=0, below=0.5)] = 0.05  # δ₁ = δ₂
    beta: Annotated[float, Bound(above=0, below=0.5)] = 0.25  # β
    noise: Positive = 0.5  # R
    universal: tuple[float, float] = (1.0, 1.0)

    def __post_init__(self) -> None:
        """Refuse what the lemma says nothing about."""
        check_settings(self)

    @property
    def settling_round(self) -> float:
        r"""$t'$ of Lemma 3: from this round on, pairs are settled as fast as the lemma says.

        $$t' = \left(\frac{C_1 \sqrt d + C_2 \sqrt{\log(1/\delta_2)} + a b d \sqrt{o_{\max} u^2 / (d
        \lambda)}} {\lambda_{\min}(\Sigma)}\right)^2
        + \frac{2 a b \log(1/\delta_1^2) + 8 a \lambda Q^2 - \lambda}{\lambda_{\min}(\Sigma)}$$

        with $a = 4 k_\mu^2 u^2 / (\beta^2 c_\mu^2 \Delta_{\min}^2)$ and $b = R^2 + 4 \sqrt\lambda Q R$. It is
        infinite where two documents are a coin's toss apart, or where a feature never differs.
        """
        world, d = self.constants, self.constants.dimensions
        slope, fixed = self.needed
        first, second = self.universal
        spread = first * sqrt(d) + second * sqrt(log(1 / self.delta)) + slope
        if world.smallest_variance == 0:
            return inf
        return _square(spread / world.smallest_variance) + (2 * fixed + self.regularisation) / (
            world.smallest_variance
        )

    @property
    def needed(self) -> tuple[float, float]:
        r"""What the proof asks of the smallest eigenvalue: a factor of $\sqrt t$, and the rest.

        The factor is $a b d \sqrt{o_{\max} u^2 / (d \lambda)}$. The rest is $a b \log(1/\delta_1^2) + 4 a
        \lambda Q^2 - \lambda$.
        """
        world, d, weight = self.constants, self.constants.dimensions, self.regularisation
        a = _ratio(
            4 * STEEPEST**2 * world.longest_difference**2,
            self.beta**2 * world.flattest**2 * world.smallest_gap**2,
        )
        b = self.noise**2 + 4 * sqrt(weight) * world.longest_weights * self.noise
        reach = sqrt(self.examined * world.longest_difference**2 / (d * weight))
        rest = a * b * log(1 / self.delta**2) + 4 * a * weight * world.longest_weights**2 - weight
        return a * b * d * reach, rest

    def chance_uncertain(self, squared_width: float) -> float:
        r"""Lemma 3: the chance that a pair is uncertain from $t'$ on, given its squared width.

        $$P \le \frac{8 k_\mu^2 \lVert x_{ij} \rVert^2_{M_t^{-1}}}{(1 - 2 \beta) c_\mu^2 \Delta_{\min}^2}
        \log \frac{1}{\delta_1}$$
        """
        return min(1.0, 2 * self._scale * squared_width)

    def regret(self, rounds: int, *, seen: float, eigenvalue: float | None = None) -> float:
        r"""Theorem 1: misordered pairs after so many rounds, if lists are read to the end with chance $p^*$.

        $$R_T \le R' + \frac{(1 - \delta_1)(1 - \delta_2)}{p^{*2}} \left(2 a d L_{\max}
        \log\left(1 + \frac{o_{\max} T u^2}{2 d \lambda}\right) + a w\right)^2$$

        with $R' = t' L^2 + (T - t') (\delta_2 + (1 - \delta_2) \delta_1) L^2$ (as the proof has it; the
        theorem prints a minus) and, here, $a = 4 k_\mu^2 \log(1/\delta_1) / ((1 - 2\beta) c_\mu^2
        \Delta_{\min}^2)$. `seen` is $p^*$. `eigenvalue` is the smallest of $M$ from $t'$ on, $\lambda$ if it
        is not known, in $w = \sum_{s \ge t'} (L^2 - 2L) u^2 / \lambda_{\min}(M_s)$. No list has more than $L
        (L - 1) / 2$ pairs: what all lists have together is returned where the bound is above it, as it is
        before round $t'$.
        """
        world, most = self.constants, self.constants.longest_list
        everything = rounds * most * (most - 1) / 2
        start = self.settling_round
        if start >= rounds:
            return everything
        weight, d, u = self.regularisation, world.dimensions, world.longest_difference
        w = (rounds - start) * (most**2 - 2 * most) * u**2 / (eigenvalue or weight)
        grown = 2 * d * most * log1p(self.examined * rounds * u**2 / (2 * d * weight)) + w
        failed = self.delta + (1 - self.delta) * self.delta
        unlucky = (start + (rounds - start) * failed) * most**2
        found = unlucky + (1 - self.delta) ** 2 / seen**2 * _square(self._scale * grown)
        return min(everything, found)

    @property
    def _scale(self) -> float:
        """The factor of Theorem 1, half of that of Lemma 3."""
        world = self.constants
        below = (1 - 2 * self.beta) * world.flattest**2 * world.smallest_gap**2
        return _ratio(4 * STEEPEST**2 * log(1 / self.delta), below)


@dataclass(frozen=True, kw_only=True)
class PePairRankBounds:
    r"""Lemmas 2.2.1 and 2.2.3 and Theorem 2.2.4 on PePairRank.

    >>> world = PairConstants(
    ...     longest_weights=1.0,
    ...     longest_difference=1.0,
    ...     smallest_gap=0.1,
    ...     smallest_variance=0.1,
    ...     dimensions=5,
    ...     longest_list=20,
    ... )
    >>> bounds = PePairRankBounds(constants=world, regularisation=1.0, variance=0.1)
    >>> bounds.rankers_needed(bounds.alpha(0.0))  # two are enough in experiments
    inf
    """

    constants: PairConstants
    regularisation: Positive  # λ
    variance: Positive  # ν²
    rankers: Count = 2  # N
    examined: Count = 10  # o_max
    delta: Annotated[float, Bound(above=0, below=1)] = 0.05
    noise: Positive = 0.5  # R
    margin: Factor = 1.0  # c, the share of the gap that is left when the interval is taken off
    universal: tuple[float, float] = (1.0, 1.0)

    def __post_init__(self) -> None:
        """Refuse what the lemmas say nothing about."""
        check_settings(self)

    def alpha(self, log_det: float) -> float:
        r"""Lemma 2.2.1: the factor of the width, given $\log\det A_t - \log\det \lambda I$.

        $$\alpha_t = \frac{2 k_\mu}{c_\mu} \left(\sqrt{R^2 \log \frac{\det A_t}
        {\delta^2 \det \lambda I}} + d\right)$$
        """
        spread = self.noise * sqrt(log_det - 2 * log(self.delta))
        return 2 * STEEPEST / self.constants.flattest * (spread + self.constants.dimensions)

    def rankers_needed(self, alpha: float, *, as_printed: bool = False) -> float:
        r"""Lemma 2.2.3: so many rankers that one of them is optimistic with probability $1 - \delta$.

        $$N \ge \frac{\log \delta}{\log\left(1 - \frac{\exp(-\beta^2)}{4 \sqrt\pi \beta}\right)}, \qquad
        \beta = \frac{k_\mu \alpha_t}{c_\mu \nu}$$

        as in the proof; the lemma prints the square of this $\beta$. The inequality behind it,
        $P(Z > \beta) \ge \exp(-\beta^2) / (4 \sqrt\pi \beta)$ for a standard normal $Z$, fails below about
        0.36: a smaller $\beta$ is taken for 1/2.
        """
        ratio = STEEPEST * alpha / (self.constants.flattest * sqrt(self.variance))
        return draws_needed(_square(ratio) if as_printed else ratio, self.delta)

    @property
    def settling_round(self) -> float:
        r"""$t'$ of Lemma 2.2.3, with $P$ for the longest difference.

        $$t' = \left(\frac{C_1 \sqrt d + C_2 \sqrt{\log(1/\delta)} + P^2 R k_\mu / (\sqrt\lambda c_\mu
        \Delta_{\min})}{\lambda_{\min}(\Sigma)}\right)^2
        + \frac{2 k_\mu P}{c_\mu \Delta_{\min}} \left(\sqrt{R^2 \log(1/\delta)} + \sqrt\lambda\, Q\right)$$
        """
        world, root = self.constants, sqrt(self.regularisation)
        first, second = self.universal
        steep = _ratio(STEEPEST, world.flattest * world.smallest_gap)
        spread = first * sqrt(world.dimensions) + second * sqrt(log(1 / self.delta))
        spread += world.longest_difference**2 * self.noise * steep / root
        rest = self.noise * sqrt(log(1 / self.delta)) + root * world.longest_weights
        return _square(_ratio(spread, world.smallest_variance)) + 2 * steep * world.longest_difference * rest

    def chance_uncertain(self, squared_width: float) -> float:
        r"""Lemma 2.2.3: the chance that a pair is uncertain, given $\lVert x_{ij} \rVert_{A_t^{-1}}^2$.

        $$P \le 2 N \nu^2 k_\mu^2 \lVert x_{ij} \rVert^2_{A_t^{-1}} / (c_\mu^2 c^2 \Delta_{\min}^2)$$
        """
        return min(1.0, self._scale * squared_width)

    def regret(self, rounds: int, *, seen: float) -> float:
        r"""Theorem 2.2.4: misordered pairs after so many rounds, `seen` being $p^*$.

        $$R_T \le t' V_{\max} + \frac{2 d V_{\max} C}{p^*} \log\left(1 + \frac{o_{\max} T P^2}{2 d
        \lambda}\right), \qquad C = \frac{2 N k_\mu^2 \nu^2}{c_\mu^2 c^2 \Delta_{\min}^2}$$

        As for PairRank, never more than all lists have together.
        """
        world, most = self.constants, self.constants.longest_list
        everything = rounds * most * (most - 1) / 2
        if self.settling_round >= rounds:
            return everything
        d = world.dimensions
        reach = self.examined * rounds * world.longest_difference**2 / (2 * d * self.regularisation)
        found = self.settling_round * most + 2 * d * most * self._scale * log1p(reach) / seen
        return min(everything, found)

    @property
    def _scale(self) -> float:
        world = self.constants
        below = (world.flattest * self.margin * world.smallest_gap) ** 2
        return _ratio(2 * self.rankers * self.variance * STEEPEST**2, below)


def draws_needed(beta: float, delta: float) -> float:
    r"""Count the standard normal draws of which one exceeds $\beta$ with probability $1 - \delta$.

    By the inequality of Lemma 2.2.3, so rather too many than too few; infinite beyond what numbers hold.

    >>> round(draws_needed(1.0, 0.05))
    56
    """
    beta = max(beta, 0.5)
    chance = exp(-_square(beta)) / (4 * sqrt(pi) * beta)
    return log(delta) / log1p(-chance) if chance > 0 else inf


def _square(number: float) -> float:
    """Square a number; infinite beyond what numbers hold, where `**` would fail."""
    return number * number


def _ratio(over: float, under: float) -> float:
    """Divide; infinite where nothing divides it."""
    return over / under if under > 0 else inf
