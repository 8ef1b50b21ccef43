r"""Estimates for lists: what another policy would have got, from lists that were drawn with known chances.

A list is drawn from the top, so the weight of its first $m$ results is

$$w_m = \prod_{l \le m} \frac{\pi(d_l \mid d_1 \ldots d_{l-1})}{\pi_{\log}(d_l \mid d_1 \ldots d_{l-1})}.$$

If users read from the top, what happens at a position depends on what stands there and above, and on nothing
below: then $w_m$ is the right weight for it, and far smaller than that of the whole list.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

from rankloop.errors import DataError
from rankloop.evaluation.list_propensities import Chances
from rankloop.evaluation.weights import NEGLIGIBLE, NoSupport
from rankloop.types import FloatArray, IntArray

FOLDS = 2
FEWEST = 30  # effective lists: with fewer, an interval does not hold what it says


@dataclass(frozen=True, slots=True, eq=False)
class LoggedList:
    """The first results of a list, what came of each, and how they and another policy's were drawn."""

    shown: IntArray  # [m] rows
    rewards: FloatArray  # [m] such as clicks
    drawn: Chances  # with which the log drew
    asked: Chances  # with which the policy would draw
    scores: FloatArray  # [n] of the policy, to predict with


@dataclass(frozen=True, slots=True, eq=False)
class WeightedLists:
    """A log of lists under the eyes of a policy."""

    rewards: FloatArray  # [n, m]
    weights: FloatArray  # [n, m] of the results down to each position
    ranks: FloatArray  # [n, m] in which order, by the policy's scores, each result comes among the candidates
    expected: Sequence[Sequence[tuple[IntArray, FloatArray]]]  # by list and position: such ranks, and chances

    @property
    def effective(self) -> float:
        r"""Effective sample size at the last position, $(\sum w)^2 / \sum w^2$."""
        last = self.weights[:, -1]
        squares = float(last @ last)
        return float(last.sum()) ** 2 / squares if squares else 0.0


@dataclass(frozen=True, slots=True)
class ListEstimate:
    """The mean sum of rewards of a list, with an interval as if the mean were normal."""

    name: str
    value: float
    lower: float
    upper: float
    level: float


def weighted_lists(lists: Iterable[LoggedList]) -> WeightedLists:
    """The weights of another policy; `NoSupport` where the log could not show what it would."""
    found = weighed(list(lists))
    if found.effective < FEWEST:
        raise NoSupport(
            f"the log says as much about the policy as {found.effective:.0f} lists of its own would, and an "
            f"interval needs {FEWEST}: ask about fewer results, or log more lists"
        )
    return found


def weighed(lists: Sequence[LoggedList]) -> WeightedLists:
    """The weights of another policy, also if all are 0."""
    if not lists:
        raise DataError("a log needs at least one list")
    rows = [_weighted(each, number) for number, each in enumerate(lists, start=1)]
    return WeightedLists(
        np.array([each.rewards for each in lists], dtype=np.float64),
        np.array([row[0] for row in rows]),
        np.array([row[1] for row in rows]),
        [row[2] for row in rows],
    )


def list_estimates(lists: WeightedLists, level: float = 0.95) -> list[ListEstimate]:
    r"""The same number in four ways.

    *Whole lists* supposes nothing about users: $\bar X$ of $w_k \sum_m r_m$. The others suppose that they
    read from the top: *importance-weighted*, $\sum_m w_m r_m$; *self-normalised*, with the weights of each
    position divided by their mean; *doubly robust*, with a prediction $\hat q$ of what comes at a position,
    fitted to the other half of the log:

    $$X = \sum_m \Bigl( w_m \bigl(r_m - \hat q_m(d_m)\bigr)
    + w_{m-1} \sum_d \pi(d \mid d_1 \ldots d_{m-1})\, \hat q_m(d) \Bigr).$$

    McInerney et al.: Counterfactual evaluation of slate recommendations with sequential reward interactions.
    KDD 2020. Kiyohara et al.: Doubly robust off-policy evaluation for ranking policies under the cascade
    behavior model. WSDM 2022.
    """
    weights, rewards = lists.weights, lists.rewards
    plain = (weights * rewards).sum(axis=1)
    return [
        _estimate("whole lists", weights[:, -1] * rewards.sum(axis=1), level),
        _estimate("importance-weighted", plain, level),
        _self_normalised(weights, rewards, level),
        _estimate("doubly robust", _doubly_robust(lists), level),
    ]


