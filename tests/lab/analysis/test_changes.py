"""Changes against another policy are what they are, and are marked only if they are more than luck."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy import stats

from rankloop.errors import SettingError
from rankloop.lab.analysis.changes import Change, find_changes
from rankloop.lab.analysis.sweep_analysis import SweepAnalysis
from rankloop.lab.simulation.protocol import Protocol
from rankloop.lab.sweeps.sweep import Sweep
from rankloop.lab.users import PresetUser
from rankloop.policies import MGD, Random

PLAIN = np.array([10.0, 12.0, 11.0, 13.0, 12.0, 14.0])
NOISE = np.array([0.1, -0.1, 0.2, -0.2, 0.0, 0.0])


def results(metric: str = "offline nDCG@10", **policies: np.ndarray) -> pl.DataFrame:
    rows = [
        ("world", "1", user, policy, seed, 100, metric, float(value))
        for user in ("perfect", "navigational")
        for policy, values in {"plain": PLAIN, **policies}.items()
        for seed, value in enumerate(values)
    ]
    columns = ["data", "fold", "user", "policy", "seed", "round", "metric", "value"]
    return pl.DataFrame(rows, schema=columns, orient="row")


def change(metric: str = "offline nDCG@10", *, new: np.ndarray) -> Change:
    return find_changes(results(metric, new=new), {"new": "plain"})[0]


def test_a_change_is_relative_to_the_other_policy() -> None:
    found = change(new=1.1 * PLAIN)
    assert found.mean == pytest.approx(0.1)
    assert found.spread == pytest.approx(1.1)
    assert (found.policy, found.compared_with, found.user) == ("new", "plain", "perfect")
    assert change(new=PLAIN - 1 + NOISE).mean == pytest.approx(-1 / 12)


def test_the_interval_of_a_change_is_that_of_the_paired_differences() -> None:
    low, high = stats.t.interval(0.95, 5, loc=1 + NOISE.mean(), scale=NOISE.std(ddof=1) / np.sqrt(6))
    found = change(new=PLAIN + 1 + NOISE)
    assert found.half_width == pytest.approx((high - low) / 2 / PLAIN.mean())


@pytest.mark.parametrize(
    ("new", "mark", "mark_of_regret"),
    [
        (PLAIN + 1 + NOISE, "▲", "▼"),
        (PLAIN - 1 + NOISE, "▼", "▲"),
        (PLAIN + 0.17 + NOISE, "△", "▽"),
        (PLAIN + NOISE, "", ""),
    ],
)
def test_marks_say_better_or_worse_beyond_luck(new: np.ndarray, mark: str, mark_of_regret: str) -> None:
    assert change(new=new).mark == mark
    assert change("pairwise regret", new=new).mark == mark_of_regret


def test_only_runs_that_both_have_are_compared() -> None:
    """Policies that were never run on the two hard runs do not look better for it."""
    lucky = results(new=PLAIN + 1 + NOISE).filter((pl.col("policy") == "plain") | (pl.col("seed") < 4))
    extreme = (
        pl.when((pl.col("policy") == "plain") & (pl.col("seed") >= 4)).then(100.0).otherwise(pl.col("value"))
    )
    found = find_changes(lucky.with_columns(value=extreme), {"new": "plain"})[0]
    assert found.mean == pytest.approx((1 + NOISE[:4].mean()) / PLAIN[:4].mean())
    assert found.mark == "▲"
    apart = lucky.filter((pl.col("policy") == "plain") ^ (pl.col("seed") < 3))
    assert find_changes(apart, {"new": "plain"}) == []


def test_descriptions_are_not_graded() -> None:
    found = change("certain pairs in the top 10", new=PLAIN + 1 + NOISE)
    assert found.mean == pytest.approx(1 / 12)
    assert (found.p_value, found.mark) == (None, "")


def test_p_values_of_one_user_are_corrected_together() -> None:
    new = PLAIN + 0.17 + NOISE
    alone = find_changes(results(new=new), {"new": "plain"})
    both = find_changes(results(new=new, twin=new), {"new": "plain", "twin": "plain"})
    assert alone[0].p_value is not None
    assert [each.p_value for each in both] == pytest.approx([2 * alone[0].p_value] * 6)


def test_several_users_are_averaged_run_by_run() -> None:
    frame = results(new=PLAIN + 1 + NOISE)
    worse = (pl.col("policy") == "new") & (pl.col("user") == "navigational")
    frame = frame.with_columns(value=pl.when(worse).then(pl.col("value") - 0.5).otherwise(pl.col("value")))
    perfect, navigational, everyone = find_changes(frame, {"new": "plain"})
    assert [each.user for each in (perfect, navigational, everyone)] == [
        "perfect",
        "navigational",
        "all users",
    ]
    assert everyone.mean == pytest.approx((1 - 0.5 / 2 + NOISE.mean()) / PLAIN.mean())
    assert everyone.p_value == pytest.approx(stats.ttest_1samp(0.75 + NOISE, 0).pvalue)
    one_user = frame.filter(pl.col("user") == "perfect")
    assert find_changes(one_user, {"new": "plain"}) == [perfect]


def test_a_run_that_did_not_meet_all_users_has_no_average() -> None:
    missed = (pl.col("user") == "navigational") & (pl.col("seed") == 5) & (pl.col("policy") == "new")
    frame = results(new=PLAIN + 1 + NOISE)
    *_, everyone = find_changes(frame.filter(~missed), {"new": "plain"})
    assert everyone.mean == pytest.approx((1 + NOISE[:5].mean()) / PLAIN[:5].mean())


def test_single_runs_and_zeros_have_no_ratio() -> None:
    one = results(new=np.array([3.0])).filter(pl.col("seed") == 0)
    found = find_changes(one, {"new": "plain"})[0]
    assert found.mean == pytest.approx(-0.7)
    assert (found.spread, found.half_width, found.p_value) == (None, None, None)
    nothing = one.with_columns(value=pl.lit(0.0))
    assert find_changes(nothing, {"new": "plain"})[0].mean is None


def test_an_analysis_has_the_changes_of_its_policies() -> None:
    frame = results(new=PLAIN + 1 + NOISE)
    analysis = SweepAnalysis(frame, compare_with={"new": "plain"})
    assert analysis.changes == find_changes(frame, {"new": "plain"})
    assert SweepAnalysis(frame).changes == []


def test_a_sweep_compares_its_own_policies() -> None:
    with pytest.raises(SettingError, match="compare_with must name policies of the sweep, found pdgd"):
        Sweep(
            data=["linear"],
            users={"perfect": PresetUser("perfect")},
            policies={"mgd": MGD(), "random": Random()},
            protocol=Protocol(rounds=3),
            compare_with={"mgd": "pdgd"},
        )
