"""rankloop keys: make, list, revoke and rotate the keys of a service, also of one that runs."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, Protocol, cast

import typer
from rich.table import Table

from rankloop.cli.command_options import StoreUrl, whoever
from rankloop.cli.console import CONSOLE
from rankloop.client import Client

keys_app = typer.Typer(no_args_is_help=True, help="Keys of a service: make, list, revoke, rotate.")

Folder = Annotated[Path, typer.Option(help="The folder of a service, which may be running.")]
Url = Annotated[
    str, typer.Option(help="Where a service answers, instead of a folder.", envvar="RANKLOOP_URL")
]
Key = Annotated[
    str,
    typer.Option(help="An admin key, with --url; better in the environment.", envvar="RANKLOOP_KEY"),
]
Name = Annotated[str, typer.Argument(help="The name of the key.")]
Reason = Annotated[str, typer.Option(help="Why; it stays in the decision log.")]
HERE = Path("rankloop-data")


class KeyDesk(Protocol):
    """Where keys are managed: a folder or database, or a service that answers."""

    def keys(self) -> list[dict[str, Any]]:
        """Every key by its name, the oldest first."""
        ...

    def create_key(self, name: str, scope: str, *, reason: str = "") -> str:
        """A new key."""
        ...

    def rotate_key(self, name: str, *, grace: float = 0.0, reason: str = "") -> str:
        """New bits for a key."""
        ...

    def revoke_key(self, name: str, *, reason: str = "") -> None:
        """Revoke a key: it stops working."""
        ...


@keys_app.command()
def create(
    name: Name,
    scope: Annotated[str, typer.Option(help="What it opens: *page*, *rank* or *admin*.")] = "rank",
    reason: Reason = "",
    data_dir: Folder = HERE,
    store: StoreUrl = "",
    url: Url = "",
    key: Key = "",
) -> None:
    """Make a key, and show it this once.

    Whoever has lost every admin key makes another one here, on the machine of the service.

    For example:

    `rankloop keys create shop-frontend --scope rank --reason "the new web shop"`

    `rankloop keys create anna --scope admin --url https://ranking.example`
    """
    with desk(data_dir, store, url, key) as found:
        show(found.create_key(name, scope, reason=reason))


@keys_app.command(name="list")
def list_(data_dir: Folder = HERE, store: StoreUrl = "", url: Url = "", key: Key = "") -> None:
    """List every key by its name, also those that were revoked.

    For example: `rankloop keys list`
    """
    with desk(data_dir, store, url, key) as found:
        tell(found.keys())


@keys_app.command()
def revoke(
    name: Name,
    reason: Reason = "",
    data_dir: Folder = HERE,
    store: StoreUrl = "",
    url: Url = "",
    key: Key = "",
) -> None:
    """Revoke a key: it stops working within a second, without a restart.

    For example: `rankloop keys revoke shop-frontend --reason "it stood in a public repository"`
    """
    with desk(data_dir, store, url, key) as found:
        found.revoke_key(name, reason=reason)
    CONSOLE.print(f"{name} is revoked: it no longer works", markup=False)


@keys_app.command()
def rotate(
    name: Name,
    grace: Annotated[float, typer.Option(help="Seconds for which the old secret still works.")] = 0.0,
    reason: Reason = "",
    data_dir: Folder = HERE,
    store: StoreUrl = "",
    url: Url = "",
    key: Key = "",
) -> None:
    """Give a key a new secret under its name, and show it this once.

    For example: `rankloop keys rotate shop-frontend --grace 3600`
    """
    with desk(data_dir, store, url, key) as found:
        show(found.rotate_key(name, grace=grace, reason=reason))


@contextmanager
def desk(data_dir: Path, store: str, url: str, key: str) -> Iterator[KeyDesk]:
    """Where the keys are managed."""
    from rankloop.service.operations.data_directory import DataDirectory  # noqa: PLC0415
    from rankloop.service.operations.key_manager import KeyManager  # noqa: PLC0415

    if url:
        with Client(url, key, timeout=60.0) as client:
            yield client
        return
    with DataDirectory(data_dir, store).open(create=False, shared=True) as log:
        yield _InFolder(KeyManager(log, clock=time.time))


class _InFolder:
    """The keys in a store, as a client sees them."""

    def __init__(self, manager: Any) -> None:
        self._manager = manager

    def keys(self) -> list[dict[str, Any]]:
        columns = ("name", "scope", "created", "by", "reason", "rotated", "revoked")
        return [{name: getattr(key, name) for name in columns} for key in self._manager.all()]

    def create_key(self, name: str, scope: str, *, reason: str = "") -> str:
        return cast(str, self._manager.create(name, scope, by=whoever(), reason=reason))

    def rotate_key(self, name: str, *, grace: float = 0.0, reason: str = "") -> str:
        return cast(str, self._manager.rotate(name, grace=grace, by=whoever(), reason=reason))

    def revoke_key(self, name: str, *, reason: str = "") -> None:
        self._manager.revoke(name, by=whoever(), reason=reason)


def show(secret: str) -> None:
    """Print a key, alone on its line, so that a script can take it."""
    CONSOLE.print(secret, markup=False, highlight=False, soft_wrap=True)


def tell(keys: list[dict[str, Any]]) -> None:
    """A row for each key."""
    table = Table("name", "scope", "created", "by", "state", "reason", box=None)
    for key in keys:
        table.add_row(key["name"], key["scope"], _day(key["created"]), key["by"], _state(key), key["reason"])
    CONSOLE.print(table)


def _state(key: Mapping[str, Any]) -> str:
    """Whether a key opens anything, in words.

    >>> _state({"revoked": 0.0, "rotated": None}), _state({"revoked": None, "rotated": None})
    ('revoked 1970-01-01', 'opens')
    """
    if key["revoked"] is not None:
        return f"revoked {_day(key['revoked'])}"
    return "opens" if key["rotated"] is None else f"opens, rotated {_day(key['rotated'])}"


def _day(at: float) -> str:
    return time.strftime("%Y-%m-%d", time.gmtime(at))
