r"""Confidence widths of networks by the theory of their tangent kernel, with what they ask of a network.

Constants that the documents leave open, $\bar C_1$ to $\bar C_4$, are `constants`, 1 unless you know better.

Jia, Wang: Learning neural ranking models online from implicit user feedback. WWW 2022, Lemmas 3.3 and 4.2.
Jia: Toward reliable decision-making in information systems. PhD thesis, University of Virginia 2022, Lemmas
2.1.6 and 2.1.15.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from math import log, sqrt
from typing import Annotated

from rankloop.bounds import Bound, Count, Natural, Positive, check_settings
from rankloop.errors import SettingError

STEEPEST = 0.25  # k_µ, the largest slope of the logistic function


@dataclass(frozen=True, kw_only=True)
class NeuralWidths:
    r"""The interval of a network that is trained by $J$ steps of gradient descent in each of $T$ rounds.

    $$|\sigma(f_{ij}) - \sigma(h_{ij})| \le \alpha_t \lVert g_{ij} / \sqrt m \rVert_{A_t^{-1}} + \epsilon(m)$$

    >>> paper = NeuralWidths(width=100, depth=3, regularisation=0.1, rounds=5000, step=1e-3, steps=20)
    >>> paper.error > 1  # an error of a probability: the lemma says nothing about this network
    True
    >>> f"{paper.width_needed(longest_list=120):.0e}"  # units in each layer
    '1e+49'
    """

    width: Annotated[int, Bound(at_least=2)]  # m
    depth: Annotated[int, Bound(at_least=2)]  # L
    regularisation: Positive  # λ
    rounds: Count  # T
    step: float  # η
    steps: Natural  # J
    norm: float = 1.0  # S, of the true function
    noise: Positive = 0.5  # ν
    delta: Annotated[float, Bound(above=0, below=1)] = 0.05
    constants: tuple[float, float, float, float] = (1.0, 1.0, 1.0, 1.0)

    def __post_init__(self) -> None:
        """Refuse networks and rounds that are none."""
        check_settings(self)
        if not 0 < self.step * self.width * self.regularisation < 1:
            raise SettingError(
                "gradient descent on the penalty needs 0 < step · width · regularisation < 1, found "
                f"{self.step * self.width * self.regularisation}: take a smaller step"
            )

    def alpha(self, log_det: float) -> float:
        r"""$\alpha_t$ of Lemma 2.1.6, given $\log\det A_t - \log\det \lambda I$.

        $$\alpha_t = \sqrt{1 + \bar C_2 T^{7/6} \kappa \lambda^{-7/6} L^4} \left(\sqrt\lambda\, \bar C_3 +
        \sqrt{\nu^2 \log\frac{\det A_t}{\delta^2 \det \lambda I} + \bar C_4 T^{5/3} \kappa \lambda^{-1/6} L^4}
        \right), \qquad \kappa = m^{-1/6} \sqrt{\log m}$$
        """
        _, second, third, fourth = self.constants
        total, weight, deep = self.rounds, self.regularisation, self.depth**4
        stretch = 1 + second * math.pow(total, 7 / 6) * self._narrow * math.pow(weight, -7 / 6) * deep
        more = fourth * math.pow(total, 5 / 3) * self._narrow * math.pow(weight, -1 / 6) * deep
        return sqrt(stretch) * (sqrt(weight) * third + sqrt(self._spread(log_det) + more))

    @property
    def error(self) -> float:
        r"""$\epsilon(m)$ of Lemma 2.1.6.

        $$\epsilon(m) = \bar C_1 \left( T^{7/6} \kappa \lambda^{-7/6} L^4 (1 + \sqrt{T/\lambda})
        + (1 - \eta m \lambda)^{J/2} \sqrt{T L/\lambda} + T^{1/6} \kappa \lambda^{-1/6} L^{7/2} S
        + T^{2/3} \kappa \lambda^{-2/3} L^3 \right)$$
        """
        ratio, deep = self.rounds / self.regularisation, self.depth
        terms = (
            math.pow(ratio, 7 / 6) * deep**4 * (1 + sqrt(ratio)),
            math.pow(ratio, 1 / 6) * math.pow(deep, 3.5) * self.norm,
            math.pow(ratio, 2 / 3) * deep**3,
        )
        return self.constants[0] * (self._narrow * sum(terms) + self._untrained * sqrt(ratio * deep))

    def short_alpha(self, log_det: float) -> float:
        r"""$\alpha_t$ as Lemma 3.3 of 2022 prints it, without what a narrow network adds.

        $$\alpha_t = \bar C_1 \left(\sqrt{\nu^2 \log (\det A_t / (\delta^2 \det \lambda I))}
        + \sqrt\lambda\, \bar C_2\right)$$
        """
        first, second, *_ = self.constants
        return first * (sqrt(self._spread(log_det)) + sqrt(self.regularisation) * second)

    @property
    def short_error(self) -> float:
        r"""$\epsilon(m)$ as Lemma 3.3 of 2022 prints it.

        $$\bar C_3 \left(T^{2/3} \kappa \lambda^{-2/3} L^3 + \sqrt L (1 - \eta m \lambda)^{J/2}
        \sqrt{T/\lambda} + T^{5/3} m^{-1/6} \lambda^{-5/3} L^4 (1 + \sqrt{T/\lambda})\right)$$
        """
        ratio, deep = self.rounds / self.regularisation, self.depth
        narrow = math.pow(ratio, 2 / 3) * self._narrow * deep**3
        narrow += math.pow(ratio, 5 / 3) * math.pow(self.width, -1 / 6) * deep**4 * (1 + sqrt(ratio))
        return self.constants[2] * (narrow + sqrt(deep) * self._untrained * sqrt(ratio))

    def chance_uncertain(self, squared_width: float, *, gap: float, flattest: float, error: float) -> float:
        r"""Lemma 4.2 of 2022 (2.1.15): the chance that a pair is uncertain, by its squared width.

        $$P \le \frac{8 \nu^2 k_\mu^2}{c_\mu^2} \frac{\log(1/\delta)}{(\Delta_{\min} - 2 \epsilon(m))^2}
        \lVert g_{ij} / \sqrt m \rVert^2_{A_t^{-1}}$$

        from a round $t'$ on whose constants are never given. `gap` is $\Delta_{\min}$, `flattest` $c_\mu$ and
        `error` $\epsilon(m)$, one of the two. Where twice the error is the gap or more, it says nothing: 1.
        """
        left = gap - 2 * error
        if left <= 0:
            return 1.0
        scale = 8 * self.noise**2 * STEEPEST**2 * log(1 / self.delta)
        return min(1.0, scale * squared_width / (flattest * left) ** 2)

    @property
    def step_allowed(self) -> float:
        r"""The longest step of the lemmas, $\eta \le C_1 / (T m L + m \lambda)$ with $C_1 = 1$."""
        return 1 / (self.width * (self.rounds * self.depth + self.regularisation))

    def width_needed(self, longest_list: int) -> float:
        r"""Find the narrowest network of the lemmas, with $C_2 = 1$.

        $$m \ge \max\left(\lambda^{-1/2} L^{-3/2} \log^{3/2}(T V_{\max} L^2 / \delta),\;
        T^7 \lambda^{-7} L^{21} \log^3 m\right)$$
        """
        first = math.pow(log(self.rounds * longest_list * self.depth**2 / self.delta), 1.5)
        first /= sqrt(self.regularisation * self.depth**3)
        scale = (self.rounds / self.regularisation) ** 7 * math.pow(self.depth, 21)
        found = max(first, scale, 21.0)  # beyond e³ the condition holds from one width on
        for _ in range(200):
            found = max(first, scale * log(found) ** 3, 21.0)
        return found

    @property
    def _narrow(self) -> float:
        return math.pow(self.width, -1 / 6) * sqrt(log(self.width))

    @property
    def _untrained(self) -> float:
        return math.pow(1 - self.step * self.width * self.regularisation, self.steps / 2)

    def _spread(self, log_det: float) -> float:
        return self.noise**2 * (log_det - 2 * log(self.delta))
