"""Notes beside backups: which deletions came after a backup, so that they are made again when it is restored.

A note is the decision about a deletion. It names nobody: it has a salt, and hashes of the lists and ids.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

import msgspec

from rankloop.errors import DataError
from rankloop.service.store import Decision


def notes_of(backup: Path) -> Path:
    """Return the file with the notes of a backup.

    >>> notes_of(Path("monday.db")).name
    'monday.db.deletions'
    """
    return backup.with_name(f"{backup.name}.deletions")


def write_notes(backups: Iterable[str], decision: Decision) -> None:
    """Write beside each backup that a deletion came after it, once."""
    for path in map(notes_of, map(Path, backups)):
        found = [each for each in read_notes(path) if each.seq != decision.seq]
        draft = path.with_name(f".{path.name}.part")
        draft.touch(mode=0o600)
        with draft.open("wb") as file:
            file.writelines(msgspec.json.encode(each) + b"\n" for each in (*found, decision))
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)


def read_notes(path: Path) -> list[Decision]:
    """Read the deletions that a file of notes tells of; none, if there is no such file."""
    try:
        lines = path.read_bytes().splitlines() if path.exists() else []
        return [msgspec.json.decode(line, type=Decision) for line in lines]
    except msgspec.MsgspecError as error:
        raise DataError(f"{path} is damaged, and says which deletions to make again: {error}") from error
