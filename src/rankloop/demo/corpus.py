"""Search engine of the demo: SQLite's full-text index, BM25, and what it knows about each hit."""

from __future__ import annotations

import contextlib
import math
import re
import sqlite3
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import Any, Self

from rankloop.demo.stdlib import KINDS, Entry, standard_library

HITS = 30  # candidates of a search
FORMAT = f"1 {sys.version}"  # of the index; another one is made again
COLUMNS = tuple(each.name for each in fields(Entry))
MATCHES = ("title_match", "path_match", "text_match")


@dataclass(frozen=True, slots=True)
class Hit:
    """Something a search found, with its features by name; None is missing."""

    entry: Entry
    features: Mapping[str, float | None]


class Corpus:
    """An index in one file; made if it is not there, or of another Python.

    >>> corpus = Corpus.of(standard_library(["json", "bisect"]))
    >>> corpus.search("bisect right")[0].entry.name
    'bisect.bisect_right'
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._one_at_a_time = threading.Lock()

    @classmethod
    def of(cls, entries: Sequence[Entry]) -> Self:
        """An index in memory."""
        connection = sqlite3.connect(":memory:", check_same_thread=False)
        _fill(connection, entries)
        return cls(connection)

    @classmethod
    def open(cls, path: Path, entries: Callable[[], Sequence[Entry]] = standard_library) -> Self:
        """The index in this file, which is made if need be."""
        if not _is_current(path):
            draft = path.with_suffix(".new")
            draft.unlink(missing_ok=True)
            with contextlib.closing(sqlite3.connect(draft)) as connection:
                _fill(connection, entries())
            draft.replace(path)
        return cls(sqlite3.connect(path, check_same_thread=False))

    def close(self) -> None:
        """Let go of the file."""
        self._connection.close()

    def __len__(self) -> int:
        return int(self._rows("SELECT count(*) FROM entries")[0][0])

    def entry(self, name: str) -> Entry | None:
        """Something by its full name."""
        rows = self._rows(f"SELECT {', '.join(COLUMNS)} FROM entries WHERE name = ?", name)
        return _entry(rows[0]) if rows else None

    def search(self, text: str, *, hits: int = HITS) -> list[Hit]:
        """The best matches by BM25, the best first; nothing if no word of it is known."""
        wanted = words(text)
        if not wanted:
            return []
        columns = ", ".join(f"entries.{name}" for name in COLUMNS)
        rows = self._rows(
            f"""SELECT -bm25(texts, 1, 0, 0), -bm25(texts, 0, 1, 0), -bm25(texts, 0, 0, 1), {columns}
            FROM texts JOIN entries ON entries.rowid = texts.rowid
            WHERE texts MATCH ? ORDER BY bm25(texts, 4, 1, 1), entries.rowid LIMIT ?""",
            " OR ".join(f'"{word}"' for word in wanted),
            hits,
        )
        return [
            Hit(entry := _entry(row), dict(zip(MATCHES, matches, strict=True)) | described(entry))
            for *matches, row in ((a, b, c, row) for a, b, c, *row in rows)
        ]

    def _rows(self, query: str, *values: object) -> list[Any]:
        with self._one_at_a_time:
            return self._connection.execute(query, values).fetchall()


def described(entry: Entry) -> dict[str, float | None]:
    """What is known of an entry whatever is searched.

    >>> described(Entry(name="json.loads", kind="function", doc="Read", lines=49))["depth"]
    1.0
    """
    return {
        **{f"is_{kind}": float(entry.kind == kind) for kind in KINDS},
        "depth": float(entry.name.count(".")),
        "text_length": math.log1p(len(entry.doc.split())),
        "source_length": None if entry.lines is None else math.log1p(entry.lines),
        "arguments": None if entry.arguments is None else float(entry.arguments),
        "examples": math.log1p(entry.doc.count(">>>")),
        "popularity": math.log1p(entry.imports),
    }


def words(text: str) -> list[str]:
    """The words of a search, also the parts of a name.

    >>> words('JSONDecoder.raw_decode("x")')
    ['json', 'decoder', 'raw', 'decode', 'x']
    """
    parts = re.sub(r"([a-z0-9])([A-Z])|([A-Z])([A-Z][a-z])", r"\1\3 \2\4", text)
    return list(dict.fromkeys(re.findall(r"[a-z0-9]+", parts.lower())))[:20]


def _fill(connection: sqlite3.Connection, entries: Sequence[Entry]) -> None:
    marks = ", ".join("?" for _ in COLUMNS)
    connection.execute(f"CREATE TABLE entries ({', '.join(COLUMNS)}, UNIQUE (name))")
    connection.execute("CREATE VIRTUAL TABLE texts USING fts5 (title, path, body, tokenize = 'porter')")
    kept = {entry.name: entry for entry in entries}  # a name defined twice is what it was last
    connection.executemany(f"INSERT INTO entries VALUES ({marks})", map(astuple, kept.values()))
    connection.executemany(
        "INSERT INTO texts (rowid, title, path, body) VALUES (?, ?, ?, ?)",
        ((number, *_texts(entry)) for number, entry in enumerate(kept.values(), start=1)),
    )
    connection.execute("CREATE TABLE made (format)")
    connection.execute("INSERT INTO made VALUES (?)", (FORMAT,))
    connection.commit()


def _texts(entry: Entry) -> tuple[str, str, str]:
    path, _, title = entry.name.rpartition(".")
    return f"{title.lower()} {' '.join(words(title))}", f"{path.lower()} {' '.join(words(path))}", entry.doc


def _is_current(path: Path) -> bool:
    if not path.exists():
        return False
    with contextlib.closing(sqlite3.connect(path)) as connection:
        try:
            return bool(connection.execute("SELECT format FROM made").fetchone() == (FORMAT,))
        except sqlite3.Error:
            return False


def _entry(row: Sequence[object]) -> Entry:
    return Entry(**dict(zip(COLUMNS, row, strict=True)))  # type: ignore[arg-type]
