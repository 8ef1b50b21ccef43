"""Files for a paper: tables that LaTeX can read, figures as wide as a column."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from rankloop.errors import SettingError
from rankloop.lab.analysis.policy_summaries import average_curves
from rankloop.lab.analysis.sweep_analysis import SweepAnalysis
from rankloop.lab.report.chart_files import render_chart
from rankloop.lab.report.chart_lines import ChartStyle, choose_lines, choose_policies, smooth_runs
from rankloop.lab.report.curve_charts import draw_curves
from rankloop.lab.report.latex_text import escape, format_number, make_slug
from rankloop.lab.report.paper_files import write_figures, write_tables

METRIC = "offline nDCG@10"
NASTY = r"50 % of {a_b} & $c$ #1 ^~ \d"
LONG = "PairRank(regularisation=0.1, certainty=Width(0.01), exploration='random')"
POLICIES = ["PairRank", LONG, "MGD(step_size=0.1)", NASTY, "skyline"]
USERS = ["perfect", "informational"]
PAPER = ChartStyle(width=240, look="paper")


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


def analyse(results: pl.DataFrame | None = None, **facts: Any) -> SweepAnalysis:
    results = some_results() if results is None else results
    return SweepAnalysis(results, **{"reference_policies": ["skyline"], **facts})


def table_of(analysis: SweepAnalysis, folder: Path) -> str:
    return write_tables(analysis, folder).read_text("utf-8").partition(r"\begin{table")[2]


def plain(latex: str) -> str:
    """What is left when commands and escaped signs are taken away."""
    return re.sub(r"\\(?:[a-zA-Z]+|[^a-zA-Z])", "", latex)


def test_any_name_is_printed_as_it_is() -> None:
    assert escape("a_b & 5 %") == r"a\_b \& 5 \%"
    assert not set("&%#_^~$") & set(plain(escape(NASTY)))
    assert escape("{") + escape("}") == r"\{\}"
    assert format_number("-0.5 of nDCG-10") == "$-$0.5 of nDCG-10"
    assert make_slug("../ß") == "ss"


@pytest.mark.parametrize("data", [("mq_2008",), ("mq_2008", "web & more")])
def test_a_table_has_a_cell_for_every_column_and_closes_what_it_opens(
    data: tuple[str, ...], tmp_path: Path
) -> None:
    table = write_tables(analyse(some_results(data=data)), tmp_path).read_text("utf-8")
    lines = [line for line in table.splitlines() if line.endswith(r"\\") and "multicolumn" not in line]
    assert len(lines) == 1 + len(POLICIES) * len(data)
    assert {len(re.findall(r"(?<!\\)&", line)) for line in lines} == {len(USERS)}
    opened, closed = (re.findall(rf"\\{word}{{(\w+\*?)}}", table) for word in ("begin", "end"))
    assert opened == closed[::-1] == ["table*", "tabular"]
    assert plain(table).count("{") == plain(table).count("}")
    assert re.sub(r"\\\$", "", table).count("$") % 2 == 0
    assert table.count("multicolumn") == (len(data) if len(data) > 1 else 0)


def test_the_best_is_bold_and_the_rest_has_daggers(tmp_path: Path) -> None:
    table = table_of(analyse(), tmp_path)
    best, worse = (
        next(line for line in table.splitlines() if line.startswith(name)) for name in ("PairRank ", "MGD ")
    )
    assert best.count(r"\textbf") == len(USERS)
    assert r"\dagger" not in best
    assert worse.count(r"\textsuperscript{$\ddagger$}") == len(USERS)
    assert r"\textit{skyline}" in table


def test_a_caption_says_what_the_numbers_rest_on(tmp_path: Path) -> None:
    analysis = analyse(query_counts={"mq_2008": [156]}, banner="A quick look.")
    table = table_of(analysis, tmp_path)
    caption = next(line for line in table.splitlines() if line.startswith(r"\caption"))
    for text in (r"mq\_2008", "500 rounds", "4 runs", "rest on 156 test queries.", "Holm", "A quick look."):
        assert text in caption
    key = next(line for line in table.splitlines() if "Key: " in line)
    assert key.replace(r"\allowbreak{}", "").count(escape(LONG)) == 1  # what its short name stands for
    assert escape(LONG) not in table.replace(key, "").replace(r"\allowbreak{}", "")


def test_beside_each_mean_stands_its_worst_run(tmp_path: Path) -> None:
    results = some_results()
    table = table_of(analyse(results), tmp_path)
    last = results.filter(pl.col("policy") == "PairRank", pl.col("round") == 500)
    worst = [min(last.filter(pl.col("user") == user)["value"].to_list()) for user in USERS]
    (line,) = (line for line in table.splitlines() if line.startswith("PairRank &"))
    assert re.findall(r"scriptsize \(([\d.]+)\)", line) == [f"{value:.4f}" for value in worst]
    assert "In parentheses: the worst run." in table


def test_changes_have_a_table_with_stars_for_better(tmp_path: Path) -> None:
    analysis = analyse(compare_with={"PairRank": "MGD(step_size=0.1)"})
    _, summary, change = write_tables(analysis, tmp_path).read_text("utf-8").split(r"\begin{table*}")
    assert r"\label{tab:offline-ndcg-10}" in summary
    assert r"\label{tab:offline-ndcg-10-change}" in change
    assert change.count(r"\textsuperscript{$\ast\ast$}") == len(USERS) + 1  # and over all users


def test_few_lines_are_drawn_and_every_family_has_one() -> None:
    ordered = ["a", "a(x=1)", "a(x=2)", "b", "c", "taught"]
    shown, left_out = choose_policies(ordered, 4, ["taught"])
    assert (shown, left_out) == (["a", "b", "c", "taught"], ["a(x=1)", "a(x=2)"])
    assert choose_policies(ordered, 8) == (ordered, [])


def test_smoothing_averages_within_a_run_before_runs_are_averaged() -> None:
    frame = some_results(policies=["PairRank"])
    means, smooth = (
        average_curves(each).filter(pl.col("user") == "perfect")["mean"]
        for each in (frame, smooth_runs(frame, 2))
    )
    expected = [means[0], *((means[:-1] + means[1:]) / 2).to_list()]
    np.testing.assert_allclose(smooth.to_list(), expected)
    drawn = choose_lines(analyse(frame), METRIC, style=ChartStyle(smooth=2)).means
    found = drawn.filter(pl.col("user") == "perfect").sort("round")["mean"]
    np.testing.assert_allclose(found.to_list(), expected, rtol=1e-5)


@pytest.mark.parametrize("width", [240, 505])
def test_a_figure_is_as_wide_as_asked_and_names_what_it_leaves_out(width: int, tmp_path: Path) -> None:
    style = ChartStyle(width=width, lines=4, log="rounds", smooth=2, look="paper")
    pdf, shown = write_figures(analyse(), tmp_path, "pdf", style)
    box = re.search(rb"MediaBox \[0 0 (\d+) (\d+)\]", pdf.read_bytes())
    assert box
    assert width - 3 <= int(box[1]) <= width
    text = shown.read_text()
    assert r"\includegraphics{figures/offline-ndcg-10.pdf}" in text
    assert r"Left out: \texttt{PairRank(" in text
    assert "Smoothed over 2 checkpoints" in text
    assert ("figure*" in text) is (width == 505)


def draw(results: pl.DataFrame, style: ChartStyle = PAPER) -> str:
    chart = draw_curves(choose_lines(analyse(results), METRIC, style=style), style)
    return render_chart(chart, "svg")["svg"].decode()


def test_all_type_of_a_figure_has_one_size() -> None:
    picture = draw(some_results())
    assert set(re.findall(r'font-size="([^"]+)"', picture)) == {"8px"}
    assert ">PairRank<" in picture


def test_a_logarithmic_axis_begins_with_the_first_round() -> None:
    results = some_results()
    start = results.filter(pl.col("round") == 100).with_columns(round=pl.lit(0, dtype=pl.Int64))
    picture = draw(pl.concat([start, results]), ChartStyle(width=240, log="rounds", look="paper"))
    assert ">500<" in picture  # rounds are spread over the axis, not squeezed at 0
    assert ">400<" not in picture  # 100, 200, 500: labels do not collide
    assert "NaN" not in picture


def test_what_cannot_be_drawn_is_refused() -> None:
    with pytest.raises(SettingError, match="log must be 'none', 'rounds', 'values' or 'both', found 'x'"):
        ChartStyle(log="x")  # type: ignore[arg-type]
    with pytest.raises(SettingError, match="lines must be a whole number of at least 1, found 0"):
        ChartStyle(lines=0)
    results = some_results().with_columns(value=-pl.col("value"))
    with pytest.raises(SettingError, match="needs values above 0"):
        choose_lines(analyse(results), METRIC, style=ChartStyle(log="values"))


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="there is no pdflatex here")
def test_latex_reads_the_tables_and_the_figures(tmp_path: Path) -> None:
    both = some_results(data=("mq_2008", "web & more"))
    write_tables(analyse(both, compare_with={"PairRank": "skyline"}), tmp_path)
    write_figures(analyse(), tmp_path, "pdf", ChartStyle(width=240, lines=3, look="paper"))
    head, body = (
        r"\documentclass[twocolumn]{article}\usepackage{booktabs,graphicx}",
        r"\begin{document}\input{tables}\input{figures}\end{document}",
    )
    (tmp_path / "paper.tex").write_text(f"{head}\n{body}\n")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "paper.tex"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, timeout=120)
