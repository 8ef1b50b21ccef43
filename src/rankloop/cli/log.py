"""rankloop export and import: the log of a service as files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rankloop.cli.command_options import DataDir, StoreUrl
from rankloop.cli.console import CONSOLE
from rankloop.errors import DataError


def export_(
    to: Annotated[Path, typer.Argument(help="A file that ends in .jsonl, or a folder for Parquet tables.")],
    data_dir: DataDir = Path("rankloop-data"),
    store: StoreUrl = "",
) -> None:
    """Write a service's whole log to files: JSON lines to read, or Parquet tables to analyse.

    For example:

    `rankloop export log.jsonl`

    `rankloop export tables/ --data-dir /var/lib/rankloop`

    `rankloop export log.jsonl --store postgresql://db.example/shop`
    """
    from rankloop.service.operations.data_directory import DataDirectory  # noqa: PLC0415
    from rankloop.service.store.log_archive import export_jsonl, export_parquet  # noqa: PLC0415

    with DataDirectory(data_dir, store).open(create=False) as log:
        count = (export_jsonl if to.suffix == ".jsonl" else export_parquet)(log, to)
    CONSOLE.print(f"{count:,} entries written to {to}", soft_wrap=True)


def import_(
    source: Annotated[Path, typer.Argument(help="What `rankloop export` wrote.")],
    data_dir: DataDir = Path("rankloop-data"),
    store: StoreUrl = "",
) -> None:
    """Read an exported log into a new folder or database; a service there then knows what this one knew.

    For example:

    `rankloop import log.jsonl --data-dir copy`

    `rankloop import log.jsonl --store postgresql://db.example/shop`
    """
    from rankloop.service.operations.data_directory import DataDirectory  # noqa: PLC0415
    from rankloop.service.store.log_archive import import_jsonl, import_parquet  # noqa: PLC0415

    if not source.exists():
        raise DataError(f"{source} does not exist: name a file or a folder that `rankloop export` wrote")
    directory = DataDirectory(data_dir, store)
    with directory.open() as log:
        if log.list_rankers():
            kind = "database" if store else "folder"
            raise DataError(f"{directory.name} holds a log already: an import needs a new {kind}")
        count = (import_parquet if source.is_dir() else import_jsonl)(source, log)
    CONSOLE.print(f"{count:,} entries read into {directory.name}", soft_wrap=True)
