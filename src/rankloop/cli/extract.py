"""rankloop reviews extract: from the text of reviews to aspects with opinions."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape
from rich.progress import track
from rich.table import Table

from rankloop.cli.console import CONSOLE, ERRORS
from rankloop.cli.names import split_names
from rankloop.text import LEAST, Diagnosis, check_new, diagnose, extract, read_raw_reviews, write_reviews

SHOWN = 12

reviews_app = typer.Typer(help="Read opinions about aspects out of reviews.", no_args_is_help=True)


@reviews_app.callback()
def reviews() -> None:
    """Read opinions about aspects out of reviews."""


@reviews_app.command(name="extract")
def extract_(
    source: Annotated[
        Path, typer.Argument(help="Reviews: CSV with a header, or JSON lines (.jsonl); plain or .gz.")
    ],
    out: Annotated[Path, typer.Option(help="A new folder for what is found.")],
    least: Annotated[
        int, typer.Option(min=1, help="Reviews that must mention an aspect to keep it.")
    ] = LEAST,
    ignore: Annotated[
        str, typer.Option(help="Nouns that are no aspects, comma-separated, such as what you sell.")
    ] = "",
) -> None:
    """Find what reviews praise and complain of, write it as files, and say how good it looks.

    Reviews have the columns or keys `user`, `item`, `rating`, `text` and, if you have them, `time` (seconds
    since 1970) and `title` (of the item). They are read as English.

    This needs `pip install 'rankloop[reviews]'`.

    For example:

    `rankloop reviews extract shop.csv --out extracted`

    `rankloop reviews extract shop.jsonl.gz --out extracted --least 5 --ignore guitar,guitars`

    The folder holds `reviews.jsonl`, with the sentence of every mention, and the same as tuples of numbers.
    """
    check_new(out)
    try:
        with CONSOLE.status(f"reading {source}"):
            written = read_raw_reviews(source)
        bar = track(
            written,
            description="reviews",
            console=CONSOLE,
            transient=True,
            disable=not CONSOLE.is_terminal,
        )
        found = extract(bar, least=least, ignored=split_names(ignore))
        write_reviews(found, out)
    except KeyboardInterrupt as error:
        ERRORS.print("\nstopped: nothing was written")
        raise typer.Exit(130) from error
    _show(diagnose(found))
    CONSOLE.print(f"{len(found):,} reviews written to {out}", soft_wrap=True)


def _show(found: Diagnosis) -> None:
    """What the doctor says."""
    table = Table("aspect", title=f"{len(found.aspects):,} aspects, the most mentioned")
    for heading in ("praise", "complaints"):
        table.add_column(heading, justify="right")
    for name, praise, complaints in found.aspects[:SHOWN]:
        table.add_row(escape(name), f"{praise:,}", f"{complaints:,}")
    if found.aspects:
        CONSOLE.print(table)
    facts = [
        f"coverage: {found.coverage:.0%} of {found.reviews:,} reviews mention an aspect, "
        f"{found.mentions:,} mentions",
        f"sentiment: {found.balance:.0%} praise",
        f"agreement with the stars: AUC {found.auc:.2f} (1 is perfect, 0.50 is chance)",
    ]
    for line in facts:
        CONSOLE.print(line, soft_wrap=True, highlight=False)
    for warning in found.warnings():
        CONSOLE.print(f"[bold yellow]warning:[/] {escape(warning)}", soft_wrap=True, highlight=False)
