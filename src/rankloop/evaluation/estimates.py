"""Estimators of what a policy would have got, each with a lower bound."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from math import sqrt
from typing import ClassVar

import numpy as np
from scipy.special import stdtrit

from rankloop.errors import SettingError
from rankloop.evaluation.anytime import anytime_lower
from rankloop.evaluation.reward_model import cross_fitted
from rankloop.evaluation.weights import Weighted
from rankloop.types import FloatArray


@dataclass(frozen=True, slots=True)
class Estimate:
    """A click rate, and what it is at least, with the probability `level`."""

    name: str
    value: float
    lower: float
    level: float
    any_time: bool = False  # whether the bound holds however often it is looked at


@dataclass(frozen=True)
class Estimator(ABC):
    """From a weighted log to an estimate."""

    name: ClassVar[str]

    level: float = 0.95

    def __post_init__(self) -> None:
        """Refuse what is no probability."""
        if not 0 < self.level < 1:
            raise SettingError(f"level must be between 0 and 1, found {self.level}")

    @abstractmethod
    def __call__(self, rounds: Weighted) -> Estimate:
        """What the policy would have got."""

    def _t_bound(self, values: FloatArray) -> Estimate:
        """Mean and Student's lower bound, as if the mean were normal."""
        return Estimate(self.name, float(values.mean()), t_lower(values, self.level), self.level)


@dataclass(frozen=True)
class ImportanceWeighted(Estimator):
    r"""Importance-weighted click rate, $\bar X$ of $X_i = r_i\, \pi(a_i|x_i) / \pi_{\log}(a_i|x_i)$.

    Unbiased. The bound is $\bar X - \frac{\sigma}{\sqrt n}\, t_{1-\delta, n-1}$.
    """

    name: ClassVar[str] = "importance-weighted"

    def __call__(self, rounds: Weighted) -> Estimate:
        """The mean of weight times reward."""
        return self._t_bound(rounds.weights * rounds.log.rewards)


@dataclass(frozen=True)
class SelfNormalised(Estimator):
    r"""Self-normalised click rate, $\sum w_i r_i / \sum w_i$.

    Slightly biased, steadier, and never above the highest reward. The bound is that of the linearised ratio.
    """

    name: ClassVar[str] = "self-normalised"

    def __call__(self, rounds: Weighted) -> Estimate:
        """The weighted mean of rewards."""
        weights, rewards = rounds.weights, rounds.log.rewards
        value = float(weights @ rewards) / float(weights.sum())
        influence = weights * (rewards - value) / weights.mean()
        return Estimate(self.name, value, t_lower(value + influence, self.level), self.level)


@dataclass(frozen=True)
class DoublyRobust(Estimator):
    r"""Doubly robust click rate: a model's prediction, and importance-weighted what it missed.

    $$X_i = \sum_a \pi(a|x_i)\, \hat q(x_i, a) + w_i \left(r_i - \hat q(x_i, a_i)\right)$$

    Unbiased whatever the model says, since no round is predicted by a model that saw it; good where either
    the model or the propensities are.
    """

    name: ClassVar[str] = "doubly robust"

    def __call__(self, rounds: Weighted) -> Estimate:
        """With a model for each half of the rounds that was fitted to the other."""
        return self.with_model(rounds, cross_fitted(rounds.log))

    def with_model(self, rounds: Weighted, predicted: FloatArray) -> Estimate:
        """With predicted rewards of all ads in all rounds, [n, K]."""
        log = rounds.log
        missed = log.rewards - predicted[np.arange(len(log)), log.shown]
        return self._t_bound((rounds.choices * predicted).sum(axis=1) + rounds.weights * missed)


@dataclass(frozen=True)
class AnyTime(Estimator):
    """Importance-weighted click rate with a bound that holds at all times together, for any sample size."""

    name: ClassVar[str] = "any time"

    def __call__(self, rounds: Weighted) -> Estimate:
        """The mean of weight times reward; rewards must be 0 or more."""
        values = rounds.weights * rounds.log.rewards
        lower = anytime_lower(values, self.level)
        return Estimate(self.name, float(values.mean()), lower, self.level, any_time=True)


ESTIMATORS: tuple[type[Estimator], ...] = (ImportanceWeighted, SelfNormalised, DoublyRobust, AnyTime)


def t_lower(values: FloatArray, level: float) -> float:
    r"""$\bar X - \frac{\sigma}{\sqrt n}\, t_{1-\delta, n-1}$.

    >>> round(t_lower(np.array([0.0, 1.0, 1.0, 0.0]), 0.95), 4)
    -0.1794
    """
    if values.size < 2:
        return -np.inf
    half = float(values.std(ddof=1)) / sqrt(values.size) * float(stdtrit(values.size - 1, level))
    return float(values.mean()) - half
