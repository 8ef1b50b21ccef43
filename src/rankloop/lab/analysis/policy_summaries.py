"""Summaries of policies at the end of their runs, and their mean curves.

Results are flat rows `data, fold, user, policy, seed, round, metric, value`. One *run* is a (fold, seed)
pair: every policy meets the same runs, which is what makes paired tests possible.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from statistics import median
from typing import Any, TypeAlias

import numpy as np
import polars as pl

from rankloop.errors import DataError
from rankloop.lab.analysis.paired_tests import (
    RunKey,
    RunValues,
    correct_holm,
    find_t_factor,
    mean_interval,
    paired_difference,
    paired_p_value,
)
from rankloop.lab.simulation.known_measures import NONE, find_measure
from rankloop.lab.simulation.measures import Direction, Measure, Measures

CELL = ("data", "user", "metric")
COLUMNS = (*CELL, "fold", "policy", "seed", "round", "value")
FAR = 1 / 8  # of the usual value; where .47 is usual, a run below .41 is low

PolicyRuns: TypeAlias = Mapping[str, RunValues]  # by policy


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicySummary:
    """One policy under one user at the end: its mean over runs and how it compares with the best.

    `values` are those of the single runs, of which `low` and `high` bound the 95 % interval; they are None
    for a single run, whose spread is unknown. `p_value` is the Holm-corrected chance of such a distance from
    the best policy by luck alone; it is None for the best policies themselves and where fewer than two runs
    can be paired. `direction` is the measure's: which values are better, or None for one that describes
    without grading. Of one that grades, `worst` is the worst run, and `low_runs` are as many as
    `count_low_runs` counts.
    """

    data: str
    user: str
    policy: str
    metric: str
    round: int
    mean: float
    low: float | None
    high: float | None
    values: tuple[float, ...]
    seeds: int
    p_value: float | None = None
    best: bool = False
    direction: Direction | None = "higher"
    worst: float | None = None
    low_runs: int | None = None

    @property
    def runs(self) -> int:
        """The number of runs."""
        return len(self.values)

    @property
    def half_width(self) -> float | None:
        """The distance from the mean to either end of its interval."""
        return None if self.high is None else self.high - self.mean

    @property
    def mark(self) -> str:
        """The mark ▽ or ▼ of a policy that is significantly worse than the best one."""
        if self.p_value is None or self.p_value >= 0.05:
            return ""
        return "▼" if self.p_value < 0.01 else "▽"

    def to_json(self) -> dict[str, Any]:
        """Give the summary as plain values; what is unknown is null, not NaN."""
        return {**asdict(self), "runs": self.runs}


def summarise(
    results: pl.DataFrame, *, measures: Measures = NONE, reference_policies: Collection[str] = ()
) -> list[PolicySummary]:
    """Summarise the last round of every cell (data, user, metric), the best policy first.

    The last round is the last that *every* policy of the cell reached, so that a run which is still
    going is compared where the others were. Intervals are Student's t over runs. Every policy is
    compared with the best one by a paired t-test over the runs they share, and the p-values of a cell
    are corrected after Holm (1979). A measure that describes without grading has no best and no tests; what
    each is, `measures` say (those of a sweep are `sweep.measures`; the usual ones are known).
    `reference_policies` are summarised but do not compete: they saw what no policy may see.

    >>> results = pl.DataFrame(
    ...     [("world", "1", "perfect", policy, seed, 100, "nDCG@10", value)
    ...      for policy, values in {"PDGD": [0.75, 0.5, 0.625], "random": [0.25, 0.125, 0.375]}.items()
    ...      for seed, value in enumerate(values)],
    ...     schema=["data", "fold", "user", "policy", "seed", "round", "metric", "value"], orient="row")
    >>> for each in summarise(results):
    ...     print(each.policy, each.mean, each.runs, each.best, each.p_value and round(each.p_value, 4))
    PDGD 0.625 3 True None
    random 0.25 3 False 0.0351
    """
    check_results(results)
    return [
        summary
        for data, user, metric, cell in split_cells(results)
        for summary in _summarise_cell(cell, reference_policies, data, user, find_measure(metric, measures))
    ]


def average_curves(results: pl.DataFrame) -> pl.DataFrame:
    """Average over runs at every round, with the 95 % Student-t band (null for a single run)."""
    check_results(results)
    keys = [*CELL, "policy", "round"]
    mean, spread, runs = pl.col("value").mean(), pl.col("value").std(), pl.len()
    frame = results.group_by(keys, maintain_order=True).agg(mean=mean, spread=spread, runs=runs)
    frame = frame.sort("round", maintain_order=True)  # users and policies stay in the order they came
    factors = [find_t_factor(runs) for runs in frame["runs"].to_list()]
    half = pl.col("spread") * pl.Series("factor", factors, dtype=pl.Float64)
    return frame.with_columns(low=pl.col("mean") - half, high=pl.col("mean") + half).drop("spread")


def count_low_runs(runs: PolicyRuns, direction: Direction, rivals: Iterable[str]) -> dict[str, int]:
    """Count the low runs of each policy: by more than an eighth worse than is usual in their world.

    What is usual in a world, or a fold, is the median over seeds of the policy whose median is best there,
    among the `rivals`. So no policy is measured by its own failures, unless all fail.

    >>> runs = {"steady": {("1", 0): 0.5, ("1", 1): 0.48}, "lucky": {("1", 0): 0.6, ("1", 1): 0.3}}
    >>> count_low_runs(runs, "higher", ["steady", "lucky"])
    {'steady': 0, 'lucky': 1}
    """
    sign = 1.0 if direction == "higher" else -1.0
    usual: dict[str, float] = {}
    for rival in rivals:
        for fold in {fold for fold, _ in runs[rival]}:
            middle = sign * median(value for (where, _), value in runs[rival].items() if where == fold)
            usual[fold] = max(usual.get(fold, middle), middle)
    least = {fold: value - FAR * abs(value) for fold, value in usual.items()}
    return {
        policy: sum(sign * value < least[fold] for (fold, _), value in own.items() if fold in least)
        for policy, own in runs.items()
    }


def split_cells(results: pl.DataFrame) -> Iterator[tuple[str, str, str, pl.DataFrame]]:
    """Split results into cells of one dataset, one user and one metric, in the order they came."""
    for (data, user, metric), cell in results.partition_by(*CELL, maintain_order=True, as_dict=True).items():
        yield str(data), str(user), str(metric), cell


def read_last_round(cell: pl.DataFrame) -> tuple[int, dict[str, dict[RunKey, float]]]:
    """Read the last round that every policy of a cell reached, and each policy's values there, by run."""
    policies = cell["policy"].n_unique()
    reached = cell.group_by("round").agg(pl.col("policy").n_unique()).filter(pl.col("policy") == policies)
    if reached.is_empty():
        where = ", ".join(str(cell[column][0]) for column in CELL)
        raise DataError(f"({where}): the policies share no round at which they could be compared")
    last = int(reached.select(pl.col("round").max()).item())
    at_last = cell.filter(pl.col("round") == last).select("policy", "fold", "seed", "value")
    values: dict[str, dict[RunKey, float]] = {}
    for policy, fold, seed, value in at_last.iter_rows():
        values.setdefault(policy, {})[fold, seed] = value
    return last, values


