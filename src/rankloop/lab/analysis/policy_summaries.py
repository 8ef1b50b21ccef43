"""From the raw results of many runs to means, intervals and honest comparisons.

Results are flat rows `data, fold, user, policy, seed, round, metric, value`. One *run* is a (fold, seed)
pair: every policy meets the same runs, which is what makes paired tests possible.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import polars as pl
from scipy import special

from rankloop.errors import DataError
from rankloop.lab.analysis.low_runs import RunKey, low_runs, worst_run
from rankloop.lab.simulation.known_measures import NONE, measure_of
from rankloop.lab.simulation.measures import Direction, Measure, Measures
from rankloop.types import FloatArray

CELL = ("data", "user", "metric")
COLUMNS = (*CELL, "fold", "policy", "seed", "round", "value")
CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryRow:
    """One policy under one user at the end: its mean over runs and how it compares with the best.

    `low` and `high` bound the 95 % interval and are None for a single run, whose spread is unknown.
    `p_value` is the Holm-corrected chance of such a distance from the best policy by luck alone; it is
    None for the best policies themselves and where fewer than two runs can be paired. `direction` is the
    measure's: which values are better, or None for one that describes without grading. Of one that grades,
    `worst` is the worst run, and `low_runs` says how many are far below what is usual, see `low_runs`.
    """

    data: str
    user: str
    policy: str
    metric: str
    round: int
    mean: float
    low: float | None
    high: float | None
    runs: int
    seeds: int
    p_value: float | None = None
    best: bool = False
    direction: Direction | None = "higher"
    worst: float | None = None
    low_runs: int | None = None

    @property
    def half_width(self) -> float | None:
        """The distance from the mean to either end of its interval."""
        return None if self.high is None else self.high - self.mean


def summarise(
    results: pl.DataFrame, *, measures: Measures = NONE, outside: Collection[str] = ()
) -> list[SummaryRow]:
    """The last round of every cell (data, user, metric): a row per policy, the best first.

    The last round is the last that *every* policy of the cell reached, so that a run which is still
    going is compared where the others were. Intervals are Student's t over runs. Every policy is
    compared with the best one by a paired t-test over the runs they share, and the p-values of a cell
    are corrected after Holm (1979). A measure that describes without grading has no best and no tests; what
    each is, `measures` say (those of a sweep are `sweep.measures`; the usual ones are known). Those named
    `outside` are summed up but do not compete: rankers that saw what no policy may see.

    >>> results = pl.DataFrame(
    ...     [("world", "1", "perfect", policy, seed, 100, "nDCG@10", value)
    ...      for policy, values in {"PDGD": [0.75, 0.5, 0.625], "random": [0.25, 0.125, 0.375]}.items()
    ...      for seed, value in enumerate(values)],
    ...     schema=["data", "fold", "user", "policy", "seed", "round", "metric", "value"], orient="row")
    >>> for row in summarise(results):
    ...     print(row.policy, row.mean, row.runs, row.best, row.p_value and round(row.p_value, 4))
    PDGD 0.625 3 True None
    random 0.25 3 False 0.0351
    """
    check_results(results)
    cells = results.partition_by(*CELL, maintain_order=True, as_dict=True)
    return [
        row
        for (data, user, metric), cell in cells.items()
        for row in _summarise_cell(
            cell, outside, data=str(data), user=str(user), measure=measure_of(str(metric), measures)
        )
    ]


def curves(results: pl.DataFrame) -> pl.DataFrame:
    """The mean over runs at every round, with its 95 % Student-t band (null for a single run)."""
    check_results(results)
    keys = [*CELL, "policy", "round"]
    mean, spread, runs = pl.col("value").mean(), pl.col("value").std(), pl.len()
    frame = results.group_by(keys, maintain_order=True).agg(mean=mean, spread=spread, runs=runs)
    frame = frame.sort("round", maintain_order=True)  # users and policies stay in the order they came
    factor = pl.Series("factor", [_t_factor(n) for n in frame["runs"].to_list()], dtype=pl.Float64)
    half = pl.col("spread") * factor
    return frame.with_columns(low=pl.col("mean") - half, high=pl.col("mean") + half).drop("spread")


def to_json_rows(rows: Iterable[SummaryRow]) -> list[dict[str, Any]]:
    """The rows as plain dictionaries that every JSON reader accepts: what is unknown is null, not NaN."""
    return [asdict(row) for row in rows]


def holm(p_values: FloatArray) -> FloatArray:
    """Holm's correction: the i-th smallest of m p-values is multiplied by m - i + 1, kept in order.

    >>> holm(np.array([0.01, 0.04, 0.03]))
    array([0.03, 0.06, 0.06])

    Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of
    Statistics 1979.
    """
    order = np.argsort(p_values, kind="stable")
    corrected = np.empty(len(order))
    corrected[order] = np.maximum.accumulate(p_values[order] * np.arange(len(order), 0, -1))
    return np.minimum(corrected, 1.0)


def paired_p_value(first: Mapping[RunKey, float], second: Mapping[RunKey, float]) -> float | None:
    """Two-sided paired t-test over the runs both have; None if they share fewer than two.

    Without any spread the test has its limits: 1 if the values are the same, 0 if one is always ahead
    by the same amount.
    """
    shared = sorted(first.keys() & second.keys())
    if len(shared) < 2:
        return None
    a, b = (np.array([values[run] for run in shared]) for values in (first, second))
    difference = a - b
    scale = max(float(np.abs(a).max()), float(np.abs(b).max()))
    difference[np.abs(difference) <= 1e-12 * scale] = 0.0  # rounding is not a difference
    error = float(difference.std(ddof=1)) / np.sqrt(len(shared))
    if error <= 1e-15 * scale:
        return 1.0 if not difference.any() else 0.0
    return float(2.0 * special.stdtr(len(shared) - 1, -abs(float(difference.mean())) / error))


def paired_half_width(first: Mapping[RunKey, float], second: Mapping[RunKey, float]) -> float | None:
    """Half of the 95 % interval of the mean difference over the runs both have; None for fewer than two.

    >>> ours, theirs = {("1", 0): 0.5, ("1", 1): 0.7}, {("1", 0): 0.4, ("1", 1): 0.5}
    >>> round(paired_half_width(ours, theirs), 3)  # of +0.1 and +0.2: t = 12.7, error = 0.05
    0.635
    """
    shared = sorted(first.keys() & second.keys())
    if len(shared) < 2:
        return None
    return float(np.std([first[run] - second[run] for run in shared], ddof=1)) * _t_factor(len(shared))


def final_values(cell: pl.DataFrame) -> tuple[int, dict[str, dict[RunKey, float]]]:
    """The last round that every policy of a cell reached, and each policy's values there, by run."""
    last = _last_shared_round(cell)
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
    cell: pl.DataFrame, outside: Collection[str], *, data: str, user: str, measure: Measure
) -> list[SummaryRow]:
    last, values = final_values(cell)
    where: dict[str, Any] = {"data": data, "user": user, "metric": measure.name, "round": last}
    where["direction"] = measure.direction
    rows = [SummaryRow(policy=policy, **where, **_spread(runs)) for policy, runs in values.items()]
    if measure.direction is None:
        return rows
    sign = -1 if measure.direction == "higher" else 1
    rows = _with_worst(rows, values, measure.direction, outside)
    ordered = sorted(rows, key=lambda row: (row.policy in outside, sign * row.mean, row.policy))
    rivals = [row for row in ordered if row.policy not in outside]
    return [*_compare_with_best(rivals, values), *ordered[len(rivals) :]]


