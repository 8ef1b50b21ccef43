"""A result table says the same in the terminal, in Markdown, in HTML and in LaTeX."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from rankloop.errors import SettingError
from rankloop.lab.analysis.sweep_analysis import SweepAnalysis
from rankloop.lab.report.latex_text import SPECIAL
from rankloop.lab.report.result_tables import (
    ResultTable,
    TableCell,
    TableRow,
    build_change_table,
    build_summary_table,
    build_tables,
    build_worst_table,
)
from rankloop.lab.report.table_formats import to_html, to_latex, to_markdown, to_rich

METRIC = "nDCG@10"
SPREAD = np.array([-0.01, 0.0, 0.01, -0.005, 0.005])
MEANS = {  # by user and policy; so far apart, or so near, that the tests are clear
    "perfect": {"PDGD": 0.5, "DBGD": 0.4},
    "noisy": {"PDGD": 0.41, "MGD": 0.47, "DBGD": 0.469},
}


def results(
    means: Mapping[str, Mapping[str, float]] = MEANS,
    *,
    metric: str = METRIC,
    data: Sequence[str] = ("world",),
    folds: Sequence[str] = ("1",),
    seeds: int = 5,
) -> pl.DataFrame:
    rows = [
        (name, fold, user, policy, seed, 10_000, metric, mean + wobble)
        for name in data
        for fold in folds
        for user, own in means.items()
        for place, (policy, mean) in enumerate(own.items())
        for seed, wobble in enumerate(np.roll(SPREAD, place)[:seeds] * abs(mean))
    ]
    columns = ["data", "fold", "user", "policy", "seed", "round", "metric", "value"]
    return pl.DataFrame(rows, schema=columns, orient="row")


def summary(frame: pl.DataFrame | None = None, metric: str = METRIC, **facts: Any) -> ResultTable:
    return build_summary_table(SweepAnalysis(results() if frame is None else frame, **facts), metric)


# Every format holds the same numbers


def printed(table: ResultTable) -> str:
    console = Console(width=200, force_terminal=False, color_system=None)
    with console.capture() as capture:
        console.print(to_rich(table))
    return capture.get()


def latex(table: ResultTable) -> str:
    names = {name: name for row in table.rows for name in row.names}
    return to_latex(table, label="x", names=names)


def cells_of_rich(table: ResultTable) -> list[list[str]]:
    rows = [line.strip("│\n").split("│") for line in printed(table).splitlines() if line.startswith("│")]
    return [[*row] for row in rows]


def cells_of_markdown(table: ResultTable) -> list[list[str]]:
    rows = [line[2:-2].split(" | ") for line in to_markdown(table).splitlines() if line.startswith("| ")]
    return [[cell.replace("*", "").replace("\\", "") for cell in row] for row in rows[2:]]


def cells_of_html(table: ResultTable) -> list[list[str]]:
    page = re.sub(r"<svg.*?</svg>", "", to_html(table)).partition("<tbody>")[2]
    rows = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row) for row in re.findall(r"<tr>(.*?)</tr>", page)]
    return [[html.unescape(re.sub("<[^>]+>", " ", cell)) for cell in row] for row in rows]


def cells_of_latex(table: ResultTable) -> list[list[str]]:
    """The cells, each with the name of its dataset before it if there are several."""
    rows: list[list[str]] = []
    group: list[str] = []
    for line in latex(table).split(r"\midrule", 1)[1].partition(r"\bottomrule")[0].splitlines():
        if line.endswith(r"\\"):
            cells = [plain(cell) for cell in re.split(r"(?<!\\)&", line[:-2])]
            group = cells if "multicolumn" in line else group
            rows += [] if "multicolumn" in line else [[*group, *cells]]
    return rows


def plain(text: str) -> str:
    r"""What LaTeX would print, without its commands for bold, italic, small and raised type."""
    text = re.sub(r"\\multicolumn\{\d\}\{l\}|\\(textbf|textit|emph|textsuperscript|scriptsize)\b", " ", text)
    text = text.replace("$-$", "-")
    for sign, command in sorted(SPECIAL.items(), key=lambda pair: -len(pair[1])):
        text = text.replace(command, sign)
    return text.replace("{", " ").replace("}", " ")


FORMATS = [cells_of_rich, cells_of_markdown, cells_of_html, cells_of_latex]


def said(table: ResultTable) -> list[list[str]]:
    """What a table says, cell by cell."""
    return [
        [*row.names, *(f"{cell.text} {cell.mark} {cell.note}" for cell in row.cells)] for row in table.rows
    ]


def words(rows: list[list[str]]) -> list[list[list[str]]]:
    return [[re.sub(r"([▽▼△▲])", r" \1 ", cell).split() for cell in row] for row in rows]


COMPARED = SweepAnalysis(
    pl.concat([results(data=["world", "web"]), results({"perfect": {"new": 0.45}, "noisy": {"new": 0.3}})]),
    compare_with={"DBGD": "PDGD", "new": "PDGD"},
    reference_policies=["MGD"],
)
TABLES = {
    "summary": build_summary_table(COMPARED, METRIC),
    "summary with worst runs": build_summary_table(COMPARED, METRIC, with_worst=True),
    "worst runs": build_worst_table(COMPARED, METRIC),
    "changes": build_change_table(COMPARED, METRIC),
    "large numbers": summary(results({"perfect": {"PDGD": 123_456.0, "DBGD": 120_001.5}})),
    "losses": summary(results({"perfect": {"PDGD": -0.5, "DBGD": -0.6}})),
}


@pytest.mark.parametrize("cells", FORMATS)
@pytest.mark.parametrize("name", TABLES)
def test_every_format_of_a_table_holds_the_same_numbers(
    name: str, cells: Callable[[ResultTable], list[list[str]]]
) -> None:
    assert words(cells(TABLES[name])) == words(said(TABLES[name]))


CELLS = st.builds(
    TableCell,
    text=st.floats(-1e6, 1e6).map(lambda value: f"{value:,.4f} ± {abs(value):,.4f}"),
    mark=st.sampled_from(["", "▽", "▼", "△", "▲"]),
    best=st.booleans(),
    note=st.sampled_from(["", "(0.5)", "sd × 1.20"]),
)


@settings(max_examples=50)
@given(st.lists(st.tuples(CELLS, CELLS), min_size=1, max_size=4))
def test_so_does_any_table(cells: list[tuple[TableCell, TableCell]]) -> None:
    rows = tuple(TableRow(names=(f"p{number}",), cells=pair) for number, pair in enumerate(cells))
    table = ResultTable(title="t", headings=("policy", "one", "two"), rows=rows, name_columns=1, caption="c")
    for read in FORMATS:
        assert words(read(table)) == words(said(table))


@pytest.mark.parametrize("form", [printed, to_markdown, to_html, latex])
def test_every_format_has_the_headings_and_the_caption(form: Callable[[ResultTable], str]) -> None:
    text = (
        html.unescape(plain(form(TABLES["summary"]).replace("\\<", "<"))).replace("†", "▽").replace("‡", "▼")
    )
    squeezed = re.sub(r"[\s|]+", "", text)
    for part in (*TABLES["summary"].headings[1:], TABLES["summary"].caption, METRIC):
        assert re.sub(r"\s+", "", part) in squeezed


# What the tables say


def test_the_best_is_marked_and_what_is_worse_beyond_luck() -> None:
    table = summary()
    assert [row.names for row in table.rows] == [("MGD",), ("PDGD",), ("DBGD",)]
    shown = {row.names[0]: [(cell.best, cell.mark) for cell in row.cells] for row in table.rows}
    assert shown["PDGD"] == [(True, ""), (False, "▼")]
    assert shown["MGD"] == [(False, ""), (True, "")]
    assert shown["DBGD"] == [(False, "▼"), (False, "")]
    assert table.rows[0].cells[0] == TableCell()  # it never met this user
    lines = to_markdown(table).splitlines()
    assert lines[2:5] == [
        "| policy | perfect | noisy |",
        "| :-- | --: | --: |",
        "| MGD | – | **0.4700 ± 0.0046** |",
    ]


def test_the_caption_explains_everything_the_table_uses() -> None:
    caption = summary().caption
    for part in (
        "95 %",
        "over 5 runs",
        "after 10,000 rounds on world",
        "higher is better",
        "▼ p < .01",
        "Holm",
    ):
        assert part in caption
    assert "In italics" not in caption
    assert "In italics: for reference only." in summary(reference_policies=["MGD"]).caption


def test_only_offline_metrics_say_how_many_queries_they_rest_on() -> None:
    for metric, rests in (("offline nDCG@10", True), ("online nDCG@10", False)):
        counted = summary(results(metric=metric), metric, query_counts={"world": [60]})
        assert ("60 test queries: few" in counted.caption) is rests
        assert "test queries" not in summary(results(metric=metric), metric).caption


def test_lower_is_better_turns_the_table_round() -> None:
    costs = {user: {name: 1e5 * mean for name, mean in own.items()} for user, own in MEANS.items()}
    table = summary(results(costs, metric="pairwise regret"), "pairwise regret")
    assert [row.names[0] for row in table.rows] == ["DBGD", "PDGD", "MGD"]
    assert table.rows[0].cells[0].text.startswith("40,000")
    assert table.rows[0].cells[0].best
    assert "lower is better" in table.caption


def test_several_data_sets_have_a_column_and_an_order_of_their_own() -> None:
    turned = {"perfect": {name: 1 - mean for name, mean in MEANS["perfect"].items()}}
    frame = pl.concat([results({"perfect": MEANS["perfect"]}), results(turned, data=["MSLR"])])
    table = summary(frame)
    assert table.headings == ("data", "policy", "perfect")
    assert [row.names for row in table.rows] == [
        ("world", "PDGD"),
        ("world", "DBGD"),
        ("MSLR", "DBGD"),
        ("MSLR", "PDGD"),
    ]
    assert "on world" not in table.caption


@pytest.mark.parametrize(("seeds", "told"), [(1, "1 seed on"), (2, "2 seeds on"), (5, "5 seeds on")])
def test_runs_over_folds_say_so(seeds: int, told: str) -> None:
    assert told in summary(results(folds=["1", "2", "3"], seeds=seeds)).caption


def test_a_single_run_says_so_and_has_no_table_of_worst_runs() -> None:
    (table,) = build_tables(SweepAnalysis(results(seeds=1)), METRIC)
    assert table.caption.startswith("One run after 10,000 rounds")
    assert "±" not in to_markdown(table)
    assert len(build_tables(SweepAnalysis(results(seeds=2)), METRIC)) == 2


def test_worst_runs_stand_with_the_number_of_low_ones() -> None:
    frame = results({"user": {"steady": 0.55, "lucky": 0.6}}).with_columns(
        value=pl.when((pl.col("policy") == "lucky") & (pl.col("seed") < 2))
        .then(0.1)
        .otherwise(pl.col("value"))
    )
    table = build_worst_table(SweepAnalysis(frame), METRIC)
    assert {row.names[0]: row.cells[0].text for row in table.rows} == {
        "steady": "0.5445, 0 of 5 low",
        "lucky": "0.1000, 2 of 5 low",
    }


def test_changes_have_a_row_per_policy_and_a_column_per_user() -> None:
    table = TABLES["changes"]
    assert table.headings == ("data", "policy", "compared with", "perfect", "noisy", "all users")
    assert [row.names for row in table.rows] == [
        ("world", "DBGD", "PDGD"),
        ("world", "new", "PDGD"),
        ("web", "DBGD", "PDGD"),
    ]
    first = table.rows[0].cells[0]
    assert (first.text.partition(" ±")[0], first.mark, first.note) == ("-20.0", "▼", "sd × 0.80")


STRANGE = "[bold]a|b</td><script>*x*"


def test_names_are_shown_as_they_are() -> None:
    table = summary(results({"u": {STRANGE: 0.5}}))
    assert STRANGE in printed(table)
    assert r"\[bold\]a\|b\</td\>\<script\>\*x\*" in to_markdown(table)
    assert "[bold]a|b&lt;/td&gt;&lt;script&gt;*x*" in to_html(table)
    assert "<script" not in to_html(table)


def test_a_metric_that_is_not_there_meets_those_that_are() -> None:
    with pytest.raises(SettingError, match="no metric 'ERR'; it has: nDCG@10"):
        summary(metric="ERR")


def test_a_description_has_no_best_and_no_worst() -> None:
    tables = build_tables(SweepAnalysis(results(metric="blocks")), "blocks")
    assert len(tables) == 1
    text = to_markdown(tables[0])
    assert "a description, neither better nor worse" in text
    assert "Bold" not in text
    assert "p \\< .05" not in text
