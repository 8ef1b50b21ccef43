r"""Estimate what a policy would have got, from a log that another one made.

Every log becomes a `WeightedLog`: rewards by position, and by how much more often the policy would have shown
the results down to each position than the log did. A single choice is a list of one position.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from scipy.special import stdtrit

from rankloop.errors import DataError, RankloopError
from rankloop.evaluation.confidence_sequences import anytime_lower
from rankloop.evaluation.value_checks import check_column, check_level
from rankloop.types import FloatArray, IntArray

NEGLIGIBLE = 1e-12  # a probability that is 0 but for rounding
LARGEST = 1e70  # reward or weight, so that what is computed with both stays a number


class NoSupport(RankloopError):
    """A policy would show what the log never could: no estimate can be given."""


@dataclass(frozen=True, slots=True, eq=False)
class WeightedLog:
    r"""Log of lists or single choices, weighted for a policy; a single choice has one position.

    >>> ones = np.ones((4, 1))
    >>> WeightedLog(rewards=ones, weights=ones, predicted=0 * ones, expected=0 * ones).effective
    4.0
    """

    rewards: FloatArray  # [n, m] by position
    weights: FloatArray  # [n, m] policy over log, multiplied down to each position
    predicted: FloatArray  # [n, m] reward of what was shown, by a model fitted to the other half
    expected: FloatArray  # [n, m] mean prediction under the policy, given the results above

    def __post_init__(self) -> None:
        """Refuse tables of different forms, and what are no rewards or weights."""
        tables = {each.name: np.asarray(getattr(self, each.name)) for each in fields(self)}
        shapes = {name: table.shape for name, table in tables.items()}
        if len(set(shapes.values())) != 1 or tables["rewards"].ndim != 2 or not tables["rewards"].size:
            raise DataError(
                "a weighted log needs four tables with a row for each list and a column for each position, "
                f"found {shapes}"
            )
        for name, table in tables.items():
            numbers = np.asarray(table, np.float64) if table.dtype.kind in "biuf" else np.full(1, np.nan)
            if not (np.abs(numbers) <= LARGEST).all():
                raise DataError(f"{name} must be finite numbers of at most {LARGEST:g}, found others")
            object.__setattr__(self, name, numbers)
        if (self.weights < 0).any():
            raise DataError(f"weights must be 0 or more, found {self.weights.min()}")

    @property
    def effective(self) -> float:
        r"""Effective sample size at the last position, $(\sum w)^2 / \sum w^2$."""
        last = self.weights[:, -1]
        squares = float(last @ last)
        return float(last.sum()) ** 2 / squares if squares else 0.0

    @property
    def logged(self) -> float:
        """Mean sum of rewards of the lists as they were."""
        return float(self.rewards.sum(axis=1).mean())


@dataclass(frozen=True, slots=True)
class Estimate:
    """Mean reward of a list, with the interval that contains it with the probability `level`."""

    name: str
    value: float
    lower: float
    upper: float
    level: float
    any_time: bool = False  # whether the lower bound holds however often it is looked at; then `upper` is inf


def estimate_rewards(log: WeightedLog, level: float = 0.95) -> tuple[Estimate, ...]:
    r"""Estimate the mean sum of rewards of a list under the policy, in up to five ways.

    *Importance-weighted*, $\sum_m w_m r_m$, is unbiased if users read from the top. *Self-normalised* divides
    the weights of each position by their mean: slightly biased, steadier. *Doubly robust* adds a prediction
    $\hat q$ and weights what it missed,

    $$\sum_m \Bigl( w_m \bigl(r_m - \hat q_m\bigr)
    + w_{m-1} \sum_d \pi(d \mid d_1 \ldots d_{m-1})\, \hat q_m(d) \Bigr),$$

    unbiased whatever the model says, since no list is predicted by a model that saw it. *Whole lists*,
    $w_k \sum_m r_m$, supposes nothing about users; it is left out for single choices.
    The last has a *lower bound for any time*, valid however often it is looked at, at the same level as the
    lower ends of the other intervals; it is left out if a reward is negative.

    >>> log = WeightedLog(np.array([[1.0], [0.0]]), np.array([[0.5], [1.5]]), *np.zeros((2, 2, 1)))
    >>> [(each.name, each.value) for each in estimate_rewards(log)][:2]
    [('importance-weighted', 0.25), ('self-normalised', 0.25)]

    McInerney et al.: Counterfactual evaluation of slate recommendations with sequential reward interactions.
    KDD 2020. Kiyohara et al.: Doubly robust off-policy evaluation for ranking policies under the cascade
    behavior model. WSDM 2022.
    """
    weights, rewards = log.weights, log.rewards
    before = np.hstack((np.ones((len(weights), 1)), weights[:, :-1]))
    importance = (weights * rewards).sum(axis=1)
    robust = (weights * (rewards - log.predicted) + before * log.expected).sum(axis=1)
    found = [
        student_interval("importance-weighted", importance, level),
        student_interval("self-normalised", normalise_weights(log), level),
        student_interval("doubly robust", robust, level),
    ]
    if weights.shape[1] > 1:
        found.append(student_interval("whole lists", weights[:, -1] * rewards.sum(axis=1), level))
    if importance.min() >= 0:
        found.append(anytime_bound(importance, level))
    return tuple(found)


def student_interval(
    name: str, values: FloatArray, level: float = 0.95, clusters: IntArray | None = None
) -> Estimate:
    r"""Mean and Student's interval, $\bar X \pm \frac{\sigma}{\sqrt n}\, t_{(1 + level) / 2,\, n-1}$.

    Values of one cluster, such as the lists of one session, count as one observation: with $S_g$ the sum of
    the deviations of a cluster, $\sigma^2 / n$ becomes $\frac{G}{G-1} \sum_g S_g^2 / n^2$, and $G - 1$ are
    the degrees of freedom.

    >>> found = student_interval("clicks", np.array([0.0, 1.0, 1.0, 0.0]), 0.90)
    >>> round(found.lower, 4), round(found.upper, 4)
    (-0.1794, 1.1794)
    >>> twice = student_interval("clicks", np.array([0.0, 0.0, 1.0, 1.0]), clusters=np.array([0, 0, 1, 1]))
    >>> round(twice.upper - student_interval("clicks", np.array([0.0, 1.0])).upper, 12)
    0.0
    """
    values, level = check_column(values, f"values of {name!r}"), check_level(level)
    if not values.size:
        raise DataError(f"an interval needs at least one value, found none of {name!r}")
    value, groups = float(values.mean()), values.size
    if clusters is not None:
        if np.shape(clusters) != values.shape:
            raise DataError(
                f"every value needs a cluster, found {np.size(clusters)} for {values.size} values of {name!r}"
            )
        sums = np.bincount(np.unique(clusters, return_inverse=True)[1], values - value)
        groups = sums.size
    if groups < 2:
        return Estimate(name, value, -np.inf, np.inf, level)
    half = float(stdtrit(groups - 1, (1 + level) / 2))
    if clusters is None:
        half = half * float(values.std(ddof=1)) / float(np.sqrt(groups))
    else:
        half *= float(np.sqrt(groups / (groups - 1) * (sums @ sums))) / values.size
    return Estimate(name, value, value - half, value + half, level)


def normalise_weights(log: WeightedLog) -> FloatArray:
    """Compute values whose mean is the self-normalised estimate, and whose spread is that of its ratios."""
    means = log.weights.mean(axis=0)
    seen = means > 0
    ratios = (log.weights * log.rewards).mean(axis=0)[seen] / means[seen]
    influence = (log.weights[:, seen] * (log.rewards[:, seen] - ratios) / means[seen]).sum(axis=1)
    return np.asarray(ratios.sum() + influence)


def anytime_bound(values: FloatArray, level: float = 0.95) -> Estimate:
    """Bound the mean of values from below, at all times together, at the level of an interval's lower end."""
    values, level = check_column(values), check_level(level)
    if not values.size:
        raise DataError("a bound needs at least one value, found none")
    lower = anytime_lower(values, (1 + level) / 2)
    return Estimate("any time", float(values.mean()), lower, np.inf, level, any_time=True)
