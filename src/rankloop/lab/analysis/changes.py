"""By how much a policy is better or worse than the one it is compared with: what it varies, or the next."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from rankloop.lab.analysis.low_runs import RunKey
from rankloop.lab.analysis.policy_summaries import (
    CELL,
    check_results,
    final_values,
    holm,
    paired_half_width,
    paired_p_value,
)
from rankloop.lab.simulation.known_measures import NONE, measure_of
from rankloop.lab.simulation.measures import Direction, Measure, Measures

EVERYONE = "all users"


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One policy under one user: its mean and its spread over runs, relative to another policy's."""

    data: str
    user: str
    metric: str
    policy: str
    against: str
    mean: float | None  # 0.05: 5 % more; None if the other's mean is 0
    spread: float | None  # 2: twice the standard deviation; None for single runs, or if the other has none
    half_width: float | None = None  # of the mean's 95 % interval; None as the mean, and for single runs
    p_value: float | None = None
    direction: Direction | None = "higher"  # the measure's

    def __str__(self) -> str:
        """As a cell of a table: `+5.0 ± 1.2 % ▲ sd × 0.80`."""
        sure = "" if self.half_width is None else f" ± {100 * self.half_width:.1f}"
        mean = "–" if self.mean is None else f"{100 * self.mean:+.1f}{sure} %"
        return f"{mean} {self.mark}{'' if self.spread is None else f' sd × {self.spread:.2f}'}".rstrip()

    @property
    def mark(self) -> str:
        """△ ▲ for significantly better, ▽ ▼ for significantly worse."""
        if self.p_value is None or self.mean is None or self.p_value >= 0.05:
            return " "
        better = (self.mean > 0) is (self.direction == "higher")
        return ("▲" if better else "▼") if self.p_value < 0.01 else ("△" if better else "▽")


def relative_changes(
    results: pl.DataFrame, against: Mapping[str, str], *, measures: Measures = NONE
) -> list[Change]:
    """What became of every policy that is compared `against` another, in every cell (data, user, metric).

    Over the runs that both have. A measure that describes without grading is not tested. Several users are
    followed by what a run reaches on average over all of them.

    >>> results = pl.DataFrame(
    ...     [("world", "1", "perfect", policy, seed, 100, "nDCG@10", value)
    ...      for policy, values in {"plain": [0.5, 0.4, 0.6], "new": [0.62, 0.54, 0.64]}.items()
    ...      for seed, value in enumerate(values)],
    ...     schema=["data", "fold", "user", "policy", "seed", "round", "metric", "value"], orient="row")
    >>> print(*relative_changes(results, {"new": "plain"}))
    +20.0 ± 26.3 %   sd × 0.53
    """
    check_results(results)
    cells = _and_everyone(results).partition_by(*CELL, maintain_order=True, as_dict=True)
    return [
        change
        for (data, user, metric), cell in cells.items()
        for change in _of_cell(
            cell, against, data=str(data), user=str(user), measure=measure_of(str(metric), measures)
        )
    ]


def _and_everyone(results: pl.DataFrame) -> pl.DataFrame:
    """Results, and those of runs with all of several users as results with one more, `EVERYONE`."""
    users = results["user"].unique()
    if len(users) < 2 or EVERYONE in users:
        return results
    same = [column for column in results.columns if column not in ("user", "value")]
    runs = results.group_by(same, maintain_order=True).agg(pl.col("value").mean(), met=pl.len())
    averages = runs.filter(pl.col("met") == len(users)).with_columns(user=pl.lit(EVERYONE))
    return pl.concat((results, averages.select(results.columns)))


def _of_cell(
    cell: pl.DataFrame, against: Mapping[str, str], *, data: str, user: str, measure: Measure
) -> list[Change]:
    _, values = final_values(cell)
    changes: list[Change] = []
    for policy, other in against.items():
        shared = values.get(policy, {}).keys() & values.get(other, {}).keys()
        if not shared:
            continue
        new, old = ({run: values[name][run] for run in shared} for name in (policy, other))
        changes.append(
            Change(
                data=data,
                user=user,
                metric=measure.name,
                policy=policy,
                against=other,
                mean=_ratio(_mean(new) - _mean(old), abs(_mean(old))),
                spread=_ratio(_deviation(new), _deviation(old)),
                half_width=_ratio(paired_half_width(new, old), abs(_mean(old))),
                p_value=None if measure.direction is None else paired_p_value(new, old),
                direction=measure.direction,
            )
        )
    tested = [change.p_value for change in changes if change.p_value is not None]
    corrected = iter(holm(np.array(tested)).tolist())
    return [
        change if change.p_value is None else replace(change, p_value=next(corrected)) for change in changes
    ]


def _mean(runs: Mapping[RunKey, float]) -> float:
    return float(np.mean([runs[run] for run in sorted(runs)]))


def _deviation(runs: Mapping[RunKey, float]) -> float:
    return float(np.std([runs[run] for run in sorted(runs)], ddof=1)) if len(runs) > 1 else 0.0


def _ratio(value: float | None, base: float) -> float | None:
    return value / base if value is not None and base > 0 else None
