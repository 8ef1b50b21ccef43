"""Changes against another policy as a table: for the terminal and for the report."""

from __future__ import annotations

import html
from collections.abc import Sequence

from rich.table import Table
from rich.text import Text

from rankloop.lab.analysis.changes import Change

CAPTION = (
    "Change of the mean after the last round ± half of its 95 % interval over paired runs, and standard "
    "deviation over runs as a multiple. Better with △ p < .05, ▲ p < .01; worse with ▽ p < .05, ▼ p < .01 "
    "(paired t-test over runs, Holm-corrected)."
)


def change_table(changes: Sequence[Change], *, metric: str) -> Table:
    """The changes of one metric for the terminal: a line per policy, a column per user."""
    headings, lines = _grid([change for change in changes if change.metric == metric])
    table = Table(title=Text(f"{metric}, change", style="bold"), caption=CAPTION, caption_justify="left")
    for heading in headings:
        table.add_column(Text(heading), overflow="fold")
    for line in lines:
        table.add_row(*map(Text, line))
    return table


def change_html(changes: Sequence[Change], *, metric: str) -> str:
    """The same table in HTML, every name escaped."""
    headings, lines = _grid([change for change in changes if change.metric == metric])
    names = headings.index("against") + 1  # columns
    head = "".join(
        f'<th scope="col"{" class=name" if column < names else ""}>{html.escape(heading)}</th>'
        for column, heading in enumerate(headings)
    )
    body = ""
    for line in lines:
        row = "".join(f'<th scope="row">{html.escape(name)}</th>' for name in line[:names])
        body += f"<tr>{row}{''.join(f'<td>{_two_lines(cell)}</td>' for cell in line[names:])}</tr>\n"
    caption = f"<caption>{html.escape(CAPTION)}</caption>"
    return (
        f"<table class=change>\n{caption}\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}</tbody>\n</table>"
    )


def _two_lines(cell: str) -> str:
    """The spread over runs below the change: there are narrow screens."""
    return html.escape(cell).replace(" sd ×", "<br><small>sd ×") + ("</small>" if " sd ×" in cell else "")


def _grid(changes: Sequence[Change]) -> tuple[list[str], list[list[str]]]:
    """Headings and lines of text: data (if several) and policies as they came, a column per user."""
    users = list(dict.fromkeys(change.user for change in changes))
    found = {(change.data, change.policy, change.user): change for change in changes}
    names = dict.fromkeys((change.data, change.policy, change.against) for change in changes)
    lines = [
        [data, policy, against, *(str(found.get((data, policy, user), "–")) for user in users)]
        for data, policy, against in names
    ]
    start = 0 if len({data for data, _, _ in names}) > 1 else 1
    return ["data", "policy", "against", *users][start:], [line[start:] for line in lines]
