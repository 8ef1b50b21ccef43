"""rankloop trial: compare a ranker of a running service with something else, live."""

from __future__ import annotations

import time
from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table

from rankloop.cli.console import CONSOLE
from rankloop.client import Client
from rankloop.errors import DataError

trial_app = typer.Typer(no_args_is_help=True, help="Compare a ranker of a running service, live.")

Url = Annotated[str, typer.Option(help="Where the service answers.", envvar="RANKLOOP_URL")]
Key = Annotated[str, typer.Option(help="An admin key.", envvar="RANKLOOP_KEY")]
Ranker = Annotated[str, typer.Argument(help="The ranker: arm A.")]
LOCAL = "http://127.0.0.1:8000"


@trial_app.command()
def start(
    ranker: Ranker = "default",
    kind: Annotated[
        str, typer.Option(help="*holdout*: a share of the sessions gets arm B; *interleave*: mixed lists.")
    ] = "holdout",
    share: Annotated[float, typer.Option(help="Share of the sessions that get arm B.")] = 0.5,
    against: Annotated[str, typer.Option(help="Arm B: another ranker as it is now.")] = "",
    policy: Annotated[str, typer.Option(help="Arm B: what another policy would have learned.")] = "",
    action: Annotated[
        str, typer.Option(help="Whose values decide, such as `purchase`; without one, clicks do.")
    ] = "",
    max_value: Annotated[
        float | None, typer.Option(help="Counts at most this value per list; needed with an action.")
    ] = None,
    outcome_seconds: Annotated[
        float | None,
        typer.Option(help="Time after a list in which clicks and values count (default: the window)."),
    ] = None,
    session_seconds: Annotated[
        float, typer.Option(help="Time after its first list in which the lists of a session count.")
    ] = 1800.0,
    url: Url = LOCAL,
    key: Key = "",
) -> None:
    """Begin a trial: against your own order, another ranker or another policy.

    For example:

    `rankloop trial start shop --share 0.1`

    `rankloop trial start shop --kind interleave --against new`

    `rankloop trial start shop --action purchase --max-value 200`
    """
    with Client(url, key, timeout=60.0) as client:
        settings: dict[str, Any] = {"kind": kind, "share": share, "ranker": against}
        settings |= {"policy": policy or None, "action": action}
        settings |= {"max_value": max_value, "outcome_seconds": outcome_seconds}
        settings |= {"session_seconds": session_seconds}
        found = client.start_trial(ranker, settings)
    CONSOLE.print(f"trial {found['trial']} of {ranker} has begun, against {found['against']}", markup=False)


@trial_app.command()
def show(ranker: Ranker = "default", url: Url = LOCAL, key: Key = "") -> None:
    """Say what the trials of a ranker have shown so far; look as often as you like.

    For example: `rankloop trial show shop`
    """
    with Client(url, key, timeout=60.0) as client:
        found = client.trials(ranker)
    if not found:
        raise DataError(f"ranker {ranker!r} had no trial: begin one with `rankloop trial start {ranker}`")
    for each in found:
        tell(each)


@trial_app.command()
def stop(
    trial: Annotated[int, typer.Argument(help="The number of the trial.")],
    ranker: Annotated[str, typer.Option(help="Whose trial.")] = "default",
    reason: Annotated[str, typer.Option(help="Why.")] = "it was stopped",
    url: Url = LOCAL,
    key: Key = "",
) -> None:
    """End a trial and say what it has shown.

    For example: `rankloop trial stop 17 --ranker shop --reason "enough is known"`
    """
    with Client(url, key, timeout=60.0) as client:
        tell(client.stop_trial(trial, ranker, reason=reason))


def tell(report: dict[str, Any]) -> None:
    """A trial: its verdict in words, and a row for each outcome."""
    began = time.strftime("%d %b %Y, %H:%M UTC", time.gmtime(report["began"]))
    state = "runs" if report["runs"] else f"has ended: {report['reason']}"
    whose = escape(report["ranker"])
    CONSOLE.print(f"[bold]trial {report['trial']}[/] of {whose} began {began} and {escape(state)}")
    CONSOLE.print(report["sentence"], soft_wrap=True, highlight=False, markup=False)
    table = Table("outcome", "A", "B", "estimate", "at least", "at most", "sessions", box=None)
    for each in report["outcomes"]:
        numbers = [each[name] for name in ("a", "b", "estimate", "lower", "upper")]
        cells = ["–" if value is None else f"{value:.4g}" for value in numbers]
        table.add_row(each["outcome"], *cells, f"{each['sessions']:,}")
    CONSOLE.print(table)
