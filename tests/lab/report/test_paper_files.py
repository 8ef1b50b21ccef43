"""Files for a paper: tables that LaTeX can read, figures as wide as a column."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from rankloop.charts import PALETTE
from rankloop.errors import SettingError
from rankloop.lab.analysis.policy_summaries import SummaryRow, curves, summarise
from rankloop.lab.analysis.query_counts import graded_queries, queries_note
from rankloop.lab.data import load
from rankloop.lab.report.chart_lines import FigureStyle
from rankloop.lab.report.curve_charts import chosen_lines
from rankloop.lab.report.latex_text import escape, summary_latex
from rankloop.lab.report.paper_figure import paper_figure, smoothed
from rankloop.lab.report.paper_files import write_figures, write_tables
from rankloop.lab.report.series_names import short_names, strokes
from rankloop.lab.simulation.protocol import Protocol
from rankloop.lab.sweeps.sweep import Sweep
from rankloop.lab.users import PresetUser
from rankloop.policies import Random

METRIC = "offline nDCG@10"
NASTY = r"50 % of {a_b} & $c$ #1 ^~ \d"
LONG = "PairRank(regularisation=0.1, certainty=Width(), exploration='random')"
POLICIES = ["pairrank", LONG, "MGD(step_size=0.1)", NASTY, "skyline"]
USERS = ["perfect", "informational"]


def some_results(*, data: tuple[str, ...] = ("mq_2008",), policies: list[str] = POLICIES) -> pl.DataFrame:
    rng = np.random.default_rng(5)
    rows = [
        (name, "1", user, policy, seed, number * 100, METRIC, 0.9 - level / 10 + rng.random() / 50)
        for name in data
        for user in USERS
        for level, policy in enumerate(policies)
        for seed in range(4)
        for number in range(1, 6)
    ]
    columns = ["data", "fold", "user", "policy", "seed", "round", "metric", "value"]
    return pl.DataFrame(rows, schema=columns, orient="row")


def some_rows(**choice: tuple[str, ...]) -> list[SummaryRow]:
    return summarise(some_results(**choice), outside=["skyline"])  # type: ignore[arg-type]


def plain(latex: str) -> str:
    """What is left when commands and escaped signs are taken away."""
    return re.sub(r"\\(?:[a-zA-Z]+|[^a-zA-Z])", "", latex)


def test_any_name_is_printed_as_it_is() -> None:
    assert escape("a_b & 5 %") == r"a\_b \& 5 \%"
    assert not set("&%#_^~$") & set(plain(escape(NASTY)))
    assert escape("{") + escape("}") == r"\{\}"


def test_a_table_has_a_cell_for_every_column_and_closes_what_it_opens() -> None:
    for data in (("mq_2008",), ("mq_2008", "web & more")):
        table = summary_latex(some_rows(data=data), metric=METRIC, outside=["skyline"])
        lines = [line for line in table.splitlines() if line.endswith(r"\\") and "multicolumn" not in line]
        assert len(lines) == 1 + len(POLICIES) * len(data)
        assert {len(re.findall(r"(?<!\\)&", line)) for line in lines} == {len(USERS)}
        opened, closed = (re.findall(rf"\\{word}{{(\w+\*?)}}", table) for word in ("begin", "end"))
        assert opened == closed[::-1] == ["table*", "tabular"]
        assert plain(table).count("{") == plain(table).count("}")
        assert re.sub(r"\\\$", "", table).count("$") % 2 == 0
        assert table.count("multicolumn") == (len(data) if len(data) > 1 else 0)


def test_the_best_is_bold_and_the_rest_has_daggers() -> None:
    table = summary_latex(some_rows(), metric=METRIC, outside=["skyline"])
    best, worse = (
        next(line for line in table.splitlines() if line.startswith(name)) for name in ("pairrank ", "MGD ")
    )
    assert best.count(r"\mathbf") == len(USERS)
    assert r"\dagger" not in best.replace(r"\phantom{^{\ddagger}}", "")
    assert worse.count(r"^{\ddagger}$") == len(USERS)
    assert r"\textit{skyline}" in table


def test_a_caption_says_what_the_numbers_rest_on() -> None:
    table = summary_latex(some_rows(), metric=METRIC, queries={"mq_2008": "156 test queries"})
    caption = next(line for line in table.splitlines() if line.startswith(r"\caption"))
    for text in (r"mq\_2008", "500 rounds", "4 seeds", "Means over 156 test queries.", "Holm"):
        assert text in caption
    key = next(line for line in table.splitlines() if "Key: " in line)
    assert key.replace(r"\allowbreak{}", "").count(escape(LONG)) == 1  # what its short name stands for
    assert escape(LONG) not in table.replace(key, "").replace(r"\allowbreak{}", "")


def test_beside_each_mean_stands_its_worst_run() -> None:
    results = some_results()
    table = summary_latex(summarise(results), metric=METRIC)
    last = results.filter(pl.col("policy") == "pairrank", pl.col("round") == 500)
    worst = [min(last.filter(pl.col("user") == user)["value"].to_list()) for user in USERS]
    (line,) = (line for line in table.splitlines() if line.startswith("pairrank &"))
    assert re.findall(r"scriptsize\(\$([\d.]+)\$\)", line) == [f"{value:.4f}" for value in worst]
    assert "in parentheses the worst run" in table


def test_nobody_is_left_to_guess_how_many_test_queries_there_were() -> None:
    assert "not known of mq" in summary_latex(some_rows(), metric=METRIC)
    assert "not known" in queries_note({})


def test_the_test_queries_that_enter_the_mean_are_counted() -> None:
    whole = load("linear")
    grades = whole.test.relevance.copy()
    ends = list(zip(whole.test.offsets[:-1], whole.test.offsets[1:], strict=True))
    for start, end in ends[:30]:
        grades[start:end] = 0
    data = replace(whole, test=replace(whole.test, relevance=grades))
    relevant = sum(bool(grades[start:end].any()) for start, end in ends)
    assert relevant <= len(ends) - 30
    for without, count in (("skip", relevant), ("zero", len(ends))):
        sweep = Sweep(
            data=[data],
            users={"perfect": PresetUser("perfect")},
            policies={"random": Random()},
            protocol=Protocol(without_relevant=without),  # type: ignore[arg-type]
        )
        counted = graded_queries(sweep)
        assert counted == {data.name: (count,)}
        assert ("few" in queries_note(counted)) is (count < 100)


def test_short_names_are_short_and_differ() -> None:
    names = [f"pairrank(certainty=Width({10.0**-n:g}))" for n in range(5)] + POLICIES
    short = short_names(names)
    assert len(set(short.values())) == len(names)
    assert short["pairrank"] == "pairrank"
    assert short["MGD(step_size=0.1)"] == "MGD"
    assert all(len(brief) <= 26 for name, brief in short.items() if name != NASTY)


def test_a_family_has_one_hue_and_no_two_strokes_are_alike() -> None:
    names = ["dbgd", "pairrank", *(f"pairrank(x={n})" for n in range(8))]
    drawn = strokes(names)
    assert (drawn["dbgd"].colour, drawn["pairrank"].colour) == PALETTE[:2]
    assert len(set(drawn.values())) == len(names)
    assert not {stroke.colour for name, stroke in drawn.items() if name != "dbgd"} & {
        PALETTE[0],
        *PALETTE[2:],
    }


def test_few_lines_are_drawn_and_every_family_has_one() -> None:
    ordered = ["a", "a(x=1)", "a(x=2)", "b", "c", "taught"]
    shown, left_out = chosen_lines(ordered, 4, outside=["taught"])
    assert (shown, left_out) == (["a", "b", "c", "taught"], ["a(x=1)", "a(x=2)"])
    assert chosen_lines(ordered, 8) == (ordered, [])


def test_smoothing_averages_within_a_run_before_runs_are_averaged() -> None:
    frame = some_results(policies=["pairrank"])
    means, smooth = (
        curves(each).filter(pl.col("user") == "perfect")["mean"] for each in (frame, smoothed(frame, 2))
    )
    expected = [means[0], *((means[:-1] + means[1:]) / 2).to_list()]
    np.testing.assert_allclose(smooth.to_list(), expected)
    assert smoothed(frame, 1) is frame


@pytest.mark.parametrize("width", [240, 505])
def test_a_figure_is_as_wide_as_asked_and_names_what_it_leaves_out(width: int, tmp_path: Path) -> None:
    style = FigureStyle(width=width, lines=4, log="rounds", smooth=2)
    results = some_results()
    rows = summarise(results, outside=["skyline"])
    pdf, shown = write_figures(results, rows, tmp_path, metrics=[METRIC], kind="pdf", style=style)
    box = re.search(rb"MediaBox \[0 0 (\d+) (\d+)\]", pdf.read_bytes())
    assert box
    assert width - 3 <= int(box[1]) <= width
    text = shown.read_text()
    assert r"\includegraphics{figures/offline-ndcg-10.pdf}" in text
    assert f"Left out: \\texttt{{{escape(LONG).split('(')[0]}" in text
    assert "Smoothed over 2 checkpoints" in text
    assert ("figure*" in text) is (width == 505)


def test_all_type_of_a_figure_has_one_size() -> None:
    results = some_results()
    figure = paper_figure(results, some_rows(), metric=METRIC, data="mq_2008", style=FigureStyle())
    svg = figure.render("svg").decode()
    assert set(re.findall(r'font-size="([^"]+)"', svg)) == {"8px"}
    assert ">pairrank<" in svg


def test_a_logarithmic_axis_begins_with_the_first_round() -> None:
    results = some_results()
    start = results.filter(pl.col("round") == 100).with_columns(round=pl.lit(0, dtype=pl.Int64))
    style, both = FigureStyle(log="rounds"), pl.concat([start, results])
    figure = paper_figure(both, summarise(both), metric=METRIC, data="mq_2008", style=style)
    picture = figure.render("svg").decode()
    assert ">500<" in picture  # rounds are spread over the axis, not squeezed at 0
    assert ">400<" not in picture  # 100, 200, 500: labels do not collide
    assert "NaN" not in picture


def test_what_cannot_be_drawn_is_refused() -> None:
    with pytest.raises(SettingError, match="log must be none, rounds, values or both, found 'x'"):
        FigureStyle(log="x")  # type: ignore[arg-type]
    with pytest.raises(SettingError, match="lines must be at least 1, found 0"):
        FigureStyle(lines=0)
    results = some_results().with_columns(value=-pl.col("value"))
    with pytest.raises(SettingError, match="needs values above 0"):
        paper_figure(
            results, summarise(results), metric=METRIC, data="mq_2008", style=FigureStyle(log="values")
        )


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="there is no pdflatex here")
def test_latex_reads_the_tables_and_the_figures(tmp_path: Path) -> None:
    results, rows = some_results(), some_rows()
    write_tables(some_rows(data=("mq_2008", "web & more")), tmp_path, metrics=[METRIC], outside=["skyline"])
    write_figures(results, rows, tmp_path, metrics=[METRIC], kind="pdf", style=FigureStyle(lines=3))
    head, body = (
        r"\documentclass[twocolumn]{article}\usepackage{booktabs,graphicx}",
        r"\begin{document}\input{tables}\input{figures}\end{document}",
    )
    (tmp_path / "paper.tex").write_text(f"{head}\n{body}\n")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "paper.tex"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, timeout=120)
