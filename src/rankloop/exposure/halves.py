"""Meeting in the middle: the best of all templates of two groups, from templates of half the length."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from rankloop.exposure.group_templates import all_templates, granted
from rankloop.exposure.template_choice import Ties
from rankloop.exposure.template_costs import Pricing
from rankloop.types import FloatArray, IntArray


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """A first half, second halves that go with it, and the looks of the first group with each."""

    first: int
    second: IntArray
    looks: FloatArray

    def nearest(self, target: float, distance: float) -> Pairs:
        """Those at this distance from a target."""
        there = np.abs(self.looks - target) == distance
        return Pairs(self.first, self.second[there], self.looks[there])


@dataclass(frozen=True, slots=True, eq=False)
class Meeting:
    """First halves with one number of documents of the first group, and second halves that can follow.

    What the accounts will be depends on the looks of the first group alone; second halves are sorted by them.
    """

    first: IntArray  # numbers of templates
    first_costs: FloatArray
    first_looks: FloatArray
    second: IntArray
    second_costs: FloatArray
    second_looks: FloatArray  # ascending

    def nearest(self, target: float) -> float:
        """How near to the target the looks of the first group can come."""
        wanted = target - self.first_looks
        right = self.second_looks.searchsorted(wanted)
        around = np.stack([np.maximum(right - 1, 0), np.minimum(right, len(self.second) - 1)])
        return float(np.abs(self.second_looks[around] - wanted).min())

    def ranges(self, low: float, high: float) -> tuple[IntArray, IntArray]:
        """For each first half the second halves, from and to, that bring the looks between two bounds."""
        return (
            self.second_looks.searchsorted(low - self.first_looks, "left"),
            self.second_looks.searchsorted(high - self.first_looks, "right"),
        )

    def cheapest(self, low: float, high: float) -> FloatArray:
        """The fewest violations between the bounds with each first half; infinite if nothing is there."""
        start, end = self.ranges(low, high)
        some, found = end > start, np.full(len(start), np.inf)
        found[some] = self.first_costs[some] + _range_minima(self.second_costs, start[some], end[some])
        return found

    def pairs(self, low: float, high: float, cost: float) -> Iterator[Pairs]:
        """All pairs of halves between the bounds at this cost, by their first half."""
        start, end = self.ranges(low, high)
        for half in (self.cheapest(low, high) == cost).nonzero()[0].tolist():
            fitting = self.second_costs[start[half] : end[half]] == cost - self.first_costs[half]
            behind = start[half] + fitting.nonzero()[0]
            looks = self.first_looks[half] + self.second_looks[behind]
            yield Pairs(int(self.first[half]), self.second[behind], looks)


def meet_in_the_middle(
    pricing: Pricing,
    looks: IntArray,
    start: IntArray,
    tolerance: float,
    rng: np.random.Generator,
    ties: Ties,
) -> tuple[list[int], int]:
    """The template of two groups that `choose` would choose among all, and what it costs.

    `start` is what the accounts would be if nobody was granted anything, [2].
    """
    middle = len(looks) // 2
    meetings = list(_meetings(pricing, looks, middle))
    own, other = float(start[0]), float(start[1] + looks.sum())
    low, high = max(-tolerance - own, other - tolerance), min(tolerance - own, other + tolerance)
    target = (other - own) / 2  # of the first group's looks, where the larger account is smallest
    cost = _least(meetings, low, high) if low <= high else np.inf
    if cost == np.inf:
        distance = min(meeting.nearest(target) for meeting in meetings)
        low, high = target - distance, target + distance
        cost = _least(meetings, low, high)
    pairs = [pair for meeting in meetings for pair in meeting.pairs(low, high, cost)]
    if ties == "least":
        distance = min(float(np.abs(each.looks - target).min()) for each in pairs)
        pairs = [each.nearest(target, distance) for each in pairs]
    first, second = _drawn(pairs, rng)
    halves = all_templates(2, middle).groups[first], all_templates(2, len(looks) - middle).groups[second]
    return np.concatenate(halves).tolist(), int(cost)


def _drawn(pairs: list[Pairs], rng: np.random.Generator) -> tuple[int, int]:
    """One of the pairs, each as likely as the others."""
    ends = np.cumsum([len(each.second) for each in pairs])
    number = int(rng.random() * ends[-1])
    which = int(ends.searchsorted(number, "right"))
    return pairs[which].first, int(pairs[which].second[number - ends[which]])


def _least(meetings: list[Meeting], low: float, high: float) -> float:
    return min(float(meeting.cheapest(low, high).min()) for meeting in meetings)


def _meetings(pricing: Pricing, looks: IntArray, middle: int) -> Iterator[Meeting]:
    first, second = all_templates(2, middle), all_templates(2, len(looks) - middle)
    gains = granted(2, tuple(looks[:middle].tolist()))[0]
    later = granted(2, tuple(looks[middle:].tolist()))[0]
    costs, by_looks = pricing.costs(first), later.argsort(kind="stable")
    for count in range(middle + 1):
        halves = ((first.counts[:, 0] == count) & (costs < np.inf)).nonzero()[0]
        if not len(halves):
            continue
        prices = pricing.after([count, middle - count]).costs(second)[by_looks]
        follow = (prices < np.inf).nonzero()[0]
        if len(follow):
            behind = by_looks[follow]
            yield Meeting(halves, costs[halves], gains[halves], behind, prices[follow], later[behind])


def _range_minima(values: FloatArray, start: IntArray, end: IntArray) -> FloatArray:
    """The smallest of `values[start:end]` for many ranges at once, by a sparse table.

    >>> _range_minima(np.array([3.0, 1.0, 2.0]), np.array([0, 2]), np.array([2, 3])).tolist()
    [1.0, 2.0]
    """
    levels = [values]
    while 2 ** len(levels) <= len(values):
        last, step = levels[-1], 2 ** (len(levels) - 1)
        shorter = np.minimum(last[:-step], last[step:])
        levels.append(np.concatenate([shorter, last[len(shorter) :]]))
    table = np.stack(levels)
    level = np.log2(end - start).astype(np.int64)
    minima: FloatArray = np.minimum(table[level, start], table[level, end - 2**level])
    return minima
