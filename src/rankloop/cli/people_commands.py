"""rankloop people: find and delete what a service has stored of someone, also while it runs."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from rankloop.cli.command_options import StoreUrl, whoever
from rankloop.cli.console import CONSOLE, ERRORS
from rankloop.cli.key_commands import HERE, Folder, Key, Reason, Url
from rankloop.client import Client

people_app = typer.Typer(no_args_is_help=True, help="What is stored of people: find it, delete it.")

ClientId = Annotated[str, typer.Option("--client", help="By the client_id of lists and events.")]
SessionId = Annotated[str, typer.Option("--session", help="By the session_id.")]
User = Annotated[str, typer.Option(help="By the user of the context.")]


@people_app.command()
def find(
    client: ClientId = "",
    session: SessionId = "",
    user: User = "",
    data_dir: Folder = HERE,
    store: StoreUrl = "",
    url: Url = "",
    key: Key = "",
) -> None:
    """Say what is stored of a person: their lists, and what was done with them.

    For example: `rankloop people find --client c-4711`
    """
    from rankloop.service.operations import people  # noqa: PLC0415
    from rankloop.service.operations.data_directory import DataDirectory  # noqa: PLC0415
    from rankloop.service.store import Person  # noqa: PLC0415

    ids = {"client_id": client, "session_id": session, "user": user}
    if url:
        with Client(url, key, timeout=60.0) as asked:
            tell(asked.find_person(**ids))
        return
    with DataDirectory(data_dir, store).open(create=False, shared=True) as log:
        found = people.find(log, Person(**ids))
        tell({name: getattr(found, name) for name in found.__dataclass_fields__})


@people_app.command()
def delete(
    client: ClientId = "",
    session: SessionId = "",
    user: User = "",
    reason: Reason = "",
    data_dir: Annotated[Path, typer.Option(help="The folder of a service that is not running.")] = HERE,
    store: StoreUrl = "",
    url: Url = "",
    key: Key = "",
) -> None:
    """Delete what is stored of a person from log, snapshots and models, and leave no byte of it.

    The model is then to the bit what it would be if they had never been there. A service that runs does it
    with `--url`, beside serving.

    For example:

    `rankloop people delete --client c-4711 --reason "asked for by letter"`

    `rankloop people delete --user anna --url https://ranking.example`
    """
    from rankloop.service.operations.data_directory import DataDirectory  # noqa: PLC0415
    from rankloop.service.service_facade import ServiceFacade  # noqa: PLC0415
    from rankloop.service.store import Person  # noqa: PLC0415

    ids = {"client_id": client, "session_id": session, "user": user}
    if url:
        with Client(url, key, timeout=60.0) as asked:
            found = asked.delete_people([ids], reason=reason)
            while not found["done"]:
                if found["blockers"]:
                    break  # it may take long, and goes on without this command
                time.sleep(0.2)
                found = next(each for each in asked.deletions() if each["decision"] == found["decision"])
        say(found)
        return
    ERRORS.print("reading the log ...", style="dim")
    with DataDirectory(data_dir, store).open(create=False) as log, ServiceFacade(log) as service:
        done = service.delete_people([Person(**ids)], by=whoever(), reason=reason)
        say(asdict(done))


def tell(found: dict[str, Any]) -> None:
    """What is stored, in a line and a row for each list."""
    CONSOLE.print(_counted(found), highlight=False)
    for each in found["newest_lists"]:
        when = time.strftime("%Y-%m-%d %H:%M", time.gmtime(each["at"]))
        row = f"{when}  {each['ranker']}  {each['query_id']}  {each.get('user_query', '')}"
        CONSOLE.print(row, highlight=False, markup=False, soft_wrap=True)


def say(found: dict[str, Any]) -> None:
    """What was deleted, and what still holds it."""
    if found["done"]:
        state = "a search found nothing of them in the files of the store"
    else:
        readers = named(found["blockers"]) or "the service"
        state = f"the deletion is pending until {readers} no longer reads old files, and goes on by itself"
    CONSOLE.print(f"{_counted(found)} deleted; {state}", highlight=False, soft_wrap=True)
    for each in found["backups"]:
        CONSOLE.print(f"this backup still holds them: {each}", highlight=False, markup=False, soft_wrap=True)


def named(blockers: Sequence[Mapping[str, Any]]) -> str:
    """Processes that are in the way.

    >>> named([{"pid": 4711, "application": "nightly report", "since": None}])
    'nightly report (process 4711)'
    """
    return ", ".join(f"{each['application'] or 'a session'} (process {each['pid']})" for each in blockers)


def _counted(found: dict[str, Any]) -> str:
    """How many lists and events.

    >>> _counted({"lists": 1, "events": 1200})
    '1 list and 1,200 events'
    """
    lists, events = found["lists"], found["events"]
    return f"{lists:,} list{'s'[lists == 1 :]} and {events:,} event{'s'[events == 1 :]}"
