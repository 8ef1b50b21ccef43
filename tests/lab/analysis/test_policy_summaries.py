"""Means, intervals, tests and low runs, against SciPy and their formulas."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl
import pytest
from scipy import stats

from rankloop.errors import DataError
from rankloop.lab.analysis.policy_summaries import (
    PolicySummary,
    average_curves,
    count_low_runs,
    summarise,
)
from rankloop.lab.simulation.measures import Direction, Measure

COLUMNS = ["data", "fold", "user", "policy", "seed", "round", "metric", "value"]


def results(
    values: Mapping[str, Sequence[float]], *, metric: str = "nDCG@10", last: int = 100
) -> pl.DataFrame:
    """One value per policy and seed at the last round, and a worse one before."""
    rows = [
        ("world", "1", "perfect", policy, seed, number, metric, value / (1 + last - number))
        for policy, per_seed in values.items()
        for seed, value in enumerate(per_seed)
        for number in (last // 2, last)
    ]
    return pl.DataFrame(rows, schema=COLUMNS, orient="row")


def by_policy(frame: pl.DataFrame) -> dict[str, PolicySummary]:
    return {row.policy: row for row in summarise(frame)}


A, B, C = [0.61, 0.58, 0.66, 0.6], [0.5, 0.52, 0.55, 0.49], [0.6, 0.6, 0.61, 0.58]


def test_the_interval_is_students_t_over_runs() -> None:
    row = by_policy(results({"a": A}))["a"]
    low, high = stats.t.interval(0.95, 3, loc=np.mean(A), scale=stats.sem(A))
    assert (row.mean, row.low, row.high) == pytest.approx((np.mean(A), low, high))
    assert row.half_width == pytest.approx((high - low) / 2)
    assert (row.runs, row.seeds, row.round) == (4, 4, 100)


def test_every_policy_is_tested_against_the_best_with_holms_correction() -> None:
    rows = by_policy(results({"b": B, "a": A, "c": C}))
    raw = [stats.ttest_rel(A, other).pvalue for other in (B, C)]
    assert raw[0] < raw[1]
    assert rows["a"].best
    assert rows["a"].p_value is None
    assert rows["b"].p_value == pytest.approx(2 * raw[0])
    assert rows["c"].p_value == pytest.approx(max(2 * raw[0], raw[1]))


def test_rows_come_best_first_in_the_direction_of_the_metric() -> None:
    assert [row.policy for row in summarise(results({"b": B, "a": A}))] == ["a", "b"]
    assert [row.policy for row in summarise(results({"a": A, "b": B}, metric="pairwise regret"))] == [
        "b",
        "a",
    ]


def test_a_measure_says_itself_what_is_better() -> None:
    frame = results({"b": B, "a": A}, metric="my own")
    expected: list[tuple[Direction | None, list[str], str | None]] = [
        ("higher", ["a", "b"], "a"),
        ("lower", ["b", "a"], "b"),
        (None, ["b", "a"], None),  # a description has no best: policies stay as they came
    ]
    for direction, order, best in expected:
        rows = summarise(frame, measures={"my own": Measure("my own", direction=direction)})
        assert [row.policy for row in rows] == order
        assert {row.policy for row in rows if row.best} == ({best} if best else set())
        assert {row.direction for row in rows} == {direction}


def test_folds_and_seeds_make_runs() -> None:
    frame = pl.concat([results({"a": A}), results({"a": B}).with_columns(fold=pl.lit("2"))])
    row = by_policy(frame)["a"]
    assert (row.runs, row.seeds) == (8, 4)
    assert row.mean == pytest.approx(np.mean(A + B))


def test_one_run_has_no_interval_and_no_test() -> None:
    rows = by_policy(results({"a": [0.5], "b": [0.4]}))
    assert (rows["b"].low, rows["b"].high, rows["b"].half_width, rows["b"].p_value) == (
        None,
        None,
        None,
        None,
    )
    assert rows["a"].best


def test_equal_policies_are_both_best() -> None:
    rows = by_policy(results({"a": A, "twin": A, "b": B}))
    assert [rows[name].best for name in ("a", "twin", "b")] == [True, True, False]


def test_values_without_spread_need_no_warning() -> None:
    rows = by_policy(results({"a": [0.5] * 3, "b": [0.25] * 3}))
    assert (rows["a"].low, rows["a"].high) == (0.5, 0.5)
    assert rows["b"].p_value == 0.0


def test_only_runs_that_both_have_are_paired() -> None:
    frame = results({"a": A, "b": B}).filter(~((pl.col("policy") == "b") & (pl.col("seed") == 3)))
    row = by_policy(frame)["b"]
    assert row.runs == 3
    assert row.p_value == pytest.approx(stats.ttest_rel(A[:3], B[:3]).pvalue)


@pytest.mark.parametrize(("metric", "sign"), [("nDCG@10", 1), ("pairwise regret", -1)])
def test_a_policy_ahead_on_every_shared_run_is_never_called_worse(metric: str, sign: int) -> None:
    lucky = [0.5 + 0.1 * sign, 0.51 + 0.1 * sign, 0.49 + 0.1 * sign, 0.5 + 5 * sign]
    ahead = [0.5 + 0.2 * sign, 0.51 + 0.2 * sign, 0.49 + 0.21 * sign]  # but never met the lucky run
    rows = by_policy(results({"lucky": lucky, "ahead": ahead}, metric=metric))
    assert rows["lucky"].best
    assert rows["ahead"].p_value == 1.0


def test_policies_without_a_common_run_are_not_tested() -> None:
    frame = results({"a": A, "b": B}).with_columns(seed=pl.col("seed") + 10 * (pl.col("policy") == "b"))
    assert by_policy(frame)["b"].p_value is None


def test_a_run_still_going_is_compared_where_all_have_been() -> None:
    frame = results({"a": A, "b": B}).filter(~((pl.col("policy") == "b") & (pl.col("round") == 100)))
    assert {row.round for row in summarise(frame)} == {50}


def test_curves_have_a_band_at_every_round() -> None:
    frame = average_curves(results({"a": A, "single": [0.5]}))
    row = frame.row(by_predicate=(pl.col("policy") == "a") & (pl.col("round") == 100), named=True)
    low, high = stats.t.interval(0.95, 3, loc=np.mean(A), scale=stats.sem(A))
    assert (row["mean"], row["low"], row["high"]) == pytest.approx((np.mean(A), low, high))
    assert row["runs"] == 4
    assert frame.filter(pl.col("policy") == "single")["low"].to_list() == [None, None]


def test_json_rows_hold_nothing_that_json_does_not_know() -> None:
    rows = [each.to_json() for each in summarise(results({"a": [0.5], "b": [0.4]}))]
    again = json.loads(json.dumps(rows, allow_nan=False))
    assert (again[0]["low"], again[0]["runs"], again[0]["values"]) == (None, 1, [0.5])


def test_results_that_would_mislead_are_refused() -> None:
    good = results({"a": A})
    with pytest.raises(DataError, match=r"missing: \['seed'\]"):
        summarise(good.drop("seed"))
    with pytest.raises(DataError, match="no results"):
        summarise(good.clear())
    with pytest.raises(DataError, match="8 of 8 values are not finite; the first is"):
        summarise(good.with_columns(value=pl.lit(float("nan"))))
    with pytest.raises(DataError, match="appended twice"):
        average_curves(pl.concat([good, good]))
    late = results({"b": B}).with_columns(round=pl.col("round") + 1)
    with pytest.raises(DataError, match=r"world, perfect, nDCG@10.*share no round"):
        summarise(pl.concat([good, late]))


def test_a_description_has_no_best() -> None:
    rows = by_policy(results({"a": A, "b": B}, metric="block size at rank 1"))
    assert not any(row.best or row.p_value is not None for row in rows.values())
    assert rows["a"].low is not None


# Low runs

Runs = Mapping[str, Mapping[str, Sequence[float]]]  # by policy and world
WORLDS: Runs = {
    "steady": {"easy": (0.80, 0.82, 0.84), "hard": (0.40, 0.41, 0.35)},
    "bold": {"easy": (0.90, 0.86, 0.50), "hard": (0.20, 0.42, 0.43)},
    "oracle": {"easy": (0.99, 0.99, 0.99), "hard": (0.99, 0.99, 0.99)},
}
LOW = {"steady": 1, "bold": 2, "oracle": 0}  # below 7/8 of .86 and of .42: .7525, .3675


def in_worlds(values: Runs, metric: str = "offline nDCG@10", sign: float = 1.0) -> pl.DataFrame:
    rows = [
        ("worlds", fold, "user", policy, seed, 9, metric, sign * value)
        for policy, folds in values.items()
        for fold, runs in folds.items()
        for seed, value in enumerate(runs)
    ]
    return pl.DataFrame(rows, schema=COLUMNS, orient="row")


def test_a_run_is_low_by_what_is_usual_in_its_world() -> None:
    """An oracle that is shown for reference only says nothing of what is usual."""
    rows = {row.policy: row for row in summarise(in_worlds(WORLDS), reference_policies=["oracle"])}
    assert {policy: row.low_runs for policy, row in rows.items()} == LOW
    assert {policy: row.worst for policy, row in rows.items()} == {
        "steady": 0.35,
        "bold": 0.2,
        "oracle": 0.99,
    }


def test_where_less_is_better_high_runs_are_the_low_ones() -> None:
    turned = {policy: {"one": [2 - value for value in runs["easy"]]} for policy, runs in WORLDS.items()}
    rows = {
        row.policy: row
        for row in summarise(in_worlds(turned, "pairwise regret"), reference_policies=["oracle"])
    }
    assert rows["bold"].low_runs == 1  # 1.5; usual is 1.14
    assert rows["steady"].low_runs == 0
    assert rows["bold"].worst == pytest.approx(1.5)


def test_a_world_in_which_all_fail_has_no_low_run() -> None:
    rows = summarise(in_worlds({"a": {"one": (0.1, 0.1)}, "b": {"one": (0.1, 0.1)}}))
    assert [row.low_runs for row in rows] == [0, 0]


def test_a_world_that_no_rival_met_counts_no_low_run() -> None:
    runs = {"rival": {("1", 0): 0.5}, "other": {("1", 0): 0.2, ("2", 0): 0.1}}
    assert count_low_runs(runs, "higher", ["rival"]) == {"rival": 0, "other": 1}
