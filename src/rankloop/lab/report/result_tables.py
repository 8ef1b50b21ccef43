"""The summary as a table: for the terminal, for Markdown and for the report."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass
from math import floor, log10
from typing import Literal

from rich.table import Table
from rich.text import Text

from rankloop.errors import SettingError
from rankloop.lab.analysis.policy_summaries import SummaryRow
from rankloop.lab.analysis.single_runs import SingleRuns
from rankloop.lab.report.strip import ends_of, strip

NOTHING = "–"
STRIPS = "Under each mean: its worst run, and every run as a dot, on one scale for a user."
BEST_CELL = '<td class="best">'
BLANK = "\u2002"  # as wide as a mark where figures are aligned


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One line of a table: a policy on one data set, with a summary (or nothing) per user."""

    data: str
    policy: str
    cells: tuple[SummaryRow | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """What every form of the table shows: lines best first, data set by data set, a column per user."""

    metric: str
    users: tuple[str, ...]
    lines: tuple[Line, ...]
    caption: str

    @property
    def several_data_sets(self) -> bool:
        """Whether lines must say which data set they are about."""
        return len({line.data for line in self.lines}) > 1

    @property
    def headings(self) -> list[str]:
        """The heading of every column."""
        return [*(["data"] if self.several_data_sets else []), "policy", *self.users]

    @property
    def name_columns(self) -> int:
        """How many of the columns hold names."""
        return len(self.headings) - len(self.users)

    def names(self, line: Line) -> list[str]:
        """The cells of a line that hold names."""
        return [*([line.data] if self.several_data_sets else []), line.policy]

    def text(self, cell: SummaryRow | None) -> str:
        """A cell in plain text: mean ± half-width, and its mark in a column of its own."""
        if cell is None:
            return NOTHING
        decimals = self.decimals
        half = "" if cell.half_width is None else f" ± {cell.half_width:,.{decimals}f}"
        return f"{cell.mean:,.{decimals}f}{half}{f' {mark(cell) or BLANK}' if self.has_marks else ''}"

    def worst_text(self, cell: SummaryRow | None) -> str:
        """The worst run in plain text, and how many of all are low."""
        if cell is None or cell.worst is None:
            return NOTHING
        low = "" if cell.low_runs is None else f", {cell.low_runs} of {cell.runs} low"
        return f"{cell.worst:,.{self.decimals}f}{low}"

    @property
    def has_marks(self) -> bool:
        """Whether any policy is significantly worse than the best."""
        return any(mark(cell) for line in self.lines for cell in line.cells if cell)

    @property
    def decimals(self) -> int:
        """Four digits that matter: 0.4649, 718.2, 12,345."""
        largest = max(abs(cell.mean) for line in self.lines for cell in line.cells if cell)
        return min(max(3 - floor(log10(largest)), 0), 4) if largest > 0 else 4


def summary_table(rows: Sequence[SummaryRow], *, metric: str, note: str = "") -> Table:
    """The table for the terminal: the best in bold, with marks for what is significantly worse."""
    layout = arrange(rows, metric=metric, note=note)
    table = Table(
        title=Text(metric, style="bold"),
        caption=Text(layout.caption),
        caption_justify="left",
        min_width=max(len(metric), 60),  # so that a table of few columns does not break its words
    )
    for column, heading in enumerate(layout.headings):
        side: Literal["left", "right"] = "left" if column < layout.name_columns else "right"
        table.add_column(Text(heading), justify=side, overflow="fold")
    previous = layout.lines[0].data
    for line in layout.lines:
        if line.data != previous:
            table.add_section()
        previous = line.data
        cells = [Text(layout.text(cell), style="bold" if cell and cell.best else "") for cell in line.cells]
        table.add_row(*map(Text, layout.names(line)), *cells)
    return table


def summary_markdown(rows: Sequence[SummaryRow], *, metric: str, note: str = "") -> str:
    """The same table in Markdown."""
    layout = arrange(rows, metric=metric, note=note)
    lines = [map(_markdown, layout.headings), [":--"] * layout.name_columns + ["--:"] * len(layout.users)]
    for line in layout.lines:
        cells = [
            f"**{layout.text(cell).strip()}**" if cell and cell.best else layout.text(cell).strip()
            for cell in line.cells
        ]
        lines.append([*map(_markdown, layout.names(line)), *cells])
    body = "\n".join("| " + " | ".join(line) + " |" for line in lines)
    return f"**{_markdown(metric)}**\n\n{body}\n\n{_markdown(layout.caption)}\n"


def summary_html(
    rows: Sequence[SummaryRow], *, metric: str, note: str = "", runs: SingleRuns | None = None
) -> str:
    """The same table in HTML, every name escaped; under each mean its worst run and a strip of all `runs`."""
    runs = runs or {}
    layout = arrange(rows, metric=metric, note=f"{note} {STRIPS if runs else ''}".strip())
    head = "".join(
        f'<th scope="col"{" class=name" if column < layout.name_columns else ""}>{html.escape(heading)}</th>'
        for column, heading in enumerate(layout.headings)
    )
    body = ""
    for line in layout.lines:
        row = "".join(f'<th scope="row">{html.escape(name)}</th>' for name in layout.names(line))
        cells = "".join(
            (BEST_CELL if cell and cell.best else "<td>")
            + f"{layout.text(cell)}{_single(layout, cell, runs)}</td>"
            for cell in line.cells
        )
        body += f"<tr>{row}{cells}</tr>\n"
    caption = f"<caption>{html.escape(layout.caption)}</caption>"
    return f"<table>\n{caption}\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}</tbody>\n</table>"


def _single(layout: Layout, cell: SummaryRow | None, runs: SingleRuns) -> str:
    """The worst run and the strip of a cell; one run alone has neither."""
    if cell is None or cell.runs < 2 or not runs:
        return ""
    own = runs[cell.data, cell.user, cell.metric, cell.policy]
    column = (cell.data, cell.user, cell.metric)
    shared = ends_of(values for key, values in runs.items() if key[:3] == column)
    worst = "" if cell.worst is None else f"worst {cell.worst:,.{layout.decimals}f} "
    return f"<br><small>{worst}{strip(own, shared)}</small>"


def arrange(rows: Sequence[SummaryRow], *, metric: str, note: str = "") -> Layout:
    """Sort the rows of one metric into lines and columns."""
    chosen = [row for row in rows if row.metric == metric]
    if not chosen:
        known = ", ".join(dict.fromkeys(row.metric for row in rows)) or "none"
        raise SettingError(f"the summary has no metric {metric!r}; it has: {known}")
    users = tuple(dict.fromkeys(row.user for row in chosen))
    found = {(row.data, row.policy, row.user): row for row in chosen}
    lines = [
        Line(data=data, policy=policy, cells=tuple(found.get((data, policy, user)) for user in users))
        for data, policy in dict.fromkeys((row.data, row.policy) for row in chosen)
    ]
    data_sets = list(dict.fromkeys(row.data for row in chosen))
    lines.sort(key=lambda line: (data_sets.index(line.data), _badness(line), line.policy))
    return Layout(metric=metric, users=users, lines=tuple(lines), caption=_caption(chosen, note))


def mark(row: SummaryRow) -> str:
    """▽ or ▼ for a policy that is significantly worse than the best one."""
    if row.p_value is None or row.p_value >= 0.05:
        return ""
    return "▼" if row.p_value < 0.01 else "▽"


def _badness(line: Line) -> float:
    cells = [cell for cell in line.cells if cell]
    average = sum(cell.mean for cell in cells) / len(cells)
    return average if cells[0].direction == "lower" else -average


def _caption(rows: Sequence[SummaryRow], note: str) -> str:
    runs, seeds, rounds = ({getattr(row, field) for row in rows} for field in ("runs", "seeds", "round"))
    graded = rows[0].direction is not None
    best = f"{rows[0].direction} is better. Bold: the best."
    grades = best if graded else "a description, neither better nor worse."
    after = f"after {span(rounds)} rounds; {grades}"
    if max(runs) < 2:
        return f"One run {after} A single run has no interval and no test. {note}".rstrip()
    each_fold = f" ({span(seeds)} seed{'s' * (max(seeds) > 1)} each fold)" if runs != seeds else ""
    over = f"{span(runs)} runs{each_fold}"
    tests = " Worse than the best with ▽ p < .05, ▼ p < .01 (paired t-test over runs, Holm-corrected)."
    return (
        f"Mean ± half of the 95 % Student-t interval over {over} {after}{tests if graded else ''} {note}"
    ).rstrip()


def span(numbers: set[int]) -> str:
    """A number, or the least and the greatest of several."""
    low, high = min(numbers), max(numbers)
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def _markdown(text: str) -> str:
    """Text that Markdown shows as it is."""
    for special in "\\`*_|<>[]":
        text = text.replace(special, f"\\{special}")
    return " ".join(text.split())