def _with_worst(
    rows: Sequence[SummaryRow],
    values: Mapping[str, Mapping[RunKey, float]],
    direction: Direction,
    outside: Collection[str],
) -> list[SummaryRow]:
    """The rows with their worst runs, and how many are low; where all are outside, nothing is usual."""
    rivals = tuple(policy for policy in values if policy not in outside)
    low = low_runs(values, direction, rivals) if rivals else {}
    return [
        replace(row, worst=worst_run(values[row.policy], direction), low_runs=low.get(row.policy))
        for row in rows
    ]


def _last_shared_round(cell: pl.DataFrame) -> int:
    """The last round at which every policy of the cell has a value."""
    policies = cell["policy"].n_unique()
    reached = cell.group_by("round").agg(pl.col("policy").n_unique()).filter(pl.col("policy") == policies)
    if reached.is_empty():
        where = ", ".join(str(cell[column][0]) for column in CELL)
        raise DataError(f"({where}): the policies share no round at which they could be compared")
    return int(reached.select(pl.col("round").max()).item())


def _spread(runs: Mapping[RunKey, float]) -> dict[str, Any]:
    values = np.array([runs[run] for run in sorted(runs)])  # sorted: the same sum whatever order rows came in
    mean, count = float(values.mean()), {"runs": len(runs), "seeds": len({seed for _, seed in runs})}
    if len(runs) < 2:
        return {"mean": mean, "low": None, "high": None, **count}
    half = float(values.std(ddof=1)) * _t_factor(len(runs))
    return {"mean": mean, "low": mean - half, "high": mean + half, **count}


def _compare_with_best(
    rows: Sequence[SummaryRow], values: Mapping[str, Mapping[RunKey, float]]
) -> list[SummaryRow]:
    """Mark all policies that share the best mean, and test the others against the first of them."""
    if not rows:
        return []
    champion = rows[0]
    tested = {
        row.policy: p_value
        for row in rows
        if row.mean != champion.mean
        and (p_value := _chance_to_look_worse(values[row.policy], values[champion.policy], row.direction))
        is not None
    }
    corrected = dict(zip(tested, holm(np.array([*tested.values()])).tolist(), strict=True))
    return [replace(row, best=row.mean == champion.mean, p_value=corrected.get(row.policy)) for row in rows]


def _chance_to_look_worse(
    values: Mapping[RunKey, float], champion: Mapping[RunKey, float], direction: Direction | None
) -> float | None:
    """The paired p-value, but 1 where the runs both have do not even say worse (others are missing)."""
    behind = sum(champion[run] - values[run] for run in sorted(champion.keys() & values.keys()))
    p_value = paired_p_value(values, champion)
    if p_value is not None and (behind > 0) is not (direction == "higher"):
        return 1.0
    return p_value


def _t_factor(n: int) -> float:
    """What to multiply a standard deviation of `n` values with to get half of the interval."""
    return float(special.stdtrit(n - 1, (1 + CONFIDENCE) / 2)) / float(np.sqrt(n)) if n > 1 else float("nan")
