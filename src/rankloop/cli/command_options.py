"""Where the log of a service is: options for a folder, or for a database beside it."""

from __future__ import annotations

import getpass
from pathlib import Path
from typing import Annotated

import typer

DataDir = Annotated[Path, typer.Option(help="The folder of a service that is not running.")]
StoreUrl = Annotated[
    str,
    typer.Option(
        "--store",
        envvar="RANKLOOP_STORE",
        help="A PostgreSQL database that holds the log instead, as in `postgresql://user@host:5432/name`. A "
        "password is better kept in `PGPASSWORD` or `~/.pgpass`, where no list of processes shows it.",
    ),
]


def whoever() -> str:
    """Who decides something at the command line, for the decision log."""
    try:
        return f"command line: {getpass.getuser()}"
    except (OSError, KeyError):  # a container may know no names
        return "command line"
