"""rankloop lab run: an experiment by its id, or again from its spec."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from rankloop.cli.lab import names
from rankloop.cli.lab.engine import mapper
from rankloop.cli.lab.spec import from_spec
from rankloop.cli.lab.sweep_commands import about_the_paper, draw, study, tabulate
from rankloop.cli.lab.sweep_options import CallerOrders, EngineName, Groups, Out, Workers
from rankloop.errors import SettingError
from rankloop.lab.data import parse_groups
from rankloop.lab.suites import PICTURES, SUITES, TABLES
from rankloop.naming import find_kind, split_names


def run(
    what: Annotated[str, typer.Argument(help="A suite's id (see `rankloop lab list`) or a `spec.json`.")],
    data: Annotated[str, typer.Option(help="Other datasets than the suite's.")] = "",
    rounds: Annotated[int | None, typer.Option(min=1, help="Other length than the suite's.")] = None,
    seeds: Annotated[
        int | None, typer.Option(min=1, help="Other number of repetitions than the suite's.")
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="A small version, to see whether all is well.")
    ] = False,
    groups: Groups = "",
    caller_order: CallerOrders = "",
    out: Out = None,
    workers: Workers = None,
    engine: EngineName = "pool",
) -> None:
    """Run a published experiment, table or bound.

    By its id, or again from the spec that lies beside its results.

    For example:

    `rankloop lab run classic/baselines --data mq2008 --out results/mq2008`

    `rankloop lab run pairrank/fig6 --data "mq2008(fold=1)" --quick`

    `rankloop lab run results/mq2008/spec.json --out results/again`
    """
    if what.endswith(".json"):
        if data or rounds or seeds or quick or groups or caller_order:
            raise SettingError(
                "a spec.json says everything: --data, --rounds, --seeds, --quick, --groups and "
                "--caller-order are for suites"
            )
        sweep, spec = from_spec(Path(what)), json.loads(Path(what).read_text("utf-8"))
        again = bool(spec.get("quick"))
        study(sweep, title=f"Again: {what}", out=out, workers=workers, engine=engine, quick=again)
        return
    if (what in PICTURES or what in TABLES) and (rounds or seeds or groups or caller_order):
        raise SettingError(
            f"{what} is a picture or a table of its own length: --rounds, --seeds, --groups and "
            "--caller-order are for suites of runs"
        )
    if what in PICTURES:
        draw(what, data=data, out=out)
        return
    if what in TABLES:
        tabulate(what, data=data, quick=quick, out=out, engine=mapper(engine, workers))
        return
    chosen = parse_groups(groups) if groups else None
    suite = find_kind(what, SUITES, "suite")
    rounds, seeds = (rounds or suite.quick, seeds or 2) if quick else (rounds, seeds)
    wanted = names.with_caller_orders(split_names(data), caller_order) if data else ()
    sweep = suite.sweep(data=wanted, rounds=rounds, seeds=seeds, groups=chosen)
    study(
        sweep,
        title=suite.title,
        notes=about_the_paper(suite),
        out=out,
        workers=workers,
        engine=engine,
        quick=quick,
    )