def check_results(results: pl.DataFrame) -> None:
    """Refuse frames that would be summarised into something wrong."""
    if missing := set(COLUMNS) - set(results.columns):
        raise DataError(f"results need the columns {', '.join(sorted(COLUMNS))}; missing: {sorted(missing)}")
    if results.is_empty():
        raise DataError("there are no results to summarise; run an experiment first")
    if not (finite := results["value"].is_finite().fill_null(value=False)).all():
        first = results.filter(~finite).row(0, named=True)
        raise DataError(f"{(~finite).sum()} of {len(results)} values are not finite; the first is {first}")
    keys = [name for name in COLUMNS if name != "value"]
    if (twice := results.select(pl.struct(keys).is_duplicated()).to_series()).any():
        first = results.filter(twice).row(0, named=True)
        raise DataError(f"some values are there twice; were results appended twice? The first is {first}")


def _summarise_cell(
    cell: pl.DataFrame, reference_policies: Collection[str], data: str, user: str, measure: Measure
) -> list[PolicySummary]:
    last, runs = read_last_round(cell)
    summaries = []
    for policy, own in runs.items():
        interval = mean_interval(own)
        summaries.append(
            PolicySummary(
                data=data,
                user=user,
                policy=policy,
                metric=measure.name,
                round=last,
                mean=interval.mean,
                low=interval.low,
                high=interval.high,
                values=tuple(own[run] for run in sorted(own)),
                seeds=len({seed for _, seed in own}),
                direction=measure.direction,
            )
        )
    if measure.direction is None:
        return summaries
    rivals = [policy for policy in runs if policy not in reference_policies]
    low = count_low_runs(runs, measure.direction, rivals) if rivals else {}
    worst = min if measure.direction == "higher" else max
    graded = [replace(each, worst=worst(each.values), low_runs=low.get(each.policy)) for each in summaries]
    sign = -1 if measure.direction == "higher" else 1
    graded.sort(key=lambda each: (each.policy not in rivals, sign * each.mean, each.policy))
    return [*_compare_with_best(graded[: len(rivals)], runs), *graded[len(rivals) :]]


def _compare_with_best(summaries: Sequence[PolicySummary], runs: PolicyRuns) -> list[PolicySummary]:
    """Mark all policies that share the best mean, and test the others against the first of them."""
    if not summaries:
        return []
    champion = summaries[0]
    found = {
        each.policy: _p_value_of_worse(runs[each.policy], runs[champion.policy], each.direction)
        for each in summaries
        if each.mean != champion.mean
    }
    tested = {policy: p_value for policy, p_value in found.items() if p_value is not None}
    corrected = dict(zip(tested, correct_holm(np.array([*tested.values()])).tolist(), strict=True))
    return [
        replace(each, best=each.mean == champion.mean, p_value=corrected.get(each.policy))
        for each in summaries
    ]


def _p_value_of_worse(own: RunValues, champion: RunValues, direction: Direction | None) -> float | None:
    """Compute the paired p-value, 1 where the runs both have do not even say worse (others are missing)."""
    behind = sum(paired_difference(champion, own).values())
    p_value = paired_p_value(own, champion)
    if p_value is not None and (behind > 0) is not (direction == "higher"):
        return 1.0
    return p_value
