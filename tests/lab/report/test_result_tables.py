"""The summary table says the same in the terminal, in Markdown and in HTML."""

from __future__ import annotations

from dataclasses import replace

import pytest
from rich.console import Console

from rankloop.errors import SettingError
from rankloop.lab.analysis.policy_summaries import SummaryRow
from rankloop.lab.report.result_tables import summary_html, summary_markdown, summary_table


def row(
    policy: str, user: str, mean: float, *, p_value: float | None = None, best: bool = False
) -> SummaryRow:
    return SummaryRow(
        data="world",
        user=user,
        policy=policy,
        metric="nDCG@10",
        round=10_000,
        mean=mean,
        low=mean - 0.01,
        high=mean + 0.01,
        runs=5,
        seeds=5,
        p_value=p_value,
        best=best,
    )


ROWS = [
    row("PDGD", "perfect", 0.5, best=True),
    row("DBGD", "perfect", 0.4, p_value=0.001),
    row("PDGD", "noisy", 0.41, p_value=0.03),
    row("MGD", "noisy", 0.47, best=True),
    row("DBGD", "noisy", 0.44, p_value=0.2),
]


def printed(rows: list[SummaryRow], note: str = "") -> str:
    console = Console(width=120, force_terminal=False, color_system=None)
    with console.capture() as capture:
        console.print(summary_table(rows, metric="nDCG@10", note=note))
    return capture.get()


def test_markdown_marks_the_best_and_what_is_worse_beyond_luck() -> None:
    lines = summary_markdown(ROWS, metric="nDCG@10").splitlines()
    assert lines[2:7] == [
        "| policy | perfect | noisy |",
        "| :-- | --: | --: |",
        "| MGD | – | **0.4700 ± 0.0100** |",
        "| PDGD | **0.5000 ± 0.0100** | 0.4100 ± 0.0100 ▽ |",
        "| DBGD | 0.4000 ± 0.0100 ▼ | 0.4400 ± 0.0100 |",
    ]


def test_the_caption_explains_everything_the_table_uses() -> None:
    text = " ".join(printed(ROWS, note="Skipped: none.").split())
    for part in (
        "95 %",
        "over 5 runs",
        "after 10,000 rounds",
        "higher is better",
        "▽ p < .05, ▼ p < .01",
        "Holm",
    ):
        assert part in text
    assert text.endswith("Skipped: none.")


def test_the_terminal_shows_what_markdown_shows() -> None:
    text = printed(ROWS)
    for cell in ("0.4700 ± 0.0100", "0.4100 ± 0.0100 ▽", "0.4000 ± 0.0100 ▼", "–"):
        assert cell in text


def test_lower_is_better_turns_the_table_round() -> None:
    rows = [
        replace(r, metric="pairwise regret", direction="lower", mean=1e5 * r.mean, low=None, high=None)
        for r in ROWS[:2]
    ]
    lines = summary_markdown(rows, metric="pairwise regret").splitlines()
    assert lines[4:6] == ["| DBGD | 40,000 ▼ |", "| PDGD | **50,000** |"]
    assert "lower is better" in lines[-1]


def test_several_data_sets_have_a_column_and_an_order_of_their_own() -> None:
    other = [replace(r, data="MSLR", mean=1 - r.mean) for r in ROWS[:2]]
    lines = summary_markdown(ROWS[:2] + other, metric="nDCG@10").splitlines()
    assert [line.split(" | ")[:2] for line in lines[4:8]] == [
        ["| world", "PDGD"],
        ["| world", "DBGD"],
        ["| MSLR", "DBGD"],
        ["| MSLR", "PDGD"],
    ]


@pytest.mark.parametrize(
    ("seeds", "told"), [(1, "1 seed each"), (2, "2 seeds each"), (6, "over 6 runs after")]
)
def test_runs_over_folds_say_so(seeds: int, told: str) -> None:
    assert told in summary_markdown([replace(ROWS[0], runs=6, seeds=seeds)], metric="nDCG@10")


def test_a_single_run_says_so() -> None:
    single = [replace(r, low=None, high=None, p_value=None, runs=1, seeds=1) for r in ROWS]
    text = summary_markdown(single, metric="nDCG@10")
    assert "One run after 10,000 rounds" in text
    assert "±" not in text


def test_names_are_shown_as_they_are() -> None:
    strange = "[bold]a|b</td><script>*x*"
    rows = [replace(ROWS[0], policy=strange)]
    assert strange in printed(rows)
    assert r"\[bold\]a\|b\</td\>\<script\>\*x\*" in summary_markdown(rows, metric="nDCG@10")
    page = summary_html(rows, metric="nDCG@10")
    assert "[bold]a|b&lt;/td&gt;&lt;script&gt;*x*" in page
    assert "<script" not in page


def test_a_metric_that_is_not_there_meets_those_that_are() -> None:
    with pytest.raises(SettingError, match="no metric 'ERR'; it has: nDCG@10"):
        summary_table(ROWS, metric="ERR")


def test_a_description_is_called_one() -> None:
    row = SummaryRow(
        data="world",
        user="u",
        policy="p",
        metric="blocks",
        direction=None,
        round=9,
        mean=3.0,
        low=2.0,
        high=4.0,
        runs=3,
        seeds=3,
    )
    printed = summary_markdown([row], metric="blocks")
    assert "a description, neither better nor worse" in printed
    assert "Bold" not in printed
    assert "p < .05" not in printed
