"""Search of many texts in raw bytes, in one pass however many there are."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator

import numpy as np

from rankloop.types import Array

SHORTEST = 6  # bytes: shorter texts are found everywhere by accident
LONGEST = 256  # bytes: of a longer text, the beginning and the end are searched
TABLE = 2**20  # hashes of words


def cut_texts(values: Iterable[object]) -> frozenset[bytes]:
    """Return what to search for to find these values again; numbers and short texts cannot be searched.

    >>> sorted(cut_texts(["client-4711", "mug", 12, None, bytes(100), bytes(range(48, 53)) + b"56789"]))
    [b'0123456789', b'client-4711']
    """
    found: set[bytes] = set()
    for value in values:
        if isinstance(value, str):
            raw = value.encode()
            found.update((raw[:LONGEST], raw[-LONGEST:]))
        elif isinstance(value, bytes):  # at its end and in the middle, where it is no zeros
            parts = (value[-LONGEST:], value[len(value) // 2 :][:LONGEST])
            found.update(part for part in parts if len(set(part)) >= SHORTEST)
    return frozenset(part for part in found if len(part) >= SHORTEST)


class ByteSearch:
    """Finds texts by a table of their hashed last four bytes, and compares the few places that it names.

    >>> search = ByteSearch([b"client-4711", b"mugs and plates"])
    >>> list(search.find(b"... client-4711 ... client-4712 ..."))
    [(4, b'client-4711')]
    """

    def __init__(self, texts: Collection[bytes]) -> None:
        self.longest = max(map(len, texts), default=0)
        self._by_word: defaultdict[int, list[bytes]] = defaultdict(list)
        for text in sorted(texts):
            self._by_word[int.from_bytes(text[-4:], "little")].append(text)
        self._words = np.array(sorted(self._by_word), np.uint32)
        self._table = np.zeros(TABLE, bool)
        self._table[_hash(self._words)] = True

    def find(self, data: bytes) -> Iterator[tuple[int, bytes]]:
        """Return where each text begins, in no particular order; one place for each time it is there."""
        for offset in range(4):
            if len(data) >= offset + 4 and self._words.size:
                words = np.frombuffer(data, "<u4", count=(len(data) - offset) // 4, offset=offset)
                places = np.flatnonzero(self._table[_hash(words)])
                places = places[np.isin(words[places], self._words)]
                yield from self._compare(data, (4 * places + offset).tolist())

    def _compare(self, data: bytes, places: list[int]) -> Iterator[tuple[int, bytes]]:
        for place in places:
            for text in self._by_word[int.from_bytes(data[place : place + 4], "little")]:
                start = place + 4 - len(text)
                if start >= 0 and data[start : place + 4] == text:
                    yield start, text


def _hash(words: Array) -> Array:
    return (words * np.uint32(2654435761)) >> np.uint32(12)
