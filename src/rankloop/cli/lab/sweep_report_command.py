"""rankloop lab report: the table and the page of finished results, again, and files for a paper."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rankloop.cli.lab.sweep_results import report_again
from rankloop.errors import SettingError
from rankloop.lab.report.chart_lines import ChartStyle
from rankloop.lab.report.paper_files import FIGURE_KINDS


def report(
    folder: Annotated[Path, typer.Argument(help="A folder with `results.parquet` and `spec.json`.")],
    title: Annotated[str, typer.Option(help="Title of the page.")] = "",
    latex: Annotated[
        bool, typer.Option("--latex", help="Also write the tables for a paper: `tables.tex` (booktabs).")
    ] = False,
    figures: Annotated[
        str,
        typer.Option(help="Also write figures for a paper, *pdf* or *svg*, and `figures.tex` with captions."),
    ] = "",
    width: Annotated[
        int, typer.Option(help="Width of a figure in points: 240 is a column, 505 the page.")
    ] = 240,
    log: Annotated[
        str, typer.Option(help="Logarithmic axes of figures: *none*, *rounds*, *values* or *both*.")
    ] = "none",
    smooth: Annotated[
        int, typer.Option(help="Draw means over so many checkpoints, taken within each run.")
    ] = 1,
    lines: Annotated[
        int, typer.Option(help="Most lines of a figure; its caption names what is left out.")
    ] = 8,
) -> None:
    """Write the report of finished results again.

    For example:

    `rankloop lab report results/mq2008`

    `rankloop lab report results/mq2008 --latex --figures pdf`

    `rankloop lab report results/mq2008 --figures svg --width 505 --log rounds --smooth 5`
    """
    if figures and figures not in FIGURE_KINDS:
        raise SettingError(f"--figures must be pdf or svg, found {figures}")
    style = ChartStyle(width=width, log=log, smooth=smooth, lines=lines, look="paper")  # type: ignore[arg-type]  # it looks itself
    report_again(
        folder,
        title=title or folder.resolve().name,
        latex=latex,
        figures=figures or None,
        style=style,
    )
