"""rankloop lab compare and run: policies side by side on simulated clicks, or an experiment by its id."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from rankloop.cli.lab.sweep_inputs import (
    add_caller_orders,
    make_fit_engine,
    read_measures,
    read_spec_file,
    read_users,
)
from rankloop.cli.lab.sweep_options import CallerOrders, EngineName, Groups, Out, Workers
from rankloop.cli.lab.sweep_results import print_picture, print_table, run_and_report
from rankloop.cli.own_policies import read_any_policy
from rankloop.errors import SettingError
from rankloop.lab.data import parse_groups
from rankloop.lab.simulation.probes import PROBES
from rankloop.lab.simulation.protocol import Protocol
from rankloop.lab.suites import find_experiment
from rankloop.lab.suites.experiment_runner import describe_claims, make_sweep
from rankloop.lab.sweeps.sweep import Sweep
from rankloop.naming import read_name, split_names


def compare(
    data: Annotated[
        str, typer.Option(help="Datasets, comma-separated; see `rankloop lab list`.")
    ] = "nonlinear",
    policies: Annotated[
        str, typer.Option(help="Policies, comma-separated, with settings after a colon.")
    ] = "pairrank,pdgd,mgd,dbgd,epsilon-greedy,ranknet,random",
    users: Annotated[str, typer.Option(help="Simulated users.")] = "perfect,navigational,informational",
    stop: Annotated[
        str, typer.Option(help="When users may stop reading: after a *click*, at *every* result, or *both*.")
    ] = "click",
    rounds: Annotated[int, typer.Option(min=1, help="Queries asked in each run.")] = 2000,
    seeds: Annotated[
        int, typer.Option(min=1, help="How often each run is repeated, each time with another random seed.")
    ] = 3,
    k: Annotated[int, typer.Option(min=1, help="Results shown, and cutoff of nDCG.")] = 10,
    probes: Annotated[
        str,
        typer.Option(help="What to look at inside the policies while they learn; see `rankloop lab list`."),
    ] = "",
    measures: Annotated[
        str,
        typer.Option(
            help="What to measure, each *offline*, *online*, *cumulative* or *total* and a metric, as in "
            "`offline ERR@10,online MRR` (default: nDCG@k in the first three ways, and `pairwise regret`)."
        ),
    ] = "",
    groups: Groups = "",
    caller_order: CallerOrders = "",
    out: Out = None,
    workers: Workers = None,
    engine: EngineName = "pool",
) -> None:
    """Compare policies on simulated clicks.

    Policies learn from the clicks of simulated users; a table, plots and a report say which learned best.

    For example:

    `rankloop lab compare`

    `rankloop lab compare --data "mq2008(fold=1)" --policies pdgd,dbgd --rounds 5000 --out results/first`

    `rankloop lab compare --policies "pdgd,PDGD(learning_rate=0.01),MGD(interleaving=probabilistic)"`

    `rankloop lab compare --policies "pairrank,PairRank(caller_order=decent)" --caller-order none,decent`

    `rankloop lab compare --policies pairrank,pdgd --measures "offline ERR@10,online MRR,cumulative nDCG@5"`

    `rankloop lab compare --engine ray:auto`

    The same command in the same folder goes on where it was stopped.
    """
    sweep = Sweep(
        data=add_caller_orders(split_names(data), caller_order),
        users=read_users(users, stop),
        policies={name: read_any_policy(name) for name in split_names(policies)},
        seeds=range(seeds),
        protocol=Protocol(rounds=rounds, k=k, measures=read_measures(measures)),
        probes={name: read_name(name, PROBES, noun="probe") for name in split_names(probes)},
        groups=parse_groups(groups) if groups else None,
    )
    run_and_report(
        sweep, title=f"{', '.join(sweep.policies)} on {data}", out=out, workers=workers, engine=engine
    )


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
        sweep, spec = read_spec_file(Path(what)), json.loads(Path(what).read_text("utf-8"))
        again = bool(spec.get("quick"))
        run_and_report(sweep, title=f"Again: {what}", out=out, workers=workers, engine=engine, quick=again)
        return
    experiment = find_experiment(what)
    if experiment.kind != "sweep" and (rounds or seeds or groups or caller_order):
        raise SettingError(
            f"{experiment.id} is a {experiment.kind} of its own length: --rounds, --seeds, --groups and "
            "--caller-order are for sweeps"
        )
    if experiment.kind == "picture":
        print_picture(experiment, data=data, out=out)
        return
    if experiment.kind == "table":
        print_table(experiment, data=data, quick=quick, out=out, engine=make_fit_engine(engine, workers))
        return
    sweep = make_sweep(
        experiment,
        data=add_caller_orders(split_names(data), caller_order) if data else (),
        rounds=rounds,
        seeds=seeds,
        quick=quick,
        groups=parse_groups(groups) if groups else None,
    )
    run_and_report(
        sweep,
        title=experiment.question,
        notes=describe_claims(experiment),
        out=out,
        workers=workers,
        engine=engine,
        quick=quick,
    )
