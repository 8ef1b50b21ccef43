"""Charts: one panel per user, the same colour for a policy everywhere."""

from __future__ import annotations

import re
from typing import Any

import altair as alt
import numpy as np
import polars as pl
import pytest
import vl_convert

from rankloop.charts import PALETTE
from rankloop.errors import SettingError
from rankloop.lab.analysis.sweep_analysis import SweepAnalysis
from rankloop.lab.report.chart_files import render_chart
from rankloop.lab.report.chart_lines import MOST_POINTS, ChartStyle, choose_lines, list_charts
from rankloop.lab.report.curve_charts import draw_lines
from rankloop.lab.report.series_names import assign_line_styles

OFFLINE, REGRET, PROFILE = "offline nDCG@10", "pairwise regret", "block size by position"
POLICIES = ["random", "PDGD", "DBGD"]
USERS = ["perfect", "navigational"]
COLUMNS = ["data", "fold", "user", "policy", "seed", "round", "metric", "value"]


def some_results(*, seeds: int = 3, rounds: int = 5, data: str = "world") -> pl.DataFrame:
    rng = np.random.default_rng(3)
    rows = [
        (data, "1", user, policy, seed, number * 10, metric, float(rng.random() + level))
        for metric in (OFFLINE, REGRET)
        for user in USERS
        for level, policy in enumerate(POLICIES)
        for seed in range(seeds)
        for number in range(1, rounds + 1)
    ]
    return pl.DataFrame(rows, schema=COLUMNS, orient="row")


def chart(results: pl.DataFrame, metric: str, *, data: str | None = None, **style: Any) -> alt.FacetChart:
    analysis, chosen = SweepAnalysis(results), ChartStyle(**style)
    return draw_lines(choose_lines(analysis, metric, data=data, style=chosen), chosen)


def draw(results: pl.DataFrame, metric: str, **options: Any) -> dict[str, Any]:
    """The specification of one chart."""
    return chart(results, metric, **options).to_dict()


def picture(results: pl.DataFrame, metric: str, **options: Any) -> list[str]:
    """All text of the drawn chart."""
    svg = render_chart(chart(results, metric, **options), "svg")["svg"].decode()
    return re.findall(r">([^<>]+)</text>", svg)


def line_of(spec: dict[str, Any]) -> dict[str, Any]:
    (line,) = [layer for layer in spec["spec"]["layer"] if layer["mark"]["type"] == "line"]
    return dict(line)


def test_panels_are_users_in_the_order_of_the_results() -> None:
    assert draw(some_results(), OFFLINE)["facet"]["column"]["sort"] == USERS


@pytest.mark.parametrize("look", ["page", "picture", "paper"])
def test_the_legend_lists_the_best_policy_first_but_colours_follow_the_alphabet(look: str) -> None:
    for metric, best_first in (
        (OFFLINE, ["DBGD", "PDGD", "random"]),
        (REGRET, ["random", "PDGD", "DBGD"]),
    ):
        colour = line_of(draw(some_results(), metric, look=look))["encoding"]["color"]
        assert colour["legend"]["values"] == best_first
        assert colour["scale"] == {"domain": ["DBGD", "PDGD", "random"], "range": list(PALETTE[:3])}


def test_a_policy_keeps_its_colour_where_others_are_missing() -> None:
    frame = some_results()
    partial = frame.filter((pl.col("policy") != "DBGD") | (pl.col("metric") == REGRET))
    colour = line_of(draw(partial, OFFLINE))["encoding"]["color"]
    assert colour["legend"]["values"] == ["PDGD", "random"]
    assert colour["scale"]["domain"] == ["DBGD", "PDGD", "random"]


def test_more_policies_than_colours_are_told_apart_by_dashes() -> None:
    names = [f"policy {number:02}" for number in range(len(PALETTE) + 2)]
    assert assign_line_styles(names)[names[-1]].colour == PALETTE[1]
    one = some_results().filter(pl.col("policy") == "PDGD")
    frame = pl.concat([one.with_columns(policy=pl.lit(name)) for name in names])
    dash = line_of(draw(frame, OFFLINE))["encoding"]["strokeDash"]
    assert dash["scale"]["range"][-1] != dash["scale"]["range"][0]


def test_long_curves_are_thinned_but_keep_their_end() -> None:
    (values,) = draw(some_results(rounds=3 * MOST_POINTS), OFFLINE)["datasets"].values()
    rounds = sorted({value["round"] for value in values})
    assert len(rounds) <= MOST_POINTS
    assert rounds[-1] == 3 * MOST_POINTS * 10


def test_few_runs_have_no_band() -> None:
    kinds = [
        {layer["mark"]["type"] for layer in draw(some_results(seeds=seeds), REGRET)["spec"]["layer"]}
        for seeds in (1, 2, 3)
    ]
    assert kinds == [{"line"}, {"line"}, {"line", "area"}]


def test_the_first_rounds_do_not_squeeze_the_rest() -> None:
    frame = some_results().with_columns(round=pl.col("round") * 100)
    blank = frame.filter(pl.col("round") == 1000)
    blank = blank.with_columns(round=pl.lit(1, dtype=pl.Int64), value=pl.lit(-50.0))
    spec = draw(pl.concat([blank, frame]), OFFLINE)
    assert line_of(spec)["encoding"]["y"]["scale"]["domain"][0] >= 0
    assert line_of(spec)["mark"]["clip"]


