"""rankloop jobs: what a running service does that takes a while, how far it is, and taking it back."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

import typer
from rich.progress import BarColumn, Progress, TextColumn
from rich.table import Table

from rankloop.cli.console import CONSOLE
from rankloop.cli.trial_commands import LOCAL, Key, Url
from rankloop.client import Client

jobs_app = typer.Typer(
    no_args_is_help=True, help="Long jobs of a running service: forget, relearn, retire, roll back."
)


def moment(text: str) -> float | None:
    """A moment as seconds since 1970, from these or from a date; without a zone it is this machine's.

    >>> moment("2026-05-01T12:00+00:00"), moment("17.5"), moment("")
    (1777636800.0, 17.5, None)
    """
    if not text:
        return None
    try:
        return float(text)
    except ValueError:
        pass
    try:
        return datetime.fromisoformat(text).timestamp()
    except ValueError:
        raise typer.BadParameter(
            f"expected a moment as 2026-05-01T12:00, or seconds since 1970, found {text!r}"
        ) from None


Number = Annotated[int, typer.Argument(help="The number of the job.")]


@jobs_app.command()
def show(url: Url = LOCAL, key: Key = "") -> None:
    """Say which jobs there are and how far they are, the newest first.

    For example: `rankloop jobs show`
    """
    with Client(url, key, timeout=60.0) as client:
        found = client.jobs()
    table = Table("job", "ranker", "kind", "state", "progress", "version", "", box=None)
    for each in found:
        version = "" if each["version"] is None else f"{each['version']}"
        said = each["reason"] or each["trouble"]
        share = f"{each['progress']:.0%}"
        table.add_row(f"{each['id']}", each["ranker"], each["kind"], each["state"], share, version, said)
    CONSOLE.print(table if found else "no job was asked for so far")


@jobs_app.command()
def wait(job: Number, url: Url = LOCAL, key: Key = "") -> None:
    """Follow a job until it has ended; an error if it was cancelled, or failed.

    For example: `rankloop jobs wait 1207`
    """
    with Client(url, key, timeout=60.0) as client:
        tell(follow(client, client.job(job)))


@jobs_app.command()
def cancel(
    job: Number,
    reason: Annotated[str, typer.Option(help="Why.")] = "it was cancelled",
    url: Url = LOCAL,
    key: Key = "",
) -> None:
    """Cancel a job that is not done: nothing is changed.

    For example: `rankloop jobs cancel 1207 --reason "the wrong ranker"`
    """
    with Client(url, key, timeout=60.0) as client:
        tell(client.cancel_job(job, reason=reason))


@jobs_app.command()
def forget(
    events: Annotated[list[str] | None, typer.Argument(help="Ids of events.")] = None,
    ranker: Annotated[str, typer.Option(help="Whose events.")] = "default",
    client: Annotated[str, typer.Option(help="In place of ids: those of a client.")] = "",
    session: Annotated[str, typer.Option(help="In place of ids: those of a session.")] = "",
    source: Annotated[str, typer.Option(help="In place of ids: those of a source of the doctor's.")] = "",
    address: Annotated[str, typer.Option(help="In place of ids: those from an address.")] = "",
    since: Annotated[str, typer.Option(help="Of them, or of all, from a moment on.")] = "",
    until: Annotated[str, typer.Option(help="And before another, as 2026-05-01T12:00 or in seconds.")] = "",
    reason: Annotated[str, typer.Option(help="Why; for the log.")] = "",
    url: Url = LOCAL,
    key: Key = "",
) -> None:
    """Learn as if some events had never been, named by ids or chosen by the rest, and show the progress.

    For example: `rankloop jobs forget e17 e18 --ranker shop`,
    `rankloop jobs forget --address 192.0.2.7 --since 2026-05-01T12:00`
    """
    with Client(url, key, timeout=60.0) as service:
        job = service.forget(
            events or (),
            ranker,
            client_id=client,
            session_id=session,
            source=source,
            address=address,
            since=moment(since),
            until=moment(until),
            reason=reason,
        )
        tell(follow(service, job))


@jobs_app.command()
def retire(
    names: Annotated[list[str] | None, typer.Argument(help="Names of features.")] = None,
    unused_for: Annotated[
        float | None, typer.Option(help="In place of names: those in no list of so many days.")
    ] = None,
    ranker: Annotated[str, typer.Option(help="Whose features.")] = "default",
    url: Url = LOCAL,
    key: Key = "",
) -> None:
    """Learn as if these features had never been sent, take them off the schema, and show the progress.

    For example: `rankloop jobs retire --unused-for 30 --ranker shop`
    """
    with Client(url, key, timeout=60.0) as client:
        tell(follow(client, client.retire_features(names or [], ranker, unused_for=unused_for)))


@jobs_app.command()
def rollback(
    to: Annotated[int, typer.Argument(help="The version to go back to.")],
    ranker: Annotated[str, typer.Option(help="Which ranker.")] = "default",
    url: Url = LOCAL,
    key: Key = "",
) -> None:
    """Go back to an earlier version, and show the progress.

    For example: `rankloop jobs rollback 412 --ranker shop`
    """
    with Client(url, key, timeout=60.0) as client:
        tell(follow(client, client.rollback(ranker, to=to)))


def follow(client: Client, job: dict[str, Any]) -> dict[str, Any]:
    """A job once it is done, with a bar until then."""
    columns = (TextColumn("job {task.description}"), BarColumn(), TextColumn("{task.percentage:>3.0f} %"))
    with Progress(*columns, console=CONSOLE, transient=True, disable=not CONSOLE.is_terminal) as bar:
        task = bar.add_task(f"{job['id']} ({job['kind']})", total=1.0)

        def look(found: dict[str, Any]) -> None:
            bar.update(task, completed=found["progress"])

        return client.wait(job, look=look)


def tell(job: dict[str, Any]) -> None:
    """A job in a sentence."""
    version = "" if job["version"] is None else f", version {job['version']}"
    CONSOLE.print(
        f"job {job['id']} ({job['kind']}) of {job['ranker']}: {job['state']}{version}", markup=False
    )
