"""Worst and low runs as a table: what a mean does not show."""

from __future__ import annotations

import html
from collections.abc import Sequence

from rich.table import Table
from rich.text import Text

from rankloop.lab.analysis.policy_summaries import SummaryRow
from rankloop.lab.report.result_tables import Layout, arrange

CAPTION = (
    "The worst run after the last round, and how many are low: by more than an eighth worse than the median "
    "over seeds, in the same world or fold, of the policy whose median is best there."
)


def worst_table(rows: Sequence[SummaryRow], *, metric: str) -> Table:
    """The worst run and the number of low ones for the terminal: a line per policy, a column per user."""
    layout = arrange(rows, metric=metric)
    table = Table(
        title=Text(f"{metric}, worst run", style="bold"),
        caption=CAPTION,
        caption_justify="left",
        min_width=60,
    )
    for column, heading in enumerate(layout.headings):
        table.add_column(
            Text(heading), justify="left" if column < layout.name_columns else "right", overflow="fold"
        )
    for line in _lines(layout):
        table.add_row(*map(Text, line))
    return table


def worst_html(rows: Sequence[SummaryRow], *, metric: str) -> str:
    """The same table in HTML, every name escaped."""
    layout = arrange(rows, metric=metric)
    names = layout.name_columns
    head = "".join(
        f'<th scope="col"{" class=name" if column < names else ""}>{html.escape(heading)}</th>'
        for column, heading in enumerate(layout.headings)
    )
    body = ""
    for line in _lines(layout):
        row = "".join(f'<th scope="row">{html.escape(name)}</th>' for name in line[:names])
        body += f"<tr>{row}{''.join(f'<td>{cell}</td>' for cell in line[names:])}</tr>\n"
    caption = f"<caption>{html.escape(CAPTION)}</caption>"
    return f"<table>\n{caption}\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}</tbody>\n</table>"


def _lines(layout: Layout) -> list[list[str]]:
    return [[*layout.names(line), *map(layout.worst_text, line.cells)] for line in layout.lines]
