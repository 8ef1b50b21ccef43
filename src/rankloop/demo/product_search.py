"""Search engine of the demo: SQLite's full-text index, BM25, and what it knows about each hit."""

from __future__ import annotations

import contextlib
import re
import sqlite3
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import Any, ClassVar, Protocol, Self

HITS = 30  # candidates of a search, unless more are wanted
FORMAT = f"2 {sys.version}"  # of the index; another one is made again
MATCHES = ("title_match", "path_match", "text_match")


class Indexed(Protocol):
    """What can be searched: a dataclass whose fields a database can hold."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def name(self) -> str:
        """What it is called, as nothing else is."""
        ...

    @property
    def title(self) -> str:
        """What it is called on a page."""
        ...

    @property
    def kind(self) -> str:
        """What kind of thing it is."""
        ...

    @property
    def summary(self) -> str:
        """A line about it."""
        ...

    @property
    def doc(self) -> str:
        """All that is said of it."""
        ...

    @property
    def seller(self) -> str:
        """Whose it is; the ranker is not told."""
        ...

    def texts(self) -> tuple[str, str, str]:
        """What a search looks through: title, path and text."""
        ...

    def features(self) -> dict[str, float | None]:
        """What a ranker is told of it, whatever is searched; None is missing."""
        ...


@dataclass(frozen=True, slots=True)
class Hit:
    """Something a search found, with its features by name; None is missing."""

    entry: Indexed
    features: Mapping[str, float | None]


class Corpus:
    """An index in one file; made if it is not there, or of another Python.

    >>> from rankloop.demo.stdlib import standard_library
    >>> corpus = Corpus.of(standard_library(["json", "bisect"]))
    >>> corpus.search("bisect right")[0].entry.name
    'bisect.bisect_right'
    """

    def __init__(self, connection: sqlite3.Connection, kind: type[Indexed], hits: int = HITS) -> None:
        self._connection, self._kind, self.hits = connection, kind, hits
        self._columns = tuple(each.name for each in fields(kind))
        self._one_at_a_time = threading.Lock()

    @classmethod
    def of(cls, entries: Sequence[Indexed], *, hits: int = HITS) -> Self:
        """An index in memory."""
        connection = sqlite3.connect(":memory:", check_same_thread=False)
        _fill(connection, entries)
        return cls(connection, type(entries[0]), hits)

    @classmethod
    def open(cls, path: Path, kind: type[Indexed], entries: Callable[[], Sequence[Indexed]]) -> Self:
        """The index of such entries in this file, which is made if need be."""
        if not _is_current(path):
            draft = path.with_suffix(".new")
            draft.unlink(missing_ok=True)
            with contextlib.closing(sqlite3.connect(draft)) as connection:
                _fill(connection, entries())
            draft.replace(path)
        return cls(sqlite3.connect(path, check_same_thread=False), kind)

    def close(self) -> None:
        """Let go of the file."""
        self._connection.close()

    def __len__(self) -> int:
        return int(self._rows("SELECT count(*) FROM entries")[0][0])

    def entry(self, name: str) -> Indexed | None:
        """Something by its full name."""
        rows = self._rows(f"SELECT {', '.join(self._columns)} FROM entries WHERE name = ?", name)
        return self._entry(rows[0]) if rows else None

    def search(self, text: str) -> list[Hit]:
        """The best matches by BM25, the best first; nothing if no word of it is known."""
        wanted = words(text)
        if not wanted:
            return []
        columns = ", ".join(f"entries.{name}" for name in self._columns)
        rows = self._rows(
            f"""SELECT -bm25(texts, 1, 0, 0), -bm25(texts, 0, 1, 0), -bm25(texts, 0, 0, 1), {columns}
            FROM texts JOIN entries ON entries.rowid = texts.rowid
            WHERE texts MATCH ? ORDER BY bm25(texts, 4, 1, 1), entries.rowid LIMIT ?""",
            " OR ".join(f'"{word}"' for word in wanted),
            self.hits,
        )
        return [
            Hit(entry := self._entry(row), dict(zip(MATCHES, matches, strict=True)) | entry.features())
            for *matches, row in ((a, b, c, row) for a, b, c, *row in rows)
        ]

    def _rows(self, query: str, *values: object) -> list[Any]:
        with self._one_at_a_time:
            return self._connection.execute(query, values).fetchall()

    def _entry(self, row: Sequence[object]) -> Indexed:
        return self._kind(**dict(zip(self._columns, row, strict=True)))


def words(text: str) -> list[str]:
    """The words of a search, also the parts of a name.

    >>> words('JSONDecoder.raw_decode("x")')
    ['json', 'decoder', 'raw', 'decode', 'x']
    """
    parts = re.sub(r"([a-z0-9])([A-Z])|([A-Z])([A-Z][a-z])", r"\1\3 \2\4", text)
    return list(dict.fromkeys(re.findall(r"[a-z0-9]+", parts.lower())))[:20]


def _fill(connection: sqlite3.Connection, entries: Sequence[Indexed]) -> None:
    columns = [each.name for each in fields(entries[0])]
    marks = ", ".join("?" for _ in columns)
    connection.execute(f"CREATE TABLE entries ({', '.join(columns)}, UNIQUE (name))")
    connection.execute("CREATE VIRTUAL TABLE texts USING fts5 (title, path, body, tokenize = 'porter')")
    kept = {entry.name: entry for entry in entries}  # a name defined twice is what it was last
    connection.executemany(f"INSERT INTO entries VALUES ({marks})", map(astuple, kept.values()))
    connection.executemany(
        "INSERT INTO texts (rowid, title, path, body) VALUES (?, ?, ?, ?)",
        ((number, *entry.texts()) for number, entry in enumerate(kept.values(), start=1)),
    )
    connection.execute("CREATE TABLE made (format)")
    connection.execute("INSERT INTO made VALUES (?)", (FORMAT,))
    connection.commit()


def _is_current(path: Path) -> bool:
    if not path.exists():
        return False
    with contextlib.closing(sqlite3.connect(path)) as connection:
        try:
            return bool(connection.execute("SELECT format FROM made").fetchone() == (FORMAT,))
        except sqlite3.Error:
            return False
