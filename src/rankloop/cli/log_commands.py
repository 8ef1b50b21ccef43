"""rankloop backup, restore and verify: copies of a log, and whether it is as it was written."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from rich.filesize import decimal
from rich.progress import Progress

from rankloop.cli.command_options import DataDir, StoreUrl, whoever
from rankloop.cli.console import CONSOLE, ERRORS
from rankloop.cli.key_commands import HERE, Folder, Reason

Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace what is there, for good.")]


def backup(
    to: Annotated[Path, typer.Argument(help="A file that ends in .db or .jsonl; of a database, in .jsonl.")],
    overwrite: Overwrite = False,
    reason: Reason = "",
    data_dir: Folder = HERE,
    store: StoreUrl = "",
) -> None:
    """Write a service's log to one file, as of this moment, while the service runs.

    A .db file is a copy of a log in a folder. A .jsonl file has one entry a line: programs can read it, and
    it is restored into a folder or a database. A backup that is killed leaves nothing under that name.

    For example:

    `rankloop backup /backup/monday.db`

    `rankloop backup log.jsonl --data-dir rankloop-data`

    `rankloop backup /backup/monday.jsonl --store postgresql://db.example/shop`
    """
    from rankloop.service.core.decision_kind import sign_decision  # noqa: PLC0415
    from rankloop.service.operations.backup import back_up  # noqa: PLC0415
    from rankloop.service.operations.data_directory import DataDirectory  # noqa: PLC0415

    said = sign_decision(whoever(), reason)
    size = back_up(DataDirectory(data_dir, store), to, overwrite=overwrite, said=said)
    CONSOLE.print(f"{to}: {decimal(size)}", highlight=False, markup=False, soft_wrap=True)


def restore(
    source: Annotated[Path, typer.Argument(help="A file that `rankloop backup` wrote.")],
    overwrite: Overwrite = False,
    data_dir: DataDir = HERE,
    store: StoreUrl = "",
) -> None:
    """Put a backup in place of the log of a service that is not running.

    People who were deleted since the backup was made are deleted from it again: those that the log in its
    place knows, and those in the file that a deletion wrote beside the backup (`monday.db.deletions`).

    For example:

    `rankloop restore /backup/monday.db --data-dir rankloop-data --overwrite`

    `rankloop restore /backup/monday.jsonl --store postgresql://db.example/new`
    """
    from rankloop.service.extensions.registry import load_registry  # noqa: PLC0415
    from rankloop.service.operations.backup import restore as put_back  # noqa: PLC0415
    from rankloop.service.operations.data_directory import DataDirectory  # noqa: PLC0415

    directory = DataDirectory(data_dir, store)
    done = put_back(source, directory, load_registry().part_types, overwrite=overwrite)
    CONSOLE.print(f"{directory.name} now is {source}", highlight=False, markup=False, soft_wrap=True)
    if done.deletions:
        CONSOLE.print(
            f"the backup is from before {done.deletions:,} deletion{'s'[done.deletions == 1 :]} of people's "
            f"data: {done.entries:,} lists and events were deleted from it again",
            highlight=False,
            soft_wrap=True,
        )
    if not done.knows_all:
        ERRORS.print(
            "the log that was replaced could not be read: of people who were deleted since the backup, those "
            f"named in {source.name}.deletions were deleted again, and no others",
            soft_wrap=True,
        )


def verify(
    replays: Annotated[int, typer.Option(min=0, help="How many of the newest lists to make again.")] = 1000,
    data_dir: Folder = HERE,
    store: StoreUrl = "",
) -> None:
    """Check that entries can be read, digests are right, and the newest snapshot is the fold of the log.

    What is wrong is said in sentences, and the exit code is 1.

    For example: `rankloop verify --data-dir /var/lib/rankloop`
    """
    found = list(findings(data_dir, store, replays))
    for each in found:
        CONSOLE.print(each, highlight=False, markup=False, soft_wrap=True)
    if found:
        raise typer.Exit(1)
    CONSOLE.print("everything is as it was written", highlight=False)


def findings(data_dir: Path, store: str, replays: int) -> list[str]:
    """What is wrong, with a bar on the way."""
    from rankloop.policies.policy_names import POLICIES  # noqa: PLC0415
    from rankloop.service.extensions.registry import load_registry  # noqa: PLC0415
    from rankloop.service.operations import verify as check  # noqa: PLC0415
    from rankloop.service.operations.data_directory import DataDirectory  # noqa: PLC0415
    from rankloop.service.store import StoreError  # noqa: PLC0415
    from rankloop.service.store.sqlite.file_copies import damage  # noqa: PLC0415

    directory = DataDirectory(data_dir, store)
    log_file = data_dir / "log.db"
    if not store and log_file.exists() and not log_file.stat().st_size:
        return [f"{log_file} is empty: nothing is left of a log, restore a backup"]
    wrong = [] if store or not log_file.exists() else damage(log_file)
    found = [f"{log_file} is damaged: {each}" for each in wrong]
    try:
        with (
            directory.open(create=False, shared=True) as log,
            Progress(console=ERRORS, transient=True) as bar,
        ):
            task = bar.add_task("reading", total=None)
            bar.update(task, total=check.size(log))
            step = partial(bar.advance, task)
            registry = load_registry()
            log.register_parts(registry.part_types)
            found += check.verify(log, registry, POLICIES, replays=replays, step=step)
    except StoreError as error:
        found.append(str(error))
    return found
