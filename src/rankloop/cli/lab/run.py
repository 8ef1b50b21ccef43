"""rankloop lab run: an experiment by its id, or again from its spec."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from rankloop.cli.lab import names
from rankloop.cli.lab.engine import mapper
from rankloop.cli.lab.spec import from_spec
from rankloop.cli.lab.sweep_commands import draw, study, tabulate
from rankloop.cli.lab.sweep_options import CallerOrders, EngineName, Groups, Out, Workers
from rankloop.errors import SettingError
from rankloop.lab.data import parse_groups
from rankloop.lab.suites import find_experiment
from rankloop.lab.suites.experiment_runner import describe_claims, make_sweep
from rankloop.naming import split_names


def run(
    what: Annotated[
        str, typer.Argument(help="An experiment's id (see `rankloop lab list`) or a `spec.json`.")
    ],
    data: Annotated[str, typer.Option(help="Other datasets than the experiment's.")] = "",
    rounds: Annotated[int | None, typer.Option(min=1, help="Other length than the experiment's.")] = None,
    seeds: Annotated[
        int | None, typer.Option(min=1, help="Other number of repetitions than the experiment's.")
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
                "--caller-order are for experiments"
            )
        sweep, spec = from_spec(Path(what)), json.loads(Path(what).read_text("utf-8"))
        again = bool(spec.get("quick"))
        study(sweep, title=f"Again: {what}", out=out, workers=workers, engine=engine, quick=again)
        return
    experiment = find_experiment(what)
    if experiment.kind != "sweep" and (rounds or seeds or groups or caller_order):
        raise SettingError(
            f"{experiment.id} is a {experiment.kind} of its own length: --rounds, --seeds, --groups and "
            "--caller-order are for sweeps"
        )
    if experiment.kind == "picture":
        draw(experiment, data=data, out=out)
        return
    if experiment.kind == "table":
        tabulate(experiment, data=data, quick=quick, out=out, engine=mapper(engine, workers))
        return
    sweep = make_sweep(
        experiment,
        data=names.with_caller_orders(split_names(data), caller_order) if data else (),
        rounds=rounds,
        seeds=seeds,
        quick=quick,
        groups=parse_groups(groups) if groups else None,
    )
    study(
        sweep,
        title=experiment.question,
        notes=describe_claims(experiment),
        out=out,
        workers=workers,
        engine=engine,
        quick=quick,
    )
