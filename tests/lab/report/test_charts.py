"""Learning curves: one panel per user, the same colour for a policy everywhere."""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np
import polars as pl
import pytest
import vl_convert

from rankloop.charts import PALETTE
from rankloop.errors import SettingError
from rankloop.lab.analysis.policy_summaries import curves
from rankloop.lab.report.chart_files import pictures
from rankloop.lab.report.curve_charts import MOST_POINTS, learning_curves, legend_of
from rankloop.lab.report.profile import fold_profiles, position_profile
from rankloop.lab.report.series_names import strokes

POLICIES = ["random", "PDGD", "DBGD"]
USERS = ["perfect", "navigational"]


def some_curves(*, seeds: int = 3, rounds: int = 5, data: str = "world") -> pl.DataFrame:
    rng = np.random.default_rng(3)
    rows = [
        (data, "1", user, policy, seed, number * 10, metric, float(rng.random() + level))
        for metric in ("offline nDCG@10", "pairwise regret")
        for user in USERS
        for level, policy in enumerate(POLICIES)
        for seed in range(seeds)
        for number in range(1, rounds + 1)
    ]
    columns = ["data", "fold", "user", "policy", "seed", "round", "metric", "value"]
    return curves(pl.DataFrame(rows, schema=columns, orient="row"))


def line_of(spec: dict[str, Any]) -> dict[str, Any]:
    (line,) = [layer for layer in spec["spec"]["layer"] if layer["mark"]["type"] == "line"]
    return dict(line)


def test_panels_are_users_in_the_order_of_the_results() -> None:
    spec = learning_curves(some_curves(), metric="offline nDCG@10").to_dict()
    assert spec["facet"]["column"]["sort"] == USERS


def test_the_legend_lists_the_best_policy_first_but_colours_follow_the_alphabet() -> None:
    for metric, best_first in (
        ("offline nDCG@10", ["DBGD", "PDGD", "random"]),
        ("pairwise regret", ["random", "PDGD", "DBGD"]),
    ):
        colour = line_of(learning_curves(some_curves(), metric=metric).to_dict())["encoding"]["color"]
        assert colour["legend"]["values"] == best_first
        assert colour["scale"] == {"domain": ["DBGD", "PDGD", "random"], "range": list(PALETTE[:3])}


def test_a_policy_keeps_its_colour_where_others_are_missing() -> None:
    frame = some_curves()
    partial = frame.filter((pl.col("policy") != "DBGD") | (pl.col("metric") == "pairwise regret"))
    colour = line_of(learning_curves(partial, metric="offline nDCG@10").to_dict())["encoding"]["color"]
    assert colour["legend"]["values"] == ["PDGD", "random"]
    assert colour["scale"]["domain"] == ["DBGD", "PDGD", "random"]


def test_more_policies_than_colours_are_told_apart_by_dashes() -> None:
    names = [f"policy {number:02}" for number in range(len(PALETTE) + 2)]
    assert strokes(names)[names[-1]].colour == PALETTE[1]
    frame = pl.concat([some_curves().with_columns(policy=pl.lit(name)) for name in names]).unique(
        maintain_order=True
    )
    dash = line_of(learning_curves(frame, metric="offline nDCG@10").to_dict())["encoding"]["strokeDash"]
    assert dash["scale"]["range"][-1] != dash["scale"]["range"][0]


def test_long_curves_are_thinned_but_keep_their_end() -> None:
    frame = some_curves(rounds=3 * MOST_POINTS)
    (values,) = learning_curves(frame, metric="offline nDCG@10").to_dict()["datasets"].values()
    rounds = sorted({value["round"] for value in values})
    assert len(rounds) <= MOST_POINTS
    assert rounds[-1] == 3 * MOST_POINTS * 10


def test_few_runs_have_no_band() -> None:
    kinds = [
        {
            layer["mark"]["type"]
            for layer in learning_curves(frame, metric="pairwise regret").to_dict()["spec"]["layer"]
        }
        for frame in (some_curves(seeds=1), some_curves(seeds=2), some_curves(seeds=3))
    ]
    assert kinds == [{"line"}, {"line"}, {"line", "area"}]


def test_the_first_rounds_do_not_squeeze_the_rest() -> None:
    frame = some_curves().with_columns(round=pl.col("round") * 100)
    blank = frame.filter(pl.col("round") == 1000).with_columns(
        round=pl.lit(1, dtype=pl.Int64), mean=pl.lit(-50.0)
    )
    spec = learning_curves(pl.concat([blank, frame]), metric="offline nDCG@10").to_dict()
    assert line_of(spec)["encoding"]["y"]["scale"]["domain"][0] >= 0
    assert line_of(spec)["mark"]["clip"]


def test_the_same_curves_give_the_same_chart() -> None:
    first, second = (
        learning_curves(some_curves(), metric="pairwise regret", interactive=True).to_json() for _ in range(2)
    )
    assert first == second


