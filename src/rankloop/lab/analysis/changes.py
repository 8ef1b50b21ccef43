"""Changes against other policies: by how much each is better or worse than the one it is compared with."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from rankloop.lab.analysis.paired_tests import (
    RunValues,
    correct_holm,
    mean_interval,
    paired_difference,
    paired_p_value,
)
from rankloop.lab.analysis.policy_summaries import check_results, read_last_round, split_cells
from rankloop.lab.simulation.known_measures import NONE, find_measure
from rankloop.lab.simulation.measures import Direction, Measure, Measures

EVERYONE = "all users"


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One policy under one user: its mean and its spread over runs, relative to another policy's."""

    data: str
    user: str
    metric: str
    policy: str
    compared_with: str
    mean: float | None  # 0.05: 5 % more; None if the other's mean is 0
    spread: float | None  # 2: twice the standard deviation; None for single runs, or if the other has none
    half_width: float | None = None  # of the mean's 95 % interval; None as the mean, and for single runs
    p_value: float | None = None
    direction: Direction | None = "higher"  # the measure's

    @property
    def mark(self) -> str:
        """The mark △ ▲ of significantly better, ▽ ▼ of significantly worse."""
        if self.p_value is None or self.mean is None or self.p_value >= 0.05:
            return ""
        better = (self.mean > 0) is (self.direction == "higher")
        return ("▲" if better else "▼") if self.p_value < 0.01 else ("△" if better else "▽")


def find_changes(
    results: pl.DataFrame, compare_with: Mapping[str, str], *, measures: Measures = NONE
) -> list[Change]:
    """Find the change of every policy that is compared with another, in every cell (data, user, metric).

    Only runs that both have take part. A measure that describes without grading is not tested. Several users
    are followed by the average of each run over all of them.

    >>> results = pl.DataFrame(
    ...     [("world", "1", "perfect", policy, seed, 100, "nDCG@10", value)
    ...      for policy, values in {"plain": [0.5, 0.4, 0.6], "new": [0.62, 0.54, 0.64]}.items()
    ...      for seed, value in enumerate(values)],
    ...     schema=["data", "fold", "user", "policy", "seed", "round", "metric", "value"], orient="row")
    >>> change, = find_changes(results, {"new": "plain"})
    >>> print(f"{change.mean:+.3f} ± {change.half_width:.3f}, sd × {change.spread:.2f}")
    +0.200 ± 0.263, sd × 0.53
    """
    check_results(results)
    return [
        change
        for data, user, metric, cell in split_cells(_add_all_users(results))
        for change in _compare_cell(cell, compare_with, data, user, find_measure(metric, measures))
    ]


def _add_all_users(results: pl.DataFrame) -> pl.DataFrame:
    """Add averages of runs with all of several users as results of one more, `EVERYONE`."""
    users = results["user"].unique()
    if len(users) < 2 or EVERYONE in users:
        return results
    same = [column for column in results.columns if column not in ("user", "value")]
    runs = results.group_by(same, maintain_order=True).agg(pl.col("value").mean(), met=pl.len())
    averages = runs.filter(pl.col("met") == len(users)).with_columns(user=pl.lit(EVERYONE))
    return pl.concat((results, averages.select(results.columns)))


def _compare_cell(
    cell: pl.DataFrame, compare_with: Mapping[str, str], data: str, user: str, measure: Measure
) -> list[Change]:
    _, values = read_last_round(cell)
    changes: list[Change] = []
    for policy, other in compare_with.items():
        difference = paired_difference(values.get(policy, {}), values.get(other, {}))
        if not difference:
            continue
        new, old = ({run: values[name][run] for run in difference} for name in (policy, other))
        mean = mean_interval(old).mean
        changes.append(
            Change(
                data=data,
                user=user,
                metric=measure.name,
                policy=policy,
                compared_with=other,
                mean=_divide(mean_interval(new).mean - mean, abs(mean)),
                spread=_divide(_deviation(new), _deviation(old)),
                half_width=_divide(mean_interval(difference).half_width, abs(mean)),
                p_value=None if measure.direction is None else paired_p_value(new, old),
                direction=measure.direction,
            )
        )
    return list(_correct(changes))


def _correct(changes: list[Change]) -> Iterator[Change]:
    """Correct the p-values of one cell together."""
    tested = [change.p_value for change in changes if change.p_value is not None]
    corrected = iter(correct_holm(np.array(tested)).tolist())
    for change in changes:
        yield change if change.p_value is None else replace(change, p_value=next(corrected))


def _deviation(runs: RunValues) -> float:
    return float(np.std([runs[run] for run in sorted(runs)], ddof=1)) if len(runs) > 1 else 0.0


def _divide(value: float | None, base: float) -> float | None:
    return value / base if value is not None and base > 0 else None
