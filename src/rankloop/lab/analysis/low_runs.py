"""Low runs: those that end far below what is usual in their world, and the worst of them."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import median
from typing import TypeAlias

from rankloop.lab.simulation.measures import Direction

RunKey: TypeAlias = tuple[str, int]  # fold and seed

FAR = 1 / 8  # of the usual value; where .47 is usual, a run below .41 is low


def low_runs(
    values: Mapping[str, Mapping[RunKey, float]], direction: Direction, rivals: tuple[str, ...]
) -> dict[str, int]:
    """How many runs of each policy are low: by more than an eighth worse than is usual in their world.

    What is usual in a world, or a fold, is the median over seeds of the policy whose median is best there,
    among the `rivals`. So no policy is measured by its own failures, unless all fail.

    >>> runs = {"steady": {("1", 0): 0.5, ("1", 1): 0.48}, "lucky": {("1", 0): 0.6, ("1", 1): 0.3}}
    >>> low_runs(runs, "higher", ("steady", "lucky"))
    {'steady': 0, 'lucky': 1}
    """
    sign = 1.0 if direction == "higher" else -1.0
    folds = {fold for runs in values.values() for fold, _ in runs}
    usual = {fold: max(sign * _median(values[rival], fold) for rival in rivals) for fold in folds}
    return {
        policy: sum(sign * value < usual[fold] - FAR * abs(usual[fold]) for (fold, _), value in runs.items())
        for policy, runs in values.items()
    }


def worst_run(runs: Mapping[RunKey, float], direction: Direction) -> float:
    """The value of the worst run.

    >>> worst_run({("1", 0): 0.5, ("1", 1): 0.48}, "higher")
    0.48
    """
    return min(runs.values()) if direction == "higher" else max(runs.values())


def _median(runs: Mapping[RunKey, float], fold: str) -> float:
    return median(value for (where, _), value in runs.items() if where == fold)
