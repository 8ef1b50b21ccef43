"""The command line: composes the parts and prints."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rankloop import __version__
from rankloop.cli import names
from rankloop.cli.bounds import bounds
from rankloop.cli.console import CONSOLE
from rankloop.cli.data import data_app
from rankloop.cli.demo import demo
from rankloop.cli.engine import EngineName, Workers
from rankloop.cli.evaluate import evaluate
from rankloop.cli.extract import reviews_app
from rankloop.cli.listing import list_everything
from rankloop.cli.log import export_, import_
from rankloop.cli.observable import observable
from rankloop.cli.recommend import recommend_app
from rankloop.cli.relearn import relearn
from rankloop.cli.retain import retain
from rankloop.cli.serve import serve
from rankloop.cli.spec import from_spec
from rankloop.cli.stopping import Stopping
from rankloop.cli.study import about_the_paper, draw, redo_report, study, tabulate
from rankloop.cli.trial import trial_app
from rankloop.cli.tune import tune_
from rankloop.data import parse_groups
from rankloop.experiments import PICTURES, SUITES, TABLES, Protocol, Sweep
from rankloop.spelling import lookup
from rankloop.types import SettingError

app = typer.Typer(
    name="rankloop",
    help="Rankings that learn from clicks and experiment only where they are unsure.",
    no_args_is_help=True,
    cls=Stopping,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.add_typer(data_app, name="data")
app.add_typer(reviews_app, name="reviews")
app.add_typer(recommend_app, name="recommend")
app.add_typer(trial_app, name="trial")
app.command()(demo)
app.command()(serve)
app.command()(relearn)
app.command()(retain)
app.command()(observable)
app.command()(bounds)
app.command(name="tune")(tune_)
app.command()(evaluate)
app.command(name="export")(export_)
app.command(name="import")(import_)

Out = Annotated[
    Path | None, typer.Option(help="Where results go (default: a folder named after the question).")
]
Groups = Annotated[
    str,
    typer.Option(
        help="Two groups of documents, as in `feature=128,threshold=0`: B where the feature, as a share of "
        "its range in the query, is at most the threshold, else A. Features are numbered as in the file, "
        "from 1: 128 is column 127 of a matrix that counts from 0."
    ),
]
Base = Annotated[
    str,
    typer.Option(
        help="Base orders that data comes with, comma-separated: *none*, *decent* (by the best single "
        "feature of the training queries) or *reversed*; `--data <name>@decent` says the same of one."
    ),
]


@app.callback(invoke_without_command=True)
def root(
    version: Annotated[bool, typer.Option("--version", help="Print the version and stop.")] = False,
) -> None:
    """Rankings that learn from clicks and experiment only where they are unsure."""
    if version:
        CONSOLE.print(f"rankloop {__version__}")
        raise typer.Exit


@app.command()
def compare(
    data: Annotated[
        str, typer.Option(help="Datasets, comma-separated; see `rankloop list`.")
    ] = "synthetic:nonlinear",
    policies: Annotated[
        str, typer.Option(help="Policies, comma-separated, with settings after a colon.")
    ] = "pairrank,pdgd,mgd,dbgd,epsilon-greedy,ranknet,random",
    users: Annotated[str, typer.Option(help="Simulated users.")] = "perfect,navigational,informational",
    stop: Annotated[
        str, typer.Option(help="When users may stop reading: after a *click*, at *every* result, or *both*.")
    ] = "click",
    rounds: Annotated[int, typer.Option(min=1, help="Queries asked in each run.")] = 2000,
    seeds: Annotated[int, typer.Option(min=1, help="Repetitions with other luck.")] = 3,
    k: Annotated[int, typer.Option(min=1, help="Results shown, and cutoff of nDCG.")] = 10,
    probes: Annotated[
        str, typer.Option(help="Looks into the policies on the way; see `rankloop list`.")
    ] = "",
    measures: Annotated[
        str,
        typer.Option(
            help="What to measure, each *offline*, *online*, *cumulative* or *total* and a metric, as in "
            "`offline ERR@10,online MRR` (default: nDCG@k in the first three ways, and `pairwise regret`)."
        ),
    ] = "",
    groups: Groups = "",
    base: Base = "",
    out: Out = None,
    workers: Workers = None,
    engine: EngineName = "pool",
) -> None:
    """Let policies learn from simulated clicks and compare them: table, plots, report.

    For example:

    `rankloop compare`

    `rankloop compare --data mq2008:fold1 --policies pdgd,dbgd --rounds 5000 --seeds 5 --out results/first`

    `rankloop compare --policies pdgd,pdgd:learning_rate=0.01,mgd:candidates=49,interleaving=probabilistic`

    `rankloop compare --policies pairrank,pairrank:trust=decent --base none,decent,reversed`

    `rankloop compare --policies pairrank,pdgd --measures "offline ERR@10,online MRR,cumulative nDCG@5"`

    `rankloop compare --engine ray:auto`

    The same command in the same folder goes on where it was stopped.
    """
    sweep = Sweep(
        data=names.with_bases(names.split_names(data), base),
        users=names.users(users, stop),
        policies={name: names.policy(name) for name in names.split_names(policies)},
        seeds=range(seeds),
        protocol=Protocol(rounds=rounds, k=k, measures=names.measures(measures)),
        probes={name: names.probe(name) for name in names.split_names(probes)},
        groups=parse_groups(groups) if groups else None,
    )
    study(sweep, title=f"{', '.join(sweep.policies)} on {data}", out=out, workers=workers, engine=engine)


@app.command()
def run(
    what: Annotated[str, typer.Argument(help="A suite's id (see `rankloop list`) or a `spec.json`.")],
    data: Annotated[str, typer.Option(help="Other datasets than the suite's.")] = "",
    rounds: Annotated[int | None, typer.Option(min=1, help="Other length than the suite's.")] = None,
    seeds: Annotated[
        int | None, typer.Option(min=1, help="Other number of repetitions than the suite's.")
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="A small version, to see whether all is well.")
    ] = False,
    groups: Groups = "",
    base: Base = "",
    out: Out = None,
    workers: Workers = None,
    engine: EngineName = "pool",
) -> None:
    """Run an experiment by its id, or again from the spec that lies beside its results.

    For example:

    `rankloop run classic/baselines --data mq2008 --out results/mq2008`

    `rankloop run pairrank/fig6 --data mq2008:fold1 --quick`

    `rankloop run results/mq2008/spec.json --out results/again`
    """
    if what.endswith(".json"):
        if data or rounds or seeds or quick or groups or base:
            raise SettingError(
                "a spec.json says everything: --data, --rounds, --seeds, --quick, --groups and --base "
                "are for suites"
            )
        study(from_spec(Path(what)), title=f"Again: {what}", out=out, workers=workers, engine=engine)
        return
    if what in PICTURES:
        draw(what, data=data, out=out)
        return
    if what in TABLES:
        tabulate(what, data=data, quick=quick, out=out)
        return
    chosen = parse_groups(groups) if groups else None
    suite = lookup("suite", what, SUITES)
    rounds, seeds = (rounds or suite.quick, seeds or 2) if quick else (rounds, seeds)
    wanted = names.with_bases(names.split_names(data), base) if data else ()
    sweep = suite.sweep(data=wanted, rounds=rounds, seeds=seeds, groups=chosen)
    study(sweep, title=suite.title, notes=about_the_paper(suite), out=out, workers=workers, engine=engine)


@app.command()
def report(
    folder: Annotated[Path, typer.Argument(help="A folder with `results.parquet` and `spec.json`.")],
    title: Annotated[str, typer.Option(help="Title of the page.")] = "",
) -> None:
    """Print the table of finished results and write their report again.

    Example: `rankloop report results/mq2008`
    """
    redo_report(folder, title=title or folder.resolve().name)


@app.command(name="list")
def list_() -> None:
    """List policies, users, datasets, probes, measures and suites by name."""
    list_everything()
