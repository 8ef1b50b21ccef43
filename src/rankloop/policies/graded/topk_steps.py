r"""Steps of top-k feedback: how much is explored, what a seen term counts, and how far to go."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from rankloop.errors import RankingError, SettingError
from rankloop.types import FloatArray

TINY = 1e-12


class Step(Protocol):
    """A schedule of exploration, weights and steps; `rounds` is how many lists were learned from before."""

    def exploration(self, rounds: int) -> float:
        r"""The probability $\gamma$ of a uniform list."""
        ...

    def weight(self, propensity: float, *, greedy: bool) -> float:
        """What a term counts that was seen with this propensity; `greedy`: the greedy list shows it."""
        ...

    def step(self, gradient: FloatArray, sums: FloatArray, rounds: int) -> tuple[FloatArray, FloatArray]:
        """What to subtract from the parameters, and the new sums of squares."""
        ...


@dataclass(frozen=True)
class AdaGrad(Step):
    r"""Every parameter at a pace of its own, and weights with a cap: the default.

    $\theta \leftarrow \theta - \eta \, g / \sqrt{\sum g^2}$, weights $\min(1/q, \text{cap})$, and the
    document's $\gamma = \gamma_1 / t^{1/3}$. The cap costs a bias and takes the rare, huge steps away.

    >>> step = AdaGrad(cap=4.0)
    >>> step.weight(0.5, greedy=True), step.weight(0.01, greedy=False), step.weight(0.0, greedy=False)
    (2.0, 4.0, 0.0)
    >>> step.step(np.array([0.003, -400.0]), np.zeros(2), 0)[0].round(9).tolist()
    [0.1, -0.1]

    Duchi, Hazan, Singer: Adaptive subgradient methods for online learning and stochastic optimization.
    JMLR 2011.
    """

    learning_rate: float = 0.1
    cap: float = 10.0
    gamma: float = 0.1  # in the first round

    def __post_init__(self) -> None:
        """Refuse steps backwards, and weights that are all 0."""
        if not (0 < self.learning_rate < np.inf and self.cap > 0):
            raise SettingError(
                "learning_rate and cap must be positive, "
                f"found learning_rate={self.learning_rate}, cap={self.cap}"
            )
        _check_probability(self.gamma)

    def exploration(self, rounds: int) -> float:
        """Less and less."""
        return float(self.gamma / (rounds + 1) ** (1 / 3))

    def weight(self, propensity: float, *, greedy: bool) -> float:
        """The inverse, up to the cap; what cannot be seen counts nothing."""
        del greedy
        return min(1.0 / propensity, self.cap) if propensity > 0 else 0.0

    def step(self, gradient: FloatArray, sums: FloatArray, rounds: int) -> tuple[FloatArray, FloatArray]:
        """Against the gradient, each parameter in units of what it has met."""
        del rounds
        with np.errstate(over="ignore", invalid="ignore"):
            sums = sums + gradient * gradient
        if not np.isfinite(sums).all():
            raise RankingError(
                "learning from this feedback would make the sums of squared gradients infinite: "
                "scale the features, for example to 0..1 within the query"
            )
        return self.learning_rate * gradient / (np.sqrt(sums) + TINY), sums


@dataclass(frozen=True)
class DocumentSchedule(Step):
    r"""The schedule of the document's experiments: $\eta = \eta_1 / t^{2/3}$, $\gamma = \gamma_1 / t^{1/3}$.

    A term that the greedy list would not have shown counts $1 / \min(1, c \, q)$. With $c = 1$ the weights
    are exact, and the steps at times so large that what was learned is lost: the document scaled its
    $\gamma$ up in such rounds, by a constant that it does not give. Here $c$ is `scale`; 100 works, for
    RankSVM 1000.

    >>> step = DocumentSchedule()
    >>> step.weight(0.5, greedy=True), step.weight(0.001, greedy=False), step.weight(0.5, greedy=False)
    (2.0, 10.0, 1.0)
    >>> round(step.exploration(7), 9), step.step(np.ones(1), np.zeros(1), 7)[0].round(9).tolist()
    (0.05, [0.0025])
    """

    learning_rate: float = 0.01  # η, in the first round
    gamma: float = 0.1  # in the first round
    scale: float = 100.0  # c

    def __post_init__(self) -> None:
        """Refuse steps backwards, and weights beyond the exact ones."""
        if not (0 < self.learning_rate < np.inf and 1 <= self.scale < np.inf):
            raise SettingError(
                "learning_rate must be positive and scale at least 1, "
                f"found learning_rate={self.learning_rate}, scale={self.scale}"
            )
        _check_probability(self.gamma)

    def exploration(self, rounds: int) -> float:
        """Less and less."""
        return float(self.gamma / (rounds + 1) ** (1 / 3))

    def weight(self, propensity: float, *, greedy: bool) -> float:
        """The inverse, of the scaled propensity where chance alone could show it."""
        scaled = propensity if greedy else min(1.0, self.scale * propensity)
        return 1.0 / scaled if scaled > 0 else 0.0

    def step(self, gradient: FloatArray, sums: FloatArray, rounds: int) -> tuple[FloatArray, FloatArray]:
        """Against the gradient, less and less far; no sums are kept."""
        return self.learning_rate / (rounds + 1) ** (2 / 3) * gradient, sums


def within_ball(parameters: FloatArray, radius: float | None) -> FloatArray:
    r"""The nearest parameters with $\lVert \theta \rVert \le$ `radius`; without a radius, as they are.

    >>> within_ball(np.array([3.0, 4.0]), 2.5).tolist()
    [1.5, 2.0]
    """
    if radius is None or (length := float(np.linalg.norm(parameters))) <= radius:
        return parameters
    return parameters * (radius / length)


def _check_probability(gamma: float) -> None:
    if not 0 <= gamma <= 1:
        raise SettingError(f"gamma must be a probability, from 0 to 1, found {gamma}")
