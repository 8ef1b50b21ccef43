"""rankloop lab compare: policies on simulated clicks, side by side."""

from __future__ import annotations

from typing import Annotated

import typer

from rankloop.cli.lab import names
from rankloop.cli.lab.sweep_commands import study
from rankloop.cli.lab.sweep_options import CallerOrders, EngineName, Groups, Out, Workers
from rankloop.cli.own_policies import read_any_policy
from rankloop.lab.data import parse_groups
from rankloop.lab.simulation.probes import PROBES
from rankloop.lab.simulation.protocol import Protocol
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
        data=names.with_caller_orders(split_names(data), caller_order),
        users=names.users(users, stop),
        policies={name: read_any_policy(name) for name in split_names(policies)},
        seeds=range(seeds),
        protocol=Protocol(rounds=rounds, k=k, measures=names.measures(measures)),
        probes={name: read_name(name, PROBES, noun="probe") for name in split_names(probes)},
        groups=parse_groups(groups) if groups else None,
    )
    study(sweep, title=f"{', '.join(sweep.policies)} on {data}", out=out, workers=workers, engine=engine)
