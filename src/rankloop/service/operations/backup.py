"""Backup and restore of a log: beside a service that runs, and as a whole or not at all."""

from __future__ import annotations

import shutil
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from rankloop.errors import DataError
from rankloop.service.core.deleted_lists import DELETE
from rankloop.service.operations.data_directory import DataDirectory, draft_of
from rankloop.service.operations.deletion_notes import notes_of, read_notes
from rankloop.service.operations.people import BACKUP
from rankloop.service.operations.restored_deletions import Restored, delete_again
from rankloop.service.store import (
    SERVICE,
    Decision,
    PartType,
    SqliteStore,
    Store,
    StoreError,
    Transaction,
    write,
)
from rankloop.service.store.log_archive import export_log, import_log
from rankloop.service.store.sqlite.file_copies import check_log, copy, settle, sync


def back_up(
    directory: DataDirectory, target: Path, *, overwrite: bool = False, said: Mapping[str, str]
) -> int:
    """Write a log to a file as of this moment; its size. Its name appears when all of it is on the disk.

    The name says which form it has: `.db` is a SQLite file, of a log in a folder; `.jsonl` has a line of JSON
    for each entry, and can be restored into a folder or a database.
    """
    kinds = (".jsonl",) if directory.database else (".db", ".jsonl")
    if target.suffix not in kinds:
        raise DataError(
            f"a backup of {directory.name} is a file that ends in {' or '.join(kinds)}, found {target.name!r}"
        )
    here = directory.path / "log.db"
    if target.exists() and here.exists() and target.samefile(here):
        raise DataError(f"{target} is the log itself, and may be in use: choose another name")
    if target.exists() and not overwrite:
        raise DataError(f"{target} is there already: choose another name, or say --overwrite")
    target.parent.mkdir(parents=True, exist_ok=True)
    draft = _draft(target)
    try:
        with directory.open(create=False, shared=True) as log:
            seq = _write_down(log, target, said)
            if target.suffix == ".jsonl":
                export_log(log, draft, until=seq)
                sync(draft)
            else:
                copy(here, draft)
        draft.replace(target)
    finally:
        _clear(draft)  # of one that failed nothing is left: it would hold people's data, and fill the disk
    return target.stat().st_size


def restore(
    source: Path, directory: DataDirectory, parts: Sequence[PartType], *, overwrite: bool = False
) -> Restored:
    """Put a backup in place of a log, of which no service may be running.

    People who were deleted since the backup are deleted from it again, before it takes the place of the log:
    as far as the log that it replaces knows them, and the notes that deletions wrote beside the backup.
    `parts` are what extensions keep of a list, so that the totals of these are right afterwards.
    """
    if not source.is_file():
        raise DataError(f"{source} does not exist: name a file that `rankloop backup` wrote")
    notes = read_notes(notes_of(source))
    if source.suffix == ".jsonl":
        return _import(source, directory, overwrite, notes, parts)
    if directory.database:
        raise DataError(f"{source} is for a folder: a database takes a backup that ends in .jsonl")
    if (beside := source.with_name(f"{source.name}-wal")).exists() and beside.stat().st_size:
        raise DataError(
            f"{source} is not all of a log, some of it is in {beside.name}: make a backup of it first"
        )
    log = directory.path / "log.db"
    with directory.held():
        if log.exists() and not overwrite:
            raise DataError(f"{directory.path} holds a log already: say --overwrite to replace it for good")
        known, knows_all = _read_deletions(log)
        draft = _draft(log)
        try:
            shutil.copyfile(source, draft)
            check_log(draft, source)
            with SqliteStore(draft) as store:
                store.register_parts(parts)
                deletions, entries = delete_again(store, [*known, *notes])
            sync(draft)
            settle(log)
            draft.replace(log)
        finally:
            _clear(draft)  # what was refused is not left there
    return Restored(deletions=deletions, entries=entries, knows_all=knows_all)


def _read_deletions(log: Path) -> tuple[Sequence[Decision], bool]:
    """Read the deletions that a log knows; and whether it could be read, if it is there."""
    if not log.exists():
        return (), True
    try:
        with SqliteStore(log, read_only=True) as store:
            return store.read_decisions(SERVICE, kinds=(DELETE,)), True
    except StoreError:
        return (), False


def _import(
    source: Path,
    directory: DataDirectory,
    overwrite: bool,
    notes: Sequence[Decision],
    parts: Sequence[PartType],
) -> Restored:
    if overwrite:
        raise DataError("a .jsonl file is restored into a new folder or database: nothing is overwritten")
    with directory.open() as log:
        if log.list_rankers() or log.read_decisions(SERVICE):
            raise DataError(f"{directory.name} holds a log already: restore into a new folder or database")
        log.register_parts(parts)
        import_log(source, log)
        deletions, entries = delete_again(log, notes)
    return Restored(deletions=deletions, entries=entries, knows_all=True)


def _write_down(log: Store, target: Path, said: Mapping[str, str]) -> int:
    """That a backup is made is a decision: a deletion of people's data names those that are still there."""
    at = time.time()

    def job(transaction: Transaction) -> int:
        body = {"file": str(target.resolve()), **said}
        return transaction.append(Decision(at=transaction.time(at), ranker=SERVICE, kind=BACKUP, body=body))

    return write(log, job)


def _draft(target: Path) -> Path:
    """Where a file is written before it has its name, for its owner alone; what a kill left is begun anew."""
    draft = draft_of(target)
    _clear(draft)
    draft.touch(mode=0o600)
    return draft


def _clear(draft: Path) -> None:
    for suffix in ("", "-journal", "-wal", "-shm"):
        draft.with_name(draft.name + suffix).unlink(missing_ok=True)
