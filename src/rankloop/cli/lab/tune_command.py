"""rankloop lab tune: settings of a policy, chosen on validation queries."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import polars as pl
import typer
from rich.table import Table

from rankloop.cli.console import CONSOLE
from rankloop.cli.lab.sweep_inputs import read_users
from rankloop.cli.lab.sweep_progress import SweepProgress
from rankloop.cli.own_policies import read_any_policy
from rankloop.errors import SettingError
from rankloop.lab.simulation.protocol import Protocol
from rankloop.lab.sweeps.engines import Pool
from rankloop.lab.sweeps.results_folder import run_sweep, write_json
from rankloop.lab.sweeps.sweep import Sweep
from rankloop.lab.sweeps.sweep_spec import sweep_id
from rankloop.lab.sweeps.tuning import EVERYONE, Choice, list_points, order_policies, read_grid, tune
from rankloop.naming import find_kind, split_names
from rankloop.policies.paper_settings import PAPER

BY = {"offline": "offline", "cumulative": "cumulative"}  # kinds of measures


def tune_(
    policy: Annotated[
        str, typer.Argument(help="A policy, as `pairrank@paper` with the paper's grid, or any with `--grid`.")
    ],
    grid: Annotated[
        str, typer.Option(help="Settings to try, as in `learning_rate=0.1|0.01,epsilon=0.1|0.2`.")
    ] = "",
    data: Annotated[
        str, typer.Option(help="Datasets, comma-separated; see `rankloop lab list`.")
    ] = "nonlinear",
    users: Annotated[str, typer.Option(help="Simulated users.")] = "perfect,navigational,informational",
    stop: Annotated[
        str, typer.Option(help="When users may stop reading: after a *click*, at *every* result, or *both*.")
    ] = "click",
    by: Annotated[
        str,
        typer.Option(
            help="What decides: *offline* nDCG on the validation queries, as in the papers, or *cumulative* "
            "nDCG, what users got on the training queries meanwhile."
        ),
    ] = "offline",
    halving: Annotated[
        bool, typer.Option("--halving", help="Successive halving instead of every point for all rounds.")
    ] = False,
    rounds: Annotated[int, typer.Option(min=1, help="Queries asked in each run.")] = 2000,
    seeds: Annotated[
        int, typer.Option(min=1, help="How often each run is repeated, each time with another random seed.")
    ] = 3,
    k: Annotated[int, typer.Option(min=1, help="Results shown, and cutoff of nDCG.")] = 10,
    out: Annotated[
        Path | None, typer.Option(help="Where results go (default: a folder named after the question).")
    ] = None,
    workers: Annotated[int | None, typer.Option(min=1, help="Processes to use (default: all cores).")] = None,
) -> None:
    """Choose settings on validation queries.

    Test queries take no part.

    For example:

    `rankloop lab tune pairrank@paper --data "mq2008(fold=1)" --rounds 5000 --halving`

    `rankloop lab tune epsilon-greedy --grid "learning_rate=0.01|0.001,epsilon=0.05|0.1" --data mq2008`

    `rankloop lab tune ranknet@paper --by cumulative --users navigational`

    Of data without validation queries, the last fifth of the training queries is taken for them. The same
    command in the same folder goes on where it was stopped.
    """
    kind = find_kind(by, BY, "way to choose")
    sweep = Sweep(
        data=split_names(data),
        users=read_users(users, stop),
        policies={point: read_any_policy(point) for point in _points(policy, grid)},
        seeds=range(seeds),
        protocol=Protocol(rounds=rounds, k=k),
    )
    measure = next(name for name, each in sweep.measures.items() if each.kind == kind)
    folder = out or Path("rankloop-results") / f"tune-{sweep_id(sweep)}"
    choices: list[Choice] = []
    for rung in tune(sweep, measure=measure, execute=_Execution(folder, workers), halving=halving):
        CONSOLE.print(_table(rung, measure))
        choices += rung
    _conclude(choices, measure, folder)


def _points(policy: str, grid: str) -> list[str]:
    """List the points of the grid that was given, or of the paper's."""
    if grid:
        return list_points(policy, read_grid(grid))
    paper = PAPER.get(policy.partition("(")[0])
    if paper is None or not paper.grid:
        known = ", ".join(name for name, each in PAPER.items() if each.grid)
        raise SettingError(f"{policy} has no grid of a paper: give one with --grid, or tune one of {known}")
    return list_points(policy, paper.grid)


class _Execution:
    """Does a rung with a progress display, and keeps its results in a folder of its own."""

    def __init__(self, folder: Path, workers: int | None) -> None:
        self._folder, self._workers = folder, workers or os.cpu_count() or 1

    def __call__(self, sweep: Sweep, number: int) -> pl.DataFrame:
        runs, rounds = len(sweep.cells()), sweep.protocol.rounds
        CONSOLE.print(f"{len(sweep.policies)} points of the grid: {runs} runs of {rounds:,} rounds")
        engine = Pool(min(self._workers, runs))
        with SweepProgress(CONSOLE, runs=runs, rounds=rounds) as progress:
            return run_sweep(sweep, self._folder / f"rung{number + 1}", engine=engine, report=progress)


def _table(choices: Sequence[Choice], measure: str) -> Table:
    """Make a row for each policy, the best first; a column for each user, and one for their mean."""
    users = list(dict.fromkeys(each.user for each in choices))
    first = choices[0]
    name = first.policy.partition("(")[0]
    title = f"{name}, {measure}, rung {first.rung + 1}: {first.rounds:,} rounds, validation queries"
    table = Table("settings", *users, title=title, title_justify="left", title_style="bold", box=None)
    table.columns[0].overflow = "fold"
    cells = {(each.policy, each.user): each for each in choices}
    listed = order_policies(choices)
    for policy in (*listed, *(name for name, user in cells if user == EVERYONE and name not in listed)):
        table.add_row(
            policy.removeprefix(f"{name}(").removesuffix(")"), *(_cell(cells[policy, user]) for user in users)
        )
    return table


def _cell(choice: Choice) -> str:
    if choice.value is None:
        return "[dim]diverged"
    return f"[bold]{choice.value:.4g}[/]" if choice.best else f"{choice.value:.4g}"


def _conclude(choices: Sequence[Choice], measure: str, folder: Path) -> None:
    last = [each for each in choices if each.rung == choices[-1].rung]
    best = {each.user: each.policy for each in reversed(last) if each.best}
    rows = [asdict(each) for each in choices]
    write_json(folder / "tuning.json", {"measure": measure, "best": best, "choices": rows})
    for user in (*(user for user in best if user != EVERYONE), EVERYONE):
        CONSOLE.print(f"best, {user}: {best[user]}", soft_wrap=True)
    CONSOLE.print(f"\nchoices  {folder / 'tuning.json'}", soft_wrap=True)
