"""rankloop lab list: every name the command line understands."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated

import typer
from rich.table import Table

from rankloop.cli.console import CONSOLE
from rankloop.lab.baselines import ALL_POLICIES
from rankloop.lab.data import list_datasets
from rankloop.lab.recommenders import RECOMMENDERS
from rankloop.lab.simulation.measures import MEASURE_KINDS
from rankloop.lab.simulation.probes import PROBES
from rankloop.lab.suites import EXPERIMENTS
from rankloop.metrics import METRICS
from rankloop.naming import find_kind, settings_of
from rankloop.policies.paper_settings import PAPER


def list_names(
    what: Annotated[str, typer.Argument(help="Only these: " + ", ".join(KINDS) + ".")] = "",
) -> None:
    """List policies, users, datasets, measures and experiments.

    For example:

    `rankloop lab list`

    `rankloop lab list policies`
    """
    wanted = [find_kind(what, KINDS, "list of names")] if what else list(KINDS.values())
    for make_table in wanted:
        CONSOLE.print(make_table(), "")


def _kinds(title: str, meaning: str, kinds: Mapping[str, type]) -> Table:
    table = _table(title, "name", meaning, "settings and their defaults")
    for name, kind in kinds.items():
        table.add_row(
            name,
            _first_line(kind),
            ", ".join(f"{each}={value!r}" for each, value in settings_of(kind()).items()),
        )
    return table


def _paper() -> Table:
    table = _table("policies as their papers run them", "name", "what it is", "where that is printed")
    for name, paper in PAPER.items():
        table.add_row(name, paper.policy, paper.source)
    return table


def _users() -> Table:
    table = _table("users", "name", "what they do")
    table.add_row("perfect", "reads everything, clicks by relevance alone")
    table.add_row("navigational", "wants one good result and leaves")
    table.add_row("informational", "clicks a lot, also on what turns out to be irrelevant")
    table.add_row(
        "[dim]<user>(stop_at=every)",
        "[dim]the same, deciding to stop at every result instead of after a click",
    )
    table.add_row("labels", "grades all results shown; for policies that accept grades")
    table.add_row(
        "[dim]labels(top_k=2)", "[dim]grades the first results only; also whole_query=True, noise=0.1"
    )
    table.add_row(
        "ads", "clicks on an ad that matches; also ads(match=0.04, otherwise=0.0005), for sparse clicks"
    )
    return table


def _data() -> Table:
    table = _table("data", "name", "folds", "what or where")
    for entry in list_datasets():
        table.add_row(entry.name, " ".join(entry.folds), entry.source)
    table.add_row(
        "[dim]<folder or file>",
        "",
        "[dim]LETOR text; set RANKLOOP_DATA to a folder of datasets to use their names",
    )
    return table


def _measures() -> Table:
    table = _table("measures", "name", "what it is", "unit")
    for name, kind in MEASURE_KINDS.items():
        table.add_row(f"{name} <metric>", kind.meaning)
    for label, metric in METRICS.items():
        table.add_row(f"[dim]... {label}", f"[dim]{_first_line(metric)}", f"[dim]{metric.unit}")
    return table


def _experiments() -> Table:
    table = _table("experiments", "id", "question")
    for name in sorted(EXPERIMENTS):
        table.add_row(name, EXPERIMENTS[name].question)
    return table


def _table(title: str, *columns: str) -> Table:
    return Table(*columns, title=title, title_justify="left", title_style="bold", box=None, pad_edge=False)


def _first_line(kind: type) -> str:
    return (kind.__doc__ or "").strip().splitlines()[0]


KINDS: Mapping[str, Callable[[], Table]] = {
    "policies": lambda: _kinds("policies", "what it does", ALL_POLICIES),
    "papers": _paper,
    "users": _users,
    "data": _data,
    "recommenders": lambda: _kinds("recommenders", "what they do", RECOMMENDERS),
    "probes": lambda: _kinds("probes", "what they see", PROBES),
    "measures": _measures,
    "experiments": _experiments,
}
