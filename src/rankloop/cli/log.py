"""rankloop export and import: the log of a service as files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rankloop.cli.console import CONSOLE
from rankloop.types import DataError

DataDir = Annotated[Path, typer.Option(help="The folder of a service that is not running.")]


def export_(
    to: Annotated[Path, typer.Argument(help="A file that ends in .jsonl, or a folder for Parquet tables.")],
    data_dir: DataDir = Path("rankloop-data"),
) -> None:
    """Write a service's whole log to files: JSON lines to read, or Parquet tables to analyse.

    For example:

    `rankloop export log.jsonl`

    `rankloop export tables/ --data-dir /var/lib/rankloop`
    """
    from rankloop.service.data_dir import DataDirectory  # noqa: PLC0415
    from rankloop.store.export import export_jsonl, export_parquet  # noqa: PLC0415

    if not (data_dir / "log.db").exists():
        raise DataError(f"{data_dir} holds no log: name the folder of a service with --data-dir")
    with DataDirectory(data_dir).open() as store:
        count = (export_jsonl if to.suffix == ".jsonl" else export_parquet)(store, to)
    CONSOLE.print(f"{count:,} entries written to {to}", soft_wrap=True)


def import_(
    source: Annotated[Path, typer.Argument(help="What `rankloop export` wrote.")],
    data_dir: DataDir = Path("rankloop-data"),
) -> None:
    """Read an exported log into a new folder; the service there then knows what this one knew.

    For example: `rankloop import log.jsonl --data-dir copy`
    """
    from rankloop.service.data_dir import DataDirectory  # noqa: PLC0415
    from rankloop.store.export import import_jsonl, import_parquet  # noqa: PLC0415

    if not source.exists():
        raise DataError(f"{source} does not exist: name a file or a folder that `rankloop export` wrote")
    with DataDirectory(data_dir).open() as store:
        if store.rankers():
            raise DataError(f"{data_dir} holds a log already: an import needs a new folder")
        count = (import_parquet if source.is_dir() else import_jsonl)(source, store)
    CONSOLE.print(f"{count:,} entries read into {data_dir}", soft_wrap=True)
