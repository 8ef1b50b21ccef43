"""Formats of a result table: for the terminal, Markdown, HTML and LaTeX."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence

from rich.table import Table
from rich.text import Text

from rankloop.lab.report.latex_text import escape, format_key, format_note, format_number
from rankloop.lab.report.result_tables import ResultTable, TableCell
from rankloop.lab.report.series_names import find_abbreviations

BLANK = "\u2002"  # as wide as a mark where figures are aligned
WIDTH, HEIGHT, RADIUS = 64, 11, 2.6  # pixels of a strip of runs, and of a dot in it


def to_rich(table: ResultTable) -> Table:
    """Print a table for the terminal: the best in bold, those for reference only in italics."""
    printed = Table(
        title=Text(table.title, style="bold"),
        caption=Text(table.caption),
        caption_justify="left",
        min_width=max(len(table.title), 60),  # so that a table of few columns does not break its words
    )
    for number, heading in enumerate(table.headings):
        printed.add_column(
            Text(heading), justify="left" if number < table.name_columns else "right", overflow="fold"
        )
    before = table.groups[0]
    for row, group in zip(table.rows, table.groups, strict=True):
        if group != before:
            printed.add_section()
        before = group
        names = [Text(name, style="italic" if row.is_reference else "") for name in row.names]
        cells = [Text(_join(table, cell), style="bold" if cell.best else "") for cell in row.cells]
        printed.add_row(*names, *cells)
    return printed


def to_markdown(table: ResultTable) -> str:
    """Print a table in Markdown."""
    numbers = len(table.headings) - table.name_columns
    lines = [[*map(_escape_markdown, table.headings)], [":--"] * table.name_columns + ["--:"] * numbers]
    for row in table.rows:
        names = [_escape_markdown(name) for name in row.names]
        names = [f"*{name}*" for name in names] if row.is_reference else names
        cells = [" ".join(_join(table, cell).split()) for cell in row.cells]
        bold = [f"**{text}**" if cell.best else text for text, cell in zip(cells, row.cells, strict=True)]
        lines.append([*names, *bold])
    body = "\n".join("| " + " | ".join(line) + " |" for line in lines)
    return f"**{_escape_markdown(table.title)}**\n\n{body}\n\n{_escape_markdown(table.caption)}\n"


def to_html(table: ResultTable) -> str:
    """Print a table in HTML, every name escaped; below each mean is a dot for every run."""
    head = "".join(
        f'<th scope="col"{" class=name" if number < table.name_columns else ""}>{html.escape(heading)}</th>'
        for number, heading in enumerate(table.headings)
    )
    body = ""
    for row, group in zip(table.rows, table.groups, strict=True):
        names = [html.escape(name) for name in row.names]
        names = [f"<i>{name}</i>" for name in names] if row.is_reference else names
        body += "<tr>" + "".join(f'<th scope="row">{name}</th>' for name in names)
        for column, cell in enumerate(row.cells):
            mark = f" {cell.mark or BLANK}" if table.has_marks else ""
            note = html.escape(cell.note) + draw_run_dots(cell.values, _find_ends(table, group, column))
            body += f'<td class="best">{cell.text}' if cell.best else f"<td>{cell.text}"
            body += mark + (f"<br><small>{note}</small>" if note else "") + "</td>"
        body += "</tr>\n"
    title, caption = html.escape(table.title), html.escape(table.caption)
    return (
        f'<table aria-label="{title}">\n<caption>{caption}</caption>\n'
        f"<thead><tr>{head}</tr></thead>\n<tbody>\n{body}</tbody>\n</table>"
    )


def to_latex(table: ResultTable, *, label: str, names: Mapping[str, str], remark: str = "") -> str:
    r"""Print a table in LaTeX (booktabs): the best in bold, † and ‡ for what is significantly worse.

    `names` are short ones of the policies, whose key stands below; a `remark` ends the caption.
    """
    first = 1 if table.groups[0] else 0  # a dataset has a line of its own: columns are narrow
    used = {name: names[name] for row in table.rows for name in row.names[first:]}
    users = len(table.headings) - table.name_columns
    body: list[str] = []
    before = None
    for row, group in zip(table.rows, table.groups, strict=True):
        if group != before:
            body.append(r"\midrule")
            if first:
                wide = len(table.headings) - first
                body.append(rf"\multicolumn{{{wide}}}{{l}}{{\emph{{{escape(group)}}}}} \\")
        before = group
        own = [escape(used[name]) for name in row.names[first:]]
        own = [rf"\textit{{{name}}}" for name in own] if row.is_reference else own
        body.append(" & ".join([*own, *(_format_latex(cell) for cell in row.cells)]) + r" \\")
    star = "*" if users > 1 else ""  # columns of several users have no room in one column of a paper
    caption = f"{escape(table.title)}: {escape(f'{table.caption} {remark}')}"
    return "\n".join(
        [
            rf"\begin{{table{star}}}[t]",
            r"\centering\small",
            rf"\caption{{{caption}}}",
            rf"\label{{tab:{label}}}\smallskip",
            rf"\begin{{tabular}}{{{'l' * (table.name_columns - first)}{'r' * users}}}",
            r"\toprule",
            " & ".join(map(escape, table.headings[first:])) + r" \\",
            *body,
            r"\bottomrule",
            r"\end{tabular}",
            *format_note(format_key(find_abbreviations(used))),
            rf"\end{{table{star}}}",
            "",
        ]
    )


def draw_run_dots(values: Sequence[float], ends: tuple[float, float]) -> str:
    """Draw runs as dots between two values, and their mean as a line, in plain SVG: means hide stuck runs.

    >>> draw_run_dots([0.5, 1.0], (0.0, 1.0)).count("<circle")
    2
    """
    if not values:
        return ""
    middle = HEIGHT / 2
    dots = "".join(f'<circle cx="{_place(value, ends):.1f}" cy="{middle}" r="{RADIUS}"/>' for value in values)
    mean = _place(sum(values) / len(values), ends)
    text = f"{len(values)} runs from {min(values):.4g} to {max(values):.4g}"
    return (
        f'<svg class="strip" role="img" aria-label="{text}" width="{WIDTH}" height="{HEIGHT}">'
        f"<title>{text}</title>"
        f'<line x1="{RADIUS}" x2="{WIDTH - RADIUS}" y1="{middle}" y2="{middle}"/>{dots}'
        f'<line class="mean" x1="{mean:.1f}" x2="{mean:.1f}" y1="0" y2="{HEIGHT}"/></svg>'
    )


def _find_ends(table: ResultTable, group: str, column: int) -> tuple[float, float]:
    """Find the least and the greatest run of a column, in the rows of one dataset."""
    rows = [row for row, own in zip(table.rows, table.groups, strict=True) if own == group]
    values = [value for row in rows for value in row.cells[column].values]
    return min(values, default=0.0), max(values, default=0.0)


def _place(value: float, ends: tuple[float, float]) -> float:
    low, high = ends
    share = (value - low) / (high - low) if high > low else 0.5
    return RADIUS + share * (WIDTH - 2 * RADIUS)


def _join(table: ResultTable, cell: TableCell) -> str:
    """Write a cell in plain text: its mark, or a blank as wide, and its note."""
    mark = f" {cell.mark or BLANK}" if table.has_marks else ""
    return f"{cell.text}{mark}{f' {cell.note}' if cell.note else ''}"


def _format_latex(cell: TableCell) -> str:
    text = rf"\textbf{{{format_number(cell.text)}}}" if cell.best else format_number(cell.text)
    mark = rf"\textsuperscript{{{escape(cell.mark)}}}" if cell.mark else ""
    return text + mark + (rf" {{\scriptsize {format_number(cell.note)}}}" if cell.note else "")


def _escape_markdown(text: str) -> str:
    """Text that Markdown shows as it is."""
    for special in "\\`*_|<>[]":
        text = text.replace(special, f"\\{special}")
    return " ".join(text.split())