def _weighted(
    each: LoggedList, number: int
) -> tuple[list[float], IntArray, list[tuple[IntArray, FloatArray]]]:
    _check_support(each, number)
    rank = np.empty(each.scores.size, dtype=np.int64)
    rank[np.argsort(-each.scores, kind="stable")] = np.arange(each.scores.size)
    weight, weights = 1.0, list[float]()
    expected = list[tuple[IntArray, FloatArray]]()
    for index, row in enumerate(each.shown.tolist()):
        chances, logged = each.asked(each.shown[:index]), each.drawn(each.shown[:index])
        _check_next(chances, logged, number, weight)
        if logged[row] <= 0:
            raise DataError(f"list {number} shows what had no chance: it was not drawn as the log says")
        there = np.flatnonzero(chances)
        expected.append((rank[there], chances[there]))
        weight *= float(chances[row] / logged[row])
        weights.append(weight)
    return weights, rank[each.shown], expected


def _check_support(each: LoggedList, number: int) -> None:
    """Refuse a list whose likeliest beginning by the policy had no chance in the log."""
    above = np.zeros(0, dtype=np.int64)
    for _ in range(each.shown.size):
        chances = each.asked(above)
        _check_next(chances, each.drawn(above), number, 1.0)
        above = np.append(above, chances.argmax())


def _check_next(chances: FloatArray, logged: FloatArray, number: int, weight: float) -> None:
    if weight > 0 and ((chances > NEGLIGIBLE) & (logged <= 0)).any():
        raise NoSupport(
            f"in list {number} the policy may show what the log could not: a log can only speak of what had "
            "a chance. Ask about fewer results, or log with a policy that explores more, such as pdgd"
        )


def _estimate(name: str, values: FloatArray, level: float) -> ListEstimate:
    value, half = float(values.mean()), np.inf
    if values.size > 1:
        quantile = float(stdtrit(values.size - 1, (1 + level) / 2))
        half = quantile * float(values.std(ddof=1)) / float(np.sqrt(values.size))
    return ListEstimate(name, value, value - half, value + half, level)


def _self_normalised(weights: FloatArray, rewards: FloatArray, level: float) -> ListEstimate:
    """The interval is that of the linearised ratios."""
    means = weights.mean(axis=0)
    seen = means > 0
    ratios = (weights * rewards).mean(axis=0)[seen] / means[seen]
    influence = (weights[:, seen] * (rewards[:, seen] - ratios) / means[seen]).sum(axis=1)
    return _estimate("self-normalised", ratios.sum() + influence, level)


def _doubly_robust(lists: WeightedLists) -> FloatArray:
    n, depth = lists.rewards.shape
    before = np.hstack((np.ones((n, 1)), lists.weights[:, :-1]))
    values = np.zeros(n)
    for fold in range(FOLDS):
        mine, others = np.arange(n) % FOLDS == fold, np.arange(n) % FOLDS != fold
        for position in range(depth):
            predict = _Rates(lists.ranks[others, position], lists.rewards[others, position])
            missed = lists.rewards[mine, position] - predict(lists.ranks[mine, position])
            owed = [
                float(chances @ predict(ranks))
                for ranks, chances in (lists.expected[row][position] for row in np.flatnonzero(mine).tolist())
            ]
            values[mine] += lists.weights[mine, position] * missed + before[mine, position] * np.array(owed)
    return values


class _Rates:
    """What comes at a position of a result that the policy has at this rank, drawn to the mean of all."""

    def __init__(self, ranks: FloatArray, rewards: FloatArray) -> None:
        size = int(ranks.max()) + 1 if ranks.size else 1
        self._mean = float(rewards.mean()) if rewards.size else 0.0
        sums = np.bincount(ranks.astype(np.int64), rewards, minlength=size)
        counts = np.bincount(ranks.astype(np.int64), minlength=size)
        self._rates = (sums + self._mean) / (counts + 1)

    def __call__(self, ranks: FloatArray | IntArray) -> FloatArray:
        index = np.asarray(ranks, dtype=np.int64)
        known = index < self._rates.size
        return np.where(known, self._rates[np.where(known, index, 0)], self._mean)