@pytest.mark.parametrize("look", ["page", "picture", "paper"])
def test_the_same_results_give_the_same_chart(look: str) -> None:
    first, second = (chart(some_results(), REGRET, look=look).to_json() for _ in range(2))
    assert first == second


def test_a_chart_can_be_drawn() -> None:
    found = picture(some_results(), OFFLINE, dark=True)
    assert {*POLICIES, *USERS, "rounds", "nDCG@10 on held-out queries"} <= set(found)
    assert "cumulative pairwise regret (lower is better)" in picture(some_results(), REGRET)


def test_what_is_not_there_meets_what_is() -> None:
    with pytest.raises(SettingError, match="no curve has the metric 'ERR'; there are: 'offline nDCG@10'"):
        draw(some_results(), "ERR")
    both = pl.concat([some_results(), some_results(data="MSLR")])
    with pytest.raises(SettingError, match="choose data from: 'MSLR', 'world'"):
        draw(both, REGRET)
    with pytest.raises(SettingError, match="choose data from: 'MSLR', 'world'"):
        draw(both, REGRET, data="elsewhere")
    assert draw(both, REGRET, data="MSLR")["facet"]


def test_the_same_chart_gives_the_same_files_and_the_png_is_that_of_vega() -> None:
    """They are drawn from the SVG, so that Vega runs once; the bytes are the same."""
    drawn = chart(some_results(), OFFLINE)
    files = render_chart(drawn, "svg", "png")
    assert render_chart(drawn, "svg", "png") == files
    assert render_chart(drawn, "pdf")["pdf"].startswith(b"%PDF")
    assert files["png"] == vl_convert.vegalite_to_png(drawn.to_json(), scale=2)


LONG = "PairRank(regularisation=0.1, certainty=Width(0.01), exploration='random')"


@pytest.mark.parametrize("look", ["picture", "paper"])
def test_long_names_are_short_in_the_legend_and_whole_in_the_key(look: str) -> None:
    names = {"random": "PairRank", "PDGD": LONG}
    frame = some_results().with_columns(policy=pl.col("policy").replace(names))
    shown = picture(frame, OFFLINE, look=look)
    assert {"PairRank", "PairRank-a", "DBGD"} <= set(shown)
    assert (f"PairRank-a: {LONG}" in shown) is (look == "picture")  # a caption has that of a paper
    page = draw(frame, OFFLINE, look="page")
    assert "title" not in page  # the page has the key
    (values,) = page["datasets"].values()
    assert LONG in {value["policy"] for value in values}  # whoever points at a line reads the whole name


def test_a_chart_has_few_lines_and_says_what_it_leaves_out() -> None:
    two = ChartStyle(lines=2)
    lines = choose_lines(SweepAnalysis(some_results()), OFFLINE, style=two)
    assert (lines.shown, lines.left_out) == (["DBGD", "PDGD"], ["random"])
    reference = SweepAnalysis(some_results(), reference_policies=["random"])
    assert choose_lines(reference, OFFLINE, style=two).left_out == ["PDGD"]
    spec = draw(some_results(), OFFLINE, lines=2)
    (values,) = spec["datasets"].values()
    assert {value["policy"] for value in values} == {"DBGD", "PDGD"}
    assert spec["title"]["text"] == ["left out: random"]
    assert "title" not in draw(some_results(), OFFLINE)


# Profiles


def some_profiles(*, policies: tuple[str, ...] = ("PairRank",), seeds: int = 3) -> pl.DataFrame:
    rows = [
        ("world", "1", user, policy, seed, number, f"block size at position {place}", float(seed + place))
        for user in USERS
        for policy in policies
        for seed in range(seeds)
        for number in (1000, 10)
        for place in (1, 2, 10)
    ]
    rows.append(("world", "1", "perfect", "PairRank", 0, 10, "blocks", 3.0))
    return pl.DataFrame(rows, schema=COLUMNS, orient="row")


def test_points_become_a_profile_and_the_rest_stays() -> None:
    analysis = SweepAnalysis(some_profiles())
    assert list_charts(analysis) == [(PROFILE, "world"), ("blocks", "world")]
    assert sorted(set(choose_lines(analysis, PROFILE).means["position"])) == [1, 2, 10]
    assert choose_lines(analysis, "blocks").means["position"].to_list() == [None]


def test_a_profile_has_a_line_per_round_from_early_to_late() -> None:
    spec = draw(some_profiles(), PROFILE)
    encoding = line_of(spec)["encoding"]
    assert encoding["x"]["field"] == "position"
    assert encoding["color"]["scale"]["domain"] == [10, 1000]
    assert spec["facet"]["column"]["sort"] == USERS
    assert encoding["y"]["scale"]["domain"][1] > 11  # round 10 reaches as high as the last, and is shown
    found = picture(some_profiles(), PROFILE)
    assert {"after 10 rounds", "after 1,000 rounds", "position", "block size", *USERS} <= set(found)
    assert "PairRank" not in found  # a single policy needs no name


def test_policies_of_a_profile_are_rows_of_panels() -> None:
    found = picture(some_profiles(policies=("one", "other"), seeds=1), PROFILE, look="page", dark=True)
    assert {"one", "other"} <= set(found)
