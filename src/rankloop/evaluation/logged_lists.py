r"""Weigh lists that were drawn with known probabilities, for another policy.

A list is drawn from the top, so the weight of its first $m$ results is

$$w_m = \prod_{l \le m} \frac{\pi(d_l \mid d_1 \ldots d_{l-1})}{\pi_{\log}(d_l \mid d_1 \ldots d_{l-1})}.$$

If users read from the top, what happens at a position depends on what stands there and above, and on nothing
below: then $w_m$ is the right weight for it, and far smaller than that of the whole list.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from rankloop.errors import DataError, SettingError
from rankloop.evaluation.estimates import NEGLIGIBLE, NoSupport, WeightedLog
from rankloop.evaluation.list_propensities import NextProbabilities
from rankloop.evaluation.value_checks import check_column
from rankloop.types import FloatArray, IntArray

FOLDS = 2
ROUNDING = 1e-6  # of a sum of probabilities
FEWEST = 30  # effective lists: with fewer, an interval does not hold what it says
Expected: TypeAlias = list[tuple[IntArray, FloatArray]]  # by position: ranks, and their probabilities


@dataclass(frozen=True, slots=True, eq=False)
class LoggedList:
    """First results of a list, their rewards, and the probabilities of the log and of another policy."""

    shown: IntArray  # [m] rows
    rewards: FloatArray  # [m] such as clicks
    logged: NextProbabilities  # with which the log drew
    target: NextProbabilities  # with which the policy would draw
    scores: FloatArray  # [n] of the policy, to predict with

    def __post_init__(self) -> None:
        """Refuse results that are no rows or stand twice, and results without a reward."""
        shown = np.asarray(self.shown)
        if shown.ndim != 1 or not shown.size or shown.dtype.kind not in "iu":
            raise DataError(f"a logged list shows rows, one below the other, found {self.shown!r}")
        if shown.min() < 0 or shown.max() >= np.size(self.scores) or len(set(shown.tolist())) != shown.size:
            raise DataError(
                f"a logged list shows different rows of its {np.size(self.scores)} candidates, "
                f"found {shown.tolist()}"
            )
        rewards = check_column(self.rewards, "rewards of a logged list")
        check_column(self.scores, "scores of a logged list")
        if rewards.size != shown.size:
            raise DataError(
                f"every result of a logged list needs a reward, found {rewards.size} for {shown.size} results"
            )


def weigh_lists(lists: Iterable[LoggedList], fewest: float = FEWEST) -> WeightedLog:
    """Weigh lists for another policy; `NoSupport` where the log could not show what it would.

    Rewards are predicted by position and by the rank that the policy gives a result, with a model that is
    fitted to the other half of the lists.
    """
    lists = list(lists)
    if not lists or not all(isinstance(each, LoggedList) for each in lists):
        raise DataError("a log needs at least one list, and nothing but logged lists")
    if not fewest >= 0:
        raise SettingError(f"the fewest effective lists are a number of 0 or more, found {fewest!r}")
    if len(depths := {len(each.shown) for each in lists}) > 1:
        raise DataError(f"all lists of a log have as many results, found {sorted(depths)}")
    rows = [_weigh(each, number) for number, each in enumerate(lists, start=1)]
    rewards = np.array([each.rewards for each in lists], dtype=np.float64)
    ranks = np.array([row[1] for row in rows])
    predicted, expected = _predict(rewards, ranks, [row[2] for row in rows])
    log = WeightedLog(rewards, np.array([row[0] for row in rows]), predicted, expected)
    if log.effective < fewest:
        raise NoSupport(
            f"the log says as much about the policy as {log.effective:.0f} lists of its own would, and an "
            f"interval needs {fewest:g}: ask about fewer results, or log more lists"
        )
    return log


def _weigh(each: LoggedList, number: int) -> tuple[list[float], IntArray, Expected]:
    _check_support(each, number)
    rank = np.empty(each.scores.size, dtype=np.int64)
    rank[np.argsort(-each.scores, kind="stable")] = np.arange(each.scores.size)
    weight, weights, expected = 1.0, list[float](), Expected()
    for index, row in enumerate(each.shown.tolist()):
        target, logged = each.target(each.shown[:index]), each.logged(each.shown[:index])
        _check_next(target, logged, number, each.scores.size, weight=weight)
        if logged[row] <= 0:
            raise DataError(f"list {number} shows what had no chance: it was not drawn as the log says")
        possible = np.flatnonzero(target)
        expected.append((rank[possible], target[possible]))
        weight *= float(target[row] / logged[row])
        weights.append(weight)
    return weights, rank[each.shown], expected


def _check_support(each: LoggedList, number: int) -> None:
    """Refuse a list whose likeliest beginning by the policy had no chance in the log."""
    above, n = np.zeros(0, dtype=np.int64), each.scores.size
    for _ in range(each.shown.size):
        target = each.target(above)
        _check_next(target, each.logged(above), number, n, weight=1.0)
        above = np.append(above, target.argmax())


def _check_next(target: FloatArray, logged: FloatArray, number: int, n: int, *, weight: float) -> None:
    for chances in (target, logged):
        if len(chances) != n or not (chances.min() >= 0 and abs(chances.sum() - 1) <= ROUNDING):
            raise DataError(
                f"list {number} needs a probability for each of its {n} candidates to be next, which sum to "
                f"1, found {chances}"
            )
    if weight > 0 and ((target > NEGLIGIBLE) & (logged <= 0)).any():
        raise NoSupport(
            f"in list {number} the policy may show what the log could not: a log can only speak of what had "
            "a chance. Ask about fewer results, or log with a policy that explores more, such as pdgd"
        )


def _predict(
    rewards: FloatArray, ranks: IntArray, expected: Sequence[Expected]
) -> tuple[FloatArray, FloatArray]:
    """Rewards of what was shown, and mean rewards under the policy, as the other half predicts them."""
    n, depth = rewards.shape
    of_shown, of_policy = np.zeros((n, depth)), np.zeros((n, depth))
    for fold in range(FOLDS):
        mine, others = np.flatnonzero(np.arange(n) % FOLDS == fold), np.arange(n) % FOLDS != fold
        for position in range(depth):
            rates = _Rates(ranks[others, position], rewards[others, position])
            of_shown[mine, position] = rates(ranks[mine, position])
            for row in mine.tolist():
                possible, probabilities = expected[row][position]
                of_policy[row, position] = float(probabilities @ rates(possible))
    return of_shown, of_policy


class _Rates:
    """Mean reward at a position of a result of each rank, drawn to the mean of all."""

    def __init__(self, ranks: IntArray, rewards: FloatArray) -> None:
        size = int(ranks.max()) + 1 if ranks.size else 1
        self._mean = float(rewards.mean()) if rewards.size else 0.0
        sums = np.bincount(ranks, rewards, minlength=size)
        self._rates = (sums + self._mean) / (np.bincount(ranks, minlength=size) + 1)

    def __call__(self, ranks: IntArray) -> FloatArray:
        known = ranks < self._rates.size
        return np.where(known, self._rates[np.where(known, ranks, 0)], self._mean)
