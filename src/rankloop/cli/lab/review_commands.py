"""rankloop reviews: read opinions out of texts, and say what is in reviews."""

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
from rankloop.lab.data.review_data import ReviewSummary, load_reviews, summary
from rankloop.lab.reviews import (
    LEAST,
    Diagnosis,
    check_new,
    diagnose,
    extract,
    read_raw_reviews,
    write_reviews,
)
from rankloop.naming import split_names

SHOWN = 12

reviews_app = typer.Typer(help="Read opinions out of reviews, and look at them.", no_args_is_help=True)


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


@reviews_app.command()
def info(
    name: Annotated[
        str,
        typer.Argument(
            help="`synthetic:shop`, `phones`, `phones-fact`, `music`, or a CSV or JSON lines file."
        ),
    ],
) -> None:
    """Say what is in reviews: counts, density, features, time span, and what is poor for a recommender.

    For example:

    `rankloop reviews info extracted/reviews.jsonl`
    """
    with CONSOLE.status(f"reading {name}"):
        found = summary(load_reviews(name, everything=True).train)
    _features(found.features)
    for line in _facts(found):
        CONSOLE.print(line, soft_wrap=True, highlight=False)
    _warn(found.warnings())


def _facts(found: ReviewSummary) -> list[str]:
    stars = ", ".join(f"{count:,} with {star}" for star, count in enumerate(found.stars, 1))
    first, last = map(_day, found.span or (0, 0))
    return [
        f"reviews: {found.reviews:,} by {found.users:,} users of {found.items:,} items, "
        f"density {found.density:.2%}; {found.alone:,} users with one, {found.unreviewed:,} items with none",
        f"stars: {stars}",
        f"mentions: {found.mentions:,} in {found.mentioning:,} reviews, {found.worded:,} with a word; "
        f"features: {len(found.features):,}",
        f"titles: {f'with {found.tokens:,} words to make rules of' if found.titles else 'none'}",
        f"time: {f'from {first} to {last}' if found.span else 'none'}",
    ]


def _day(seconds: int) -> str:
    """A day for people; where it cannot be seconds since 1970, the number itself."""
    try:
        return datetime.fromtimestamp(seconds, UTC).date().isoformat()
    except (OverflowError, OSError, ValueError):
        return str(seconds)


def _features(features: Sequence[tuple[str, int, int]]) -> None:
    """What is praised and complained of most."""
    table = Table("aspect", title=f"{len(features):,} aspects, the most mentioned")
    for heading in ("praise", "complaints"):
        table.add_column(heading, justify="right")
    for name, praise, complaints in features[:SHOWN]:
        table.add_row(escape(name), f"{praise:,}", f"{complaints:,}")
    if features:
        CONSOLE.print(table)


def _warn(warnings: Sequence[str]) -> None:
    for warning in warnings:
        CONSOLE.print(f"[bold yellow]warning:[/] {escape(warning)}", soft_wrap=True, highlight=False)


def _show(found: Diagnosis) -> None:
    """What the doctor says."""
    _features(found.aspects)
    facts = [
        f"coverage: {found.coverage:.0%} of {found.reviews:,} reviews mention an aspect, "
        f"{found.mentions:,} mentions",
        f"sentiment: {found.balance:.0%} praise",
        f"agreement with the stars: AUC {found.auc:.2f} (1 is perfect, 0.50 is chance)",
    ]
    for line in facts:
        CONSOLE.print(line, soft_wrap=True, highlight=False)
    _warn(found.warnings())
