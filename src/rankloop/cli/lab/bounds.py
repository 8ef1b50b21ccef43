"""rankloop lab bounds: what the theory promises for a dataset, and what is measured."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated

import typer
from rich.table import Table

from rankloop.cli.console import CONSOLE
from rankloop.lab.data import load, take_queries
from rankloop.lab.theory import (
    BoundComparison,
    ListNetLoss,
    RankSVMLoss,
    SmoothDCGLoss,
    Surrogate,
    compare_bounds,
)
from rankloop.lab.theory.bound_comparison import longest_list, measure_class
from rankloop.naming import find_kind
from rankloop.query_set import QuerySet

LOSSES: Mapping[str, Callable[[int, float], Surrogate]] = {
    "listnet": lambda top, smoothing: ListNetLoss(),  # noqa: ARG005
    "smooth-dcg": SmoothDCGLoss,
    "rank-svm": lambda top, smoothing: RankSVMLoss(),  # noqa: ARG005
}
NOTES = (
    "excess: the loss on held-out queries above the smallest that was found for them in the ball.",
    "complexity: how well the class fits noise; twice it bounds by how much a loss on held-out queries is "
    "above that on the sample. Measured: that difference.",
    "loss: what a ranker with so small a loss on the sample loses on held-out queries.",
    "as printed: by the document's constants, where they are larger than they must be.",
    "OGD: online gradient descent; ERM: the empirical risk minimiser, as far as it was found.",
    "Diagnostics, and no guarantee: the bounds hold for any world, the worst one included, and say little "
    "about this one. What matters is the last column, and how the bounds shrink with more queries.",
)


def bounds(
    data: Annotated[str, typer.Option(help="A dataset; see `rankloop lab list`.")] = "linear",
    loss: Annotated[str, typer.Option(help="*listnet*, *smooth-dcg* or *rank-svm*.")] = "listnet",
    queries: Annotated[int, typer.Option(min=3, help="The sample: so many training queries.")] = 1000,
    held_out: Annotated[int, typer.Option(min=1, help="How many test queries stand for the world.")] = 1000,
    norm: Annotated[float, typer.Option(help="How long the weights may be, W₂.")] = 5.0,
    smoothing: Annotated[float, typer.Option(help="σ of smooth-dcg.")] = 1.0,
    delta: Annotated[float, typer.Option(help="How likely Theorem 44 may fail.")] = 0.05,
) -> None:
    """Print the bounds of learning theory for a dataset, with the measured excess beside them.

    They are diagnostics and no guarantee.

    For example:

    `rankloop lab bounds`

    `rankloop lab bounds --data "mq2007(fold=1)" --queries 1000 --norm 5`

    `rankloop lab bounds --data "mq2008(fold=1)" --loss rank-svm`
    """
    make = find_kind(loss, LOSSES, "loss")
    _say(f"reading {data}")
    dataset = load(data)
    sample, unseen = take_queries(dataset.train, 0, queries), take_queries(dataset.test, 0, held_out)
    surrogate = make(max(sample.grades, unseen.grades) - 1, smoothing)
    rows = measured(surrogate, sample, unseen, norm=norm, delta=delta)
    CONSOLE.print(facts(surrogate, sample, unseen, norm), soft_wrap=True, highlight=False)
    CONSOLE.print(table(rows, f"{surrogate.label} on {data}"))
    for note in NOTES:
        CONSOLE.print(f"[dim]{note}[/]")


def measured(
    loss: Surrogate, sample: QuerySet, unseen: QuerySet, *, norm: float, delta: float
) -> list[BoundComparison]:
    """The rows, with a word about each while the next is computed."""
    rows = []
    with CONSOLE.status("learning from the sample") as status:
        for row in compare_bounds(loss, sample, unseen, norm=norm, delta=delta):
            rows.append(row)
            status.update(f"{row.bound} done, learning on")
            if not CONSOLE.is_terminal:
                _say(f"{row.bound} done")
    return rows


def facts(loss: Surrogate, sample: QuerySet, unseen: QuerySet, norm: float) -> str:
    """The constants that the bounds are made of."""
    ball, longest = measure_class(sample, unseen, norm), longest_list(sample, unseen)
    of = loss.constants(ball.reach, longest)
    smooth = "none" if of.smoothness is None else f"{of.smoothness:g}"
    return (
        f"{ball.queries:,} training queries with {ball.documents:,} documents, {len(unseen):,} held-out, "
        f"lists of up to {longest}\nW₂ = {norm:g}, R_X = {ball.radius:.3g}, G = {of.lipschitz:g}, "
        f"H = {smooth}, B = {of.largest:.4g}"
    )


def table(rows: list[BoundComparison], title: str) -> Table:
    """The bounds, one a line, in the order of the document."""
    shown = Table(title=title, title_justify="left", title_style="bold", box=None, pad_edge=False)
    for name, cell in rows[0].row().items():
        shown.add_column(name, justify="left" if isinstance(cell, str) else "right")
    for row in rows:
        shown.add_row(*(cell if isinstance(cell, str) else f"{cell:.4g}" for cell in row.row().values()))
    return shown


def _say(text: str) -> None:
    CONSOLE.print(f"[dim]{text}[/]")
