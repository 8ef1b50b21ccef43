"""rankloop lab reviews: read opinions out of texts, and say what is in reviews."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape
from rich.progress import track
from rich.table import Table

from rankloop.cli.console import CONSOLE, ERRORS
from rankloop.lab.data.review_data import load_reviews
from rankloop.lab.reviews import (
    LEAST,
    ReviewReport,
    check_new,
    extract,
    read_raw_reviews,
    report_reviews,
    write_extracted,
)
from rankloop.naming import split_names

SHOWN = 12

reviews_app = typer.Typer(help="Extract opinions from reviews, or describe them.", no_args_is_help=True)


@reviews_app.command(name="extract")
def extract_(
    source: Annotated[
        Path, typer.Argument(help="Reviews: CSV with a header, or JSON lines (.jsonl); plain or .gz.")
    ],
    out: Annotated[Path, typer.Option(help="A new file for what is found.")],
    least: Annotated[
        int, typer.Option(min=1, help="Reviews that must mention an aspect to keep it.")
    ] = LEAST,
    ignore: Annotated[
        str, typer.Option(help="Nouns that are no aspects, comma-separated, such as what you sell.")
    ] = "",
) -> None:
    """Find what reviews praise and complain of, write it as a file, and report on it.

    Reviews have the columns or keys `user`, `item`, `rating`, `text` and, if you have them, `time` (seconds
    since 1970) and `title` (of the item). They are read as English.

    This needs `pip install 'rankloop[reviews]'`.

    For example:

    `rankloop lab reviews extract shop.csv --out extracted.jsonl`

    `rankloop lab reviews extract shop.jsonl.gz --out extracted.jsonl --least 5 --ignore guitar,guitars`

    The file is JSON lines, with the sentence of every mention.
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
        write_extracted(found, out)
    except KeyboardInterrupt as error:
        ERRORS.print("\nstopped: nothing was written")
        raise typer.Exit(130) from error
    _report(str(out))
    CONSOLE.print(f"{len(found):,} reviews written to {out}", soft_wrap=True)


@reviews_app.command()
def describe(
    name: Annotated[
        str,
        typer.Argument(help="`shop`, `phones`, `phones-fact`, `music`, or a CSV or JSON lines file."),
    ],
) -> None:
    """Say what is in reviews: counts, density, features, time span, and what is poor for a recommender.

    For example:

    `rankloop lab reviews describe extracted.jsonl`
    """
    _report(name)


def _report(name: str) -> None:
    with CONSOLE.status(f"reading {name}"):
        found = report_reviews(load_reviews(name, everything=True).train)
    _print_features(found.features)
    for line in _facts(found):
        CONSOLE.print(line, soft_wrap=True, highlight=False)
    for warning in found.warnings():
        CONSOLE.print(f"[bold yellow]warning:[/] {escape(warning)}", soft_wrap=True, highlight=False)


def _facts(found: ReviewReport) -> list[str]:
    stars = ", ".join(f"{count:,} with {star}" for star, count in enumerate(found.stars, 1))
    first, last = map(_day, found.span or (0, 0))
    return [
        f"reviews: {found.reviews:,} by {found.users:,} users of {found.items:,} items, "
        f"density {found.density:.2%}; {found.alone:,} users with one, {found.unreviewed:,} items with none",
        f"stars: {stars}",
        f"mentions: {found.mentions:,} in {found.mentioning:,} reviews, {found.worded:,} with a word; "
        f"features: {len(found.features):,}",
        f"coverage: {found.coverage:.0%} of the reviews mention a feature",
        f"sentiment: {found.balance:.0%} praise",
        f"agreement with the stars: AUC {found.auc:.2f} (1 is perfect, 0.50 is chance)",
        f"titles: {f'with {found.tokens:,} words to make rules of' if found.titles else 'none'}",
        f"time: {f'from {first} to {last}' if found.span else 'none'}",
    ]


def _day(seconds: int) -> str:
    """A day for people; where it cannot be seconds since 1970, the number itself."""
    try:
        return datetime.fromtimestamp(seconds, UTC).date().isoformat()
    except (OverflowError, OSError, ValueError):
        return str(seconds)


def _print_features(features: Sequence[tuple[str, int, int]]) -> None:
    """What is praised and complained of most."""
    table = Table("feature", title=f"{len(features):,} features, the most mentioned")
    for heading in ("praise", "complaints"):
        table.add_column(heading, justify="right")
    for name, praise, complaints in features[:SHOWN]:
        table.add_row(escape(name), f"{praise:,}", f"{complaints:,}")
    if features:
        CONSOLE.print(table)
