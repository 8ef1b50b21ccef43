"""Where the log of a service is: options for a folder, or for a database beside it."""

from __future__ import annotations

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
