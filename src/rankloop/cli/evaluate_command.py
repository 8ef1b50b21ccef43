"""rankloop evaluate: what policies would have got, from the log of a stopped service."""

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
from rankloop.lab.data.logged_rounds import LoggedRounds, find_choice_probabilities, weigh_rounds
from rankloop.naming import split_names
from rankloop.policies import AdPolicy, Policy

Policies = Annotated[str, typer.Option(help="Policies for one ad, comma-separated; see `rankloop lab list`.")]
TrainShare = Annotated[
    float, typer.Option(help="How much of the log policies learn from before the rest judges them.")
]
Level = Annotated[float, typer.Option(help="With which probability the bounds hold.")]
USUAL = "auc-ranker,ad-logistic,random"
NOTES = (
    "The interval contains the true click rate with this probability, if the log is looked at once; the "
    "bound of the last estimate holds however often it is looked at.",
    "effective rounds: so many rounds of the policy's own would say as much. A mean weight far from 1 means "
    "that the propensities of the log are not what they say.",
)


def evaluate(
    folder: Annotated[Path, typer.Argument(help="The folder of a stopped service.")],
    policies: Policies = USUAL,
    ranker: Annotated[str, typer.Option(help="Whose lists.")] = "default",
    first: Annotated[
        int,
        typer.Option(min=0, help="Judge by clicks on the first so many results, of lists of any length."),
    ] = 0,
    train_share: TrainShare = 0.5,
    level: Level = 0.95,
) -> None:
    """Estimate what policies would have got from a service's log, without showing them to anybody.

    A policy learns from the first part of the log, and stays as it is for the rest.

    For example:

    `rankloop evaluate rankloop-data --ranker banner --policies squarecb,random`

    `rankloop evaluate rankloop-data --ranker shop --policies pdgd,random --first 2`

    A table of single choices is judged by `rankloop lab evaluate`.
    """
    if not (folder / "log.db").exists():
        raise DataError(f"{folder} holds no log of a service; `rankloop lab evaluate` reads tables")
    if first:
        lists_in(folder, ranker, split_names(policies), first, train_share, level)
        return
    log = log_in(folder, ranker)
    if log.left_out:
        CONSOLE.print(
            f"left out, since what was shown may not be what was drawn: lists {told(log.left_out)}",
            highlight=False,
            soft_wrap=True,
        )
    print_estimates(policies, *split_rounds(log.rounds, train_share), level)


def split_rounds(rounds: LoggedRounds, share: float) -> tuple[LoggedRounds, LoggedRounds]:
    """Split rounds into those to learn from and those to judge by.

    >>> log = LoggedRounds(np.zeros((4, 0)), ("tea",), np.zeros(4, int), np.ones(4), np.ones(4))
    >>> [len(part) for part in split_rounds(log, 0.25)]
    [1, 3]
    """
    if not 0 < share < 1:
        raise SettingError(
            f"--train-share must leave rounds for both parts, above 0 and below 1, found {share}"
        )
    cut = round(share * len(rounds))
    if not 0 < cut < len(rounds):
        raise SettingError(f"--train-share must leave rounds for both parts, found {share} of {len(rounds)}")
    return rounds.take(np.arange(cut)), rounds.take(np.arange(cut, len(rounds)))


def print_estimates(policies: str, learned: LoggedRounds, judged: LoggedRounds, level: float) -> None:
    """Let policies learn from some rounds, and print what they would have got in the others."""
    CONSOLE.print(
        f"{len(learned):,} rounds to learn from, {len(judged):,} to judge by: {len(judged.ads)} ads, "
        f"{judged.contexts.shape[1]} features, click rate {judged.mean_reward:.4%}",
        highlight=False,
    )
    answers: dict[str, WeightedLog] = {}
    for name in split_names(policies):
        try:
            answers[name] = _weigh(read_any_policy(name), learned, judged)
        except NoSupport as error:
            CONSOLE.print(f"{name}: no answer: {error}", soft_wrap=True)
    CONSOLE.print(_make_table(answers, level))
    for note in NOTES:
        CONSOLE.print(f"[dim]{note}[/]")


def _weigh(policy: Policy, learned: LoggedRounds, judged: LoggedRounds) -> WeightedLog:
    """Let a policy learn from some rounds, and weigh the others for it."""
    if isinstance(policy, AdPolicy):
        policy.learn_rows(learned.contexts, learned.keys, learned.rewards > 0)
    return weigh_rounds(judged, find_choice_probabilities(policy, judged))


def _make_table(answers: dict[str, WeightedLog], level: float) -> Table:
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
