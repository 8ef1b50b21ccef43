"""rankloop lab evaluate: what policies would have got, from a table of single choices."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rankloop.cli.evaluate_command import USUAL, Level, Policies, TrainShare, print_estimates, split_rounds
from rankloop.errors import DataError, SettingError
from rankloop.lab.data.round_tables import OPEN_BANDIT, RoundColumns, read_rounds


def evaluate(
    log: Annotated[Path, typer.Argument(help="A CSV file with a header, plain, .gz or .xz.")],
    policies: Policies = USUAL,
    columns: Annotated[
        str,
        typer.Option(help="Which columns are what: `reward=click,shown=ad,propensity=p,context=age+land`."),
    ] = "",
    open_bandit: Annotated[
        bool, typer.Option("--open-bandit", help="The columns are those of the Open Bandit Dataset.")
    ] = False,
    train: Annotated[
        Path | None, typer.Option(help="Another log to learn from (default: the first part of this one).")
    ] = None,
    train_share: TrainShare = 0.5,
    level: Level = 0.95,
) -> None:
    """Estimate what policies would have got from a table of single choices with propensities.

    A policy learns from the first part of the log, or from another one, and stays as it is for the rest.

    For example:

    `rankloop lab evaluate log.csv --columns reward=click,shown=ad,propensity=p,context=age+country`

    `rankloop lab evaluate random_all.csv.xz --open-bandit --policies "AUCRanker(epsilon=0.2),random"`

    The log of a service is judged by `rankloop evaluate`.
    """
    if log.is_dir():
        raise DataError(f"{log}: expected a CSV file, found a folder; `rankloop evaluate` reads a service's")
    if open_bandit and columns:
        raise SettingError("--open-bandit says what the columns are: leave --columns out")
    mapping = OPEN_BANDIT if open_bandit else RoundColumns.parse(columns)
    rounds = read_rounds(log, mapping)
    if train is None:
        print_estimates(policies, *split_rounds(rounds, train_share), level)
        return
    learned = read_rounds(train, mapping)
    widths = [part.contexts.shape[1] for part in (learned, rounds)]
    if widths[0] != widths[1]:
        raise DataError(f"both logs must have the same features, found {widths[0]} and {widths[1]}")
    print_estimates(policies, learned, rounds, level)