def test_a_chart_can_be_drawn() -> None:
    chart = learning_curves(some_curves(), metric="offline nDCG@10", dark=True)
    picture = vl_convert.vegalite_to_svg(json.dumps(chart.to_dict()))
    for text in (*POLICIES, *USERS, "rounds", "nDCG@10 on held-out queries"):
        assert f">{text}<" in picture


def test_what_is_not_there_meets_what_is() -> None:
    with pytest.raises(SettingError, match="no curve has the metric 'ERR'; there are: 'offline nDCG@10'"):
        learning_curves(some_curves(), metric="ERR")
    both = pl.concat([some_curves(), some_curves(data="MSLR")])
    with pytest.raises(SettingError, match="choose data from: 'MSLR', 'world'"):
        learning_curves(both, metric="pairwise regret")
    assert learning_curves(both, metric="pairwise regret", data="MSLR").to_dict()["facet"]


# Profiles


def some_profiles(*, policies: tuple[str, ...] = ("pairrank",), seeds: int = 3) -> pl.DataFrame:
    rows = [
        (
            "world",
            "1",
            user,
            policy,
            seed,
            number,
            f"block size at position {position}",
            float(seed + position),
        )
        for user in USERS
        for policy in policies
        for seed in range(seeds)
        for number in (1000, 10)
        for position in (1, 2, 10)
    ]
    rows.append(("world", "1", "perfect", "pairrank", 0, 10, "blocks", 3.0))
    columns = ["data", "fold", "user", "policy", "seed", "round", "metric", "value"]
    return fold_profiles(curves(pl.DataFrame(rows, schema=columns, orient="row")))


def test_points_become_a_profile_and_the_rest_stays() -> None:
    frame = some_profiles()
    assert frame["metric"].unique().sort().to_list() == ["block size by position", "blocks"]
    assert frame.filter(pl.col("metric") == "blocks")["position"].to_list() == [None]
    assert sorted(set(frame["position"].drop_nulls().to_list())) == [1, 2, 10]


def test_a_profile_has_a_line_per_round_from_early_to_late() -> None:
    spec = position_profile(some_profiles(), metric="block size by position").to_dict()
    encoding = line_of(spec)["encoding"]
    assert encoding["x"]["field"] == "position"
    assert encoding["color"]["scale"]["domain"] == [10, 1000]
    assert spec["facet"]["column"]["sort"] == USERS
    assert (
        encoding["y"]["scale"]["domain"][1] > 11
    )  # no round is left out: round 10 reaches as high as the last
    picture = vl_convert.vegalite_to_svg(json.dumps(spec))
    for text in ("after 10 rounds", "after 1,000 rounds", "position", "block size", *USERS):
        assert f">{text}<" in picture
    assert ">pairrank<" not in picture  # a single policy needs no name


def test_policies_of_a_profile_are_rows_of_panels() -> None:
    frame = some_profiles(policies=("one", "other"), seeds=1)
    spec = position_profile(frame, metric="block size by position", interactive=True, dark=True).to_dict()
    picture = vl_convert.vegalite_to_svg(json.dumps(spec))
    assert all(f">{text}<" in picture for text in ("one", "other"))


def test_the_png_is_that_of_the_specification_itself() -> None:
    """It is drawn from the SVG, so that Vega runs once; the bytes are the same."""
    chart = learning_curves(some_curves(), metric="offline nDCG@10").to_json()
    assert pictures("chart", chart)["chart.png"] == vl_convert.vegalite_to_png(chart, scale=2)


LONG = "PairRank(regularisation=0.1, certainty=Width(), exploration='random')"


def test_long_names_are_short_in_the_legend_and_whole_in_the_key() -> None:
    names = {"random": "pairrank", "PDGD": LONG}
    frame = some_curves().with_columns(policy=pl.col("policy").replace(names))
    picture = pictures("x", learning_curves(frame, metric="offline nDCG@10").to_json())["x.svg"].decode()
    shown = re.findall(r">([^<>]+)</text>", picture)
    assert {"pairrank", "pairrank-a", "DBGD"} <= set(shown)
    assert f"pairrank-a: {LONG}" in shown
    page = learning_curves(frame, metric="offline nDCG@10", interactive=True).to_dict()
    assert "title" not in page  # the page has the key
    (values,) = page["datasets"].values()
    assert LONG in {value["policy"] for value in values}  # whoever points at a line reads the whole name


def test_a_chart_has_few_lines_and_says_what_it_leaves_out() -> None:
    legend = legend_of(some_curves(), metric="offline nDCG@10", data=None, lines=2)
    assert (legend.shown, legend.left_out) == (["DBGD", "PDGD"], ["random"])
    outside = legend_of(some_curves(), metric="offline nDCG@10", data=None, lines=2, outside=["random"])
    assert outside.left_out == ["PDGD"]
    chart = learning_curves(some_curves(), metric="offline nDCG@10", lines=2).to_dict()
    (values,) = chart["datasets"].values()
    assert {value["policy"] for value in values} == {"DBGD", "PDGD"}
    assert chart["title"]["text"] == ["left out: random"]
    whole = learning_curves(some_curves(), metric="offline nDCG@10").to_dict()
    assert "title" not in whole
