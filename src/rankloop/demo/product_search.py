"""Search engine of the demo: SQLite's full-text index, BM25, and what it knows about each hit."""

from __future__ import annotations

import re
import sqlite3
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rankloop.demo.products import Product

HITS = 40  # candidates of a search: all products of a kind, and some more
MATCHES = ("title_match", "path_match", "text_match")


@dataclass(frozen=True, slots=True)
class Hit:
    """A product that a search found, with its features by name; None is missing."""

    entry: Product
    features: Mapping[str, float | None]


class Corpus:
    """Full-text index of products, in memory; any thread may search it.

    >>> from rankloop.demo.products import products
    >>> Corpus(products()).search("striped mug")[0].entry.kind
    'mug'
    """

    def __init__(self, entries: Sequence[Product]) -> None:
        self._entries = tuple(entries)
        self._by_name = {entry.name: entry for entry in entries}
        self._one_at_a_time = threading.Lock()
        self._connection = sqlite3.connect(":memory:", check_same_thread=False)
        self._connection.execute(
            "CREATE VIRTUAL TABLE texts USING fts5 (title, path, body, tokenize = 'porter')"
        )
        self._connection.executemany(
            "INSERT INTO texts (rowid, title, path, body) VALUES (?, ?, ?, ?)",
            ((number, *entry.texts()) for number, entry in enumerate(self._entries)),
        )
        self._connection.commit()

    def __len__(self) -> int:
        return len(self._entries)

    def entry(self, name: str) -> Product | None:
        """The product of this name, if there is one."""
        return self._by_name.get(name)

    def search(self, text: str) -> list[Hit]:
        """The best matches by BM25, the best first; nothing if no word of it is known."""
        wanted = words(text)
        if not wanted:
            return []
        query = """SELECT rowid, -bm25(texts, 1, 0, 0), -bm25(texts, 0, 1, 0), -bm25(texts, 0, 0, 1)
            FROM texts WHERE texts MATCH ? ORDER BY bm25(texts, 4, 1, 1), rowid LIMIT ?"""
        with self._one_at_a_time:
            found = self._connection.execute(query, (" OR ".join(f'"{word}"' for word in wanted), HITS))
            rows = found.fetchall()
        return [
            Hit(
                self._entries[row],
                dict(zip(MATCHES, matches, strict=True)) | self._entries[row].features(),
            )
            for row, *matches in rows
        ]


def words(text: str) -> list[str]:
    """The different words of a search, at most 20.

    >>> words('Blue mug, "blue"')
    ['blue', 'mug']
    """
    return list(dict.fromkeys(re.findall(r"[a-z0-9]+", text.lower())))[:20]
