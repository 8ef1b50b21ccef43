"""Proof of a deletion in a SQLite file: what was removed is searched for in the raw bytes of all its files.

With `secure_delete` SQLite overwrites what is removed from a page. What may stay are pages that are free,
the write-ahead log, and copies that SQLite leaves in a page when it moves rows to another one. So free pages
are given back, the write-ahead log is emptied, the bytes are searched, and the indexes in which something is
found are written again; if that was not enough, or what to search for is not known any more, so is the file.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Collection, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import BinaryIO, NamedTuple, TypeAlias

from rankloop.service.store.byte_search import ByteSearch
from rankloop.service.store.purge import PurgeOutcome, RemovedTexts
from rankloop.service.store.sqlite.file_space import (
    RunAlone,
    empty_write_ahead_log,
    find_readers,
    rewrite_file,
    shrink_file,
)

Read: TypeAlias = Callable[[], AbstractContextManager[sqlite3.Connection]]
CHUNK = 2**24  # bytes that are searched at a time
ROWS = 1000  # that are read at a time
CACHES = ("decisions", "snapshots", "blocks")  # where ids of removed entries must not stand
_DESCRIPTORS: dict[tuple[int, int], int] = {}  # by device and inode: open as long as the process is
ROOT = 1  # of the kinds of pages in SQLite's pointer map


class Found(NamedTuple):
    """A text in a file."""

    file: Path
    place: int
    text: bytes


def purge_file(path: Path, alone: RunAlone, read: Read, texts: RemovedTexts | None) -> PurgeOutcome:
    """Purge a file until a search finds none of these texts; without texts, by writing it again."""
    if texts is None:
        rewrite_file(alone)
        return _empty(path, alone) or PurgeOutcome()
    for rewrite_all in (False, True):
        if blocked := _empty(path, alone):
            return blocked
        remains = find_remains(path, read, texts)
        if not remains:
            return PurgeOutcome()
        if rewrite_all:
            rewrite_file(alone)
        else:
            _rewrite_indexes(alone, read, remains)
    return _empty(path, alone) or PurgeOutcome(remains=find_remains(path, read, texts))


def find_remains(path: Path, read: Read, texts: RemovedTexts) -> tuple[str, ...]:
    """Return the tables, indexes and files with texts that no row may hold any more, by their names."""
    found = [each for file in log_files(path) for each in _search(file, ByteSearch(texts.all))]
    hits = {each.text for each in found}
    living = _find_in_rows(read, hits) - _find_in_rows(read, hits & texts.ids, CACHES, whole=True)
    left = [each for each in found if each.text not in living]
    pages = PageOwners(path, read)
    return tuple(sorted({pages.owner(each.place) if each.file == path else each.file.name for each in left}))


def log_files(path: Path) -> list[Path]:
    """Return the files of a log that hold rows: itself, and its write-ahead log."""
    files = (path, *(path.with_name(f"{path.name}-{suffix}") for suffix in ("wal", "journal")))
    return [file for file in files if file.exists()]


def open_raw(path: Path) -> BinaryIO:
    """Open a file of a log to read its bytes, by a descriptor that is never closed.

    Closing any descriptor of a file drops all locks that the process holds on it, SQLite's too: another
    process would believe that it is alone, and delete the write-ahead log that this one goes on writing to.
    """
    found = path.stat()
    key = found.st_dev, found.st_ino
    if key not in _DESCRIPTORS:
        _DESCRIPTORS[key] = os.open(path, os.O_RDONLY)
    os.lseek(_DESCRIPTORS[key], 0, os.SEEK_SET)
    return open(_DESCRIPTORS[key], "rb", closefd=False)


class PageOwners:
    """Which table or index a page of a file belongs to, by the pointers that a file which can shrink has."""

    def __init__(self, path: Path, read: Read) -> None:
        self._path = path
        with read() as connection:
            rows = connection.execute("SELECT rootpage, name FROM sqlite_schema WHERE rootpage > 0")
            self._roots: dict[int, str] = {1: "sqlite_schema", **dict(rows.fetchall())}
        with open_raw(path) as file:
            header = file.read(100)
        self._size = int.from_bytes(header[16:18], "big") or 1
        self._size = 65536 if self._size == 1 else self._size
        self._span = (self._size - header[20]) // 5 + 1  # pages from one page of pointers to the next

    def owner(self, place: int) -> str:
        """Return whose byte this is; the name of the file, if the page is free or the file has changed."""
        page, seen = place // self._size + 1, set[int]()
        with open_raw(self._path) as file:
            while page not in self._roots and page not in seen and page > 2:
                seen.add(page)
                pointers = (page - 2) // self._span * self._span + 2
                file.seek((pointers - 1) * self._size + 5 * (page - pointers - 1))
                entry = file.read(5)
                page = int.from_bytes(entry[1:], "big") if entry[:1] > bytes([ROOT]) else 0
        return self._roots.get(page, self._path.name)


def _empty(path: Path, alone: RunAlone) -> PurgeOutcome | None:
    """Give free pages back and empty the write-ahead log; the outcome, if somebody reads from it."""
    shrink_file(alone)
    return None if empty_write_ahead_log(alone) else PurgeOutcome(blockers=find_readers(path))


def _rewrite_indexes(alone: RunAlone, read: Read, names: Collection[str]) -> None:
    """Write those of these that are indexes again, one at a time."""
    with read() as connection:
        rows = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'index'").fetchall()
    for name in sorted({name for (name,) in rows}.intersection(names)):
        alone(f'REINDEX "{name}"')


def _search(file: Path, search: ByteSearch) -> Iterator[Found]:
    """Search a file from its beginning to its end, with what chunks have in common twice."""
    with open_raw(file) as opened:
        start, data = 0, opened.read(CHUNK)
        while data:
            yield from (Found(file, start + place, text) for place, text in search.find(data))
            kept = data[-search.longest :] if len(data) >= CHUNK else b""
            start, data = start + len(data) - len(kept), opened.read(CHUNK)
            data = kept + data if data else b""


def _find_in_rows(
    read: Read, texts: Collection[bytes], tables: Collection[str] = (), *, whole: bool = False
) -> set[bytes]:
    """Return those of the texts that rows hold, of some tables or of all; only `whole` ones, if so asked."""
    living: set[bytes] = set()
    search = ByteSearch(texts)
    with read() as connection:
        names = connection.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'table'").fetchall()
        for name, sql in names if texts else ():
            if not tables or name in tables:
                living.update(text for _, text in search.find(sql.encode()))
                rows = connection.execute(f'SELECT * FROM "{name}"')
                while page := rows.fetchmany(ROWS):
                    values = (value for row in page for value in row if isinstance(value, str | bytes))
                    raw = (value.encode() if isinstance(value, str) else value for value in values)
                    data = b"\n".join(raw)
                    found = search.find(data)
                    living.update(text for place, text in found if not whole or _is_whole(data, place, text))
    return living


def _is_whole(data: bytes, place: int, text: bytes) -> bool:
    """Whether a text is no part of a longer name."""
    beside = data[max(place - 1, 0) : place] + data[place + len(text) : place + len(text) + 1]
    return not any(chr(each).isalnum() or chr(each) in "-_." for each in beside)
