"""rankloop retain: delete the old part of a service's log, and give the space back."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.filesize import decimal

from rankloop.cli.command_options import DataDir, StoreUrl, whoever
from rankloop.cli.console import CONSOLE, ERRORS
from rankloop.errors import SettingError

if TYPE_CHECKING:
    from rankloop.service.operations.retention import Retained

DAY = 86_400.0  # seconds


def retain(
    days: Annotated[float | None, typer.Option(min=0, help="Keep the last so many days.")] = None,
    gigabytes: Annotated[
        float | None, typer.Option(min=0, help="Keep what fits: the oldest part of the log goes first.")
    ] = None,
    data_dir: DataDir = Path("rankloop-data"),
    store: StoreUrl = "",
    ranker: Annotated[str, typer.Option(help="Whose log.")] = "default",
) -> None:
    """Delete the old part of a service's log, as far as its model can do without it.

    What was learned from it stays. What is deleted can be neither explained, replayed nor forgotten any more.
    A service that runs does the same with `POST /v1/retain`.

    For example:

    `rankloop retain --days 90`

    `rankloop retain --data-dir /var/lib/rankloop --ranker shop --days 30`

    `rankloop retain --gigabytes 5`
    """
    from rankloop.service.operations.data_directory import DataDirectory  # noqa: PLC0415
    from rankloop.service.service_facade import ServiceFacade  # noqa: PLC0415

    if (days is None) == (gigabytes is None):
        raise SettingError("say --days or --gigabytes, one of them")
    directory = DataDirectory(data_dir, store)
    ERRORS.print(f"reading the log in {directory.name} ...", style="dim")
    with directory.open(create=False) as log, ServiceFacade(log) as service:
        ERRORS.print(f"deleting the oldest part of {ranker} ...", style="dim")
        if gigabytes is not None:
            found = service.shrink(ranker, gigabytes=gigabytes, by=whoever())
        else:
            since = log.time(service.clock()) - DAY * (days or 0)
            found = service.retain(ranker, since=since, by=whoever())
    CONSOLE.print(sentence(ranker, days, found), soft_wrap=True)


def sentence(ranker: str, days: float | None, found: Retained) -> str:
    """What was deleted, and what that brought.

    >>> from rankloop.service.operations.retention import Retained
    >>> sentence("shop", 30, Retained(entries=1200, freed=4_500_000, base=1900))
    'shop: 1,200 entries deleted, 4.5 MB given back to the disk; its log now begins at entry 1,900'
    >>> sentence("shop", 30, Retained(entries=0, freed=0, base=0))
    'shop: nothing deleted, for no snapshot older than 30 days can stand in for what was before it'
    """
    if found.blockers:
        names = ", ".join(
            f"{each.application or 'a session'} (process {each.pid})" for each in found.blockers
        )
        return f"{ranker}: {found.entries:,} entries deleted; {names} reads the rest: end it, and try again"
    if not found.entries and days is None:
        return (
            f"{ranker}: nothing deleted, for it fits, or no older snapshot can stand in for what was before"
        )
    if not found.entries:
        return (
            f"{ranker}: nothing deleted, for no snapshot older than {days:g} days can stand in for what "
            "was before it"
        )
    return (
        f"{ranker}: {found.entries:,} entries deleted, {decimal(found.freed)} given back to the disk; "
        f"its log now begins at entry {found.base:,}"
    )
