"""rankloop evaluate: what policies would have got, from a log that another one made."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from rich.table import Table

from rankloop.cli.console import CONSOLE
from rankloop.cli.list_log import lists_in
from rankloop.cli.own_policies import read_any_policy
from rankloop.cli.service_log import log_in, told
from rankloop.errors import DataError, SettingError
from rankloop.evaluation import NoSupport, WeightedLog, estimate_rewards
from rankloop.lab.data.logged_rounds import LoggedRounds, choice_probabilities, weigh_rounds
from rankloop.lab.data.round_tables import OPEN_BANDIT, Columns, read_rounds
from rankloop.naming import split_names
from rankloop.policies import AdPolicy, Policy

NOTES = (
    "The interval contains the true click rate with this probability, if the log is looked at once; the "
    "bound of the last estimate holds however often it is looked at.",
    "effective rounds: so many rounds of the policy's own would say as much. A mean weight far from 1 means "
    "that the propensities of the log are not what they say.",
)


def evaluate(
    log: Annotated[
        Path,
        typer.Argument(help="A CSV file with a header or a stopped service's folder."),
    ],
    policies: Annotated[
        str, typer.Option(help="Policies for one ad, comma-separated; see `rankloop lab list`.")
    ] = "auc-ranker,ad-logistic,random",
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
    train_share: Annotated[
        float, typer.Option(help="How much of the log policies learn from before the rest judges them.")
    ] = 0.5,
    ranker: Annotated[str, typer.Option(help="Whose log, if it is that of a service.")] = "default",
    level: Annotated[float, typer.Option(help="With which probability the bounds hold.")] = 0.95,
    first: Annotated[
        int,
        typer.Option(min=0, help="Of a service's lists: judge by clicks on the first so many results."),
    ] = 0,
) -> None:
    """Estimate the click rate of policies from a log with propensities, without showing them to anybody.

    A policy learns from the first part of the log, or from another one, and stays as it is for the rest.

    For example:

    `rankloop evaluate rankloop-data --ranker banner --policies squarecb,random`

    `rankloop evaluate rankloop-data --ranker shop --policies pdgd,random --first 2`

    `rankloop evaluate log.csv --columns reward=click,shown=ad,propensity=p,context=age+country`

    `rankloop evaluate random_all.csv.xz --open-bandit --policies "AUCRanker(epsilon=0.2),random"`
    """
    if first:
        lists_in(log, ranker, split_names(policies), first, train_share, level)
        return
    if open_bandit and columns:
        raise SettingError("--open-bandit says what the columns are: leave --columns out")
    mapping = OPEN_BANDIT if open_bandit else Columns.parse(columns)
    learned, judged = parts(log, train, mapping, train_share, ranker)
    CONSOLE.print(
        f"{len(learned):,} rounds to learn from, {len(judged):,} to judge by: {len(judged.ads)} ads, "
        f"{judged.contexts.shape[1]} features, click rate {judged.mean_reward:.4%}",
        highlight=False,
    )
    answers: dict[str, WeightedLog] = {}
    for name in split_names(policies):
        try:
            answers[name] = judge(read_any_policy(name), learned, judged)
        except NoSupport as error:
            CONSOLE.print(f"{name}: no answer: {error}", soft_wrap=True)
    CONSOLE.print(table(answers, level))
    for note in NOTES:
        CONSOLE.print(f"[dim]{note}[/]")


def parts(
    log: Path, train: Path | None, mapping: Columns, share: float, ranker: str
) -> tuple[LoggedRounds, LoggedRounds]:
    """The rounds to learn from, and those to judge by."""

    def read(path: Path) -> LoggedRounds:
        return _of_service(path, ranker) if (path / "log.db").exists() else read_rounds(path, mapping)

    if train is not None:
        both = read(train), read(log)
        widths = [part.contexts.shape[1] for part in both]
        if widths[0] != widths[1]:
            raise DataError(f"both logs must have the same features, found {widths[0]} and {widths[1]}")
        return both
    if not 0 < share < 1:
        raise SettingError(
            f"--train-share must leave rounds for both parts, above 0 and below 1, found {share}"
        )
    rounds = read(log)
    cut = round(share * len(rounds))
    if not 0 < cut < len(rounds):
        raise SettingError(f"--train-share must leave rounds for both parts, found {share} of {len(rounds)}")
    return rounds.take(np.arange(cut)), rounds.take(np.arange(cut, len(rounds)))


def _of_service(path: Path, ranker: str) -> LoggedRounds:
    log = log_in(path, ranker)
    if log.left_out:
        CONSOLE.print(
            f"left out, since what was shown may not be what was drawn: lists {told(log.left_out)}",
            highlight=False,
            soft_wrap=True,
        )
    return log.rounds


def judge(policy: Policy, learned: LoggedRounds, judged: LoggedRounds) -> WeightedLog:
    """Let a policy learn from some rounds, and weigh the others for it."""
    if isinstance(policy, AdPolicy):
        policy.learn_rows(learned.contexts, learned.keys, learned.rewards > 0)
    return weigh_rounds(judged, choice_probabilities(policy, judged))


def table(answers: dict[str, WeightedLog], level: float) -> Table:
    """Put estimates into a table, a row for each policy."""
    shown = Table(title=f"click rates by the log, intervals of {level:.0%}", title_justify="left", box=None)
    for name, log in answers.items():
        found = estimate_rewards(log, level)
        if not shown.columns:
            for heading in ("policy", *(each.name for each in found), "effective rounds", "mean weight"):
                shown.add_column(heading, justify="left" if heading == "policy" else "right")
        cells = [
            f"{each.value:.4%}\n"
            + (
                f"at least {max(each.lower, 0.0):.4%}"
                if each.any_time
                else f"{each.lower:.4%} to {each.upper:.4%}"
            )
            for each in found
        ]
        shown.add_row(name, *cells, f"{log.effective:,.0f}", f"{log.weights.mean():.3f}")
    return shown
