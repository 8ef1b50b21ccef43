"""The command line: composes the parts and prints."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import polars as pl
import typer

from rankloop import __version__
from rankloop.cli import names
from rankloop.cli.console import CONSOLE
from rankloop.cli.data import data_app
from rankloop.cli.listing import list_everything
from rankloop.cli.stopping import Stopping
from rankloop.cli.study import conventions, show, study
from rankloop.experiments import SUITES, Protocol, Sweep, write_report
from rankloop.types import DataError, SettingError
from rankloop.users import Preset

app = typer.Typer(
    name="rankloop",
    help="Rankings that learn from clicks and experiment only where they are provably unsure.",
    no_args_is_help=True,
    cls=Stopping,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.add_typer(data_app, name="data")

Out = Annotated[
    Path | None, typer.Option(help="Where results go (default: a folder named after the question).")
]
Workers = Annotated[int | None, typer.Option(min=1, help="Processes to use (default: all cores).")]
STOPS = {"click": ("click",), "every": ("every",), "both": ("click", "every")}


@app.callback(invoke_without_command=True)
def root(
    version: Annotated[bool, typer.Option("--version", help="Print the version and stop.")] = False,
) -> None:
    """Rankings that learn from clicks and experiment only where they are provably unsure."""
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
    ] = "pdgd,mgd,dbgd,epsilon-greedy,ranknet,random",
    users: Annotated[str, typer.Option(help="Simulated users.")] = "perfect,navigational,informational",
    stop: Annotated[
        str, typer.Option(help="When users may stop reading: after a *click*, at *every* result, or *both*.")
    ] = "click",
    rounds: Annotated[int, typer.Option(min=1, help="Queries asked in each run.")] = 2000,
    seeds: Annotated[int, typer.Option(min=1, help="Repetitions with other luck.")] = 3,
    k: Annotated[int, typer.Option(min=1, help="Results shown, and cutoff of nDCG.")] = 10,
    out: Out = None,
    workers: Workers = None,
) -> None:
    """Let policies learn from simulated clicks and compare them: table, plots, report.

    For example:

    `rankloop compare`

    `rankloop compare --data mq2008:fold1 --policies pdgd,dbgd --rounds 5000 --seeds 5 --out results/first`

    `rankloop compare --policies pdgd,pdgd:learning_rate=0.01,mgd:candidates=49,interleaving=probabilistic`

    The same command in the same folder goes on where it was stopped.
    """
    sweep = Sweep(
        data=names.split_names(data),
        users=_users(users, stop),
        policies={name: names.policy(name) for name in names.split_names(policies)},
        seeds=range(seeds),
        protocol=Protocol(rounds=rounds, k=k),
    )
    study(sweep, title=f"{', '.join(sweep.policies)} on {data}", out=out, workers=workers)


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
    out: Out = None,
    workers: Workers = None,
) -> None:
    """Run an experiment by its id, or again from the spec that lies beside its results.

    For example:

    `rankloop run classic/baselines --data mq2008 --out results/mq2008`

    `rankloop run results/mq2008/spec.json --out results/again`
    """
    if what.endswith(".json"):
        if data or rounds or seeds or quick:
            raise SettingError(
                "a spec.json says everything: --data, --rounds, --seeds and --quick are for suites"
            )
        study(_from_spec(Path(what)), title=f"Again: {what}", out=out, workers=workers)
        return
    suite = names.lookup("suite", what, SUITES)
    rounds, seeds = (rounds or 200, seeds or 2) if quick else (rounds, seeds)
    sweep = suite.sweep(data=names.split_names(data), rounds=rounds, seeds=seeds)
    study(sweep, title=suite.title, out=out, workers=workers)


@app.command()
def report(
    folder: Annotated[Path, typer.Argument(help="A folder with `results.parquet` and `spec.json`.")],
    title: Annotated[str, typer.Option(help="Title of the page.")] = "",
) -> None:
    """Print the table of finished results and write their report again.

    Example: `rankloop report results/mq2008`
    """
    path = folder / "results.parquet"
    if not path.exists():
        raise DataError(f"{path} does not exist: name a folder that `rankloop compare --out` has filled")
    results = pl.read_parquet(path)
    notes = conventions(_from_spec(folder / "spec.json"))
    page = write_report(results, folder, title=title or folder.resolve().name, notes=notes)
    show(results)
    CONSOLE.print(f"report   {page}", soft_wrap=True)


@app.command(name="list")
def list_() -> None:
    """List policies, users, datasets and suites by name."""
    list_everything()


def _users(text: str, stop: str) -> dict[str, Preset]:
    chosen = {}
    for reading in names.lookup("reading of stop", stop, STOPS):
        for name in names.split_names(text):
            full = name if ":" in name or reading == "click" else f"{name}:stop={reading}"
            chosen[full] = names.user(full)
    return chosen


def _from_spec(path: Path) -> Sweep:
    """The sweep that a spec.json describes."""
    try:
        spec = json.loads(path.read_text(encoding="utf-8"))
        sweep = Sweep(
            data=spec["data"],
            users={name: names.user(name) for name in spec["users"]},
            policies={name: names.policy(name) for name in spec["policies"]},
            seeds=spec["seeds"],
            protocol=Protocol(
                **{key: spec[key] for key in ("rounds", "k", "discount", "checkpoints", "without_relevant")}
            ),
        )
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DataError(f"{path} is no spec the command line can run: {error}") from error
    if sweep.describe() != spec:
        raise DataError(
            f"{path} describes values the command line does not know by these names; run it from Python"
        )
    return sweep
