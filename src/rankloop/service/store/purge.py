"""Outcome of a purge: whether removed entries are out of every file, and who or what is in the way."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from rankloop.service.store.byte_search import cut_texts

IDS = frozenset(("query_id", "event_id"))
WORDS: Mapping[str, tuple[str, ...]] = {  # columns that tell of people
    "impressions": ("query_id", "user_query", "client_id", "session_id", "user_id", "titles"),
    "payloads": ("payload",),  # what is compressed has no words of its own
    "events": ("event_id", "query_id", "client_id", "session_id", "source"),
}
PERSONAL = sorted({name for names in WORDS.values() for name in names})


@dataclass(frozen=True, slots=True, kw_only=True)
class Blocker:
    """A process that still reads files with removed entries, so that they cannot be replaced yet."""

    pid: int  # on the machine of the store; 0: not known
    application: str  # the name that it gave to the database, or the name of its program
    since: float | None  # when it began to read, in seconds since 1970; None: not known


@dataclass(frozen=True, slots=True, kw_only=True)
class RemovedTexts:
    """What removed entries said, in memory only, to be searched for in the files of a store."""

    ids: frozenset[bytes] = frozenset()  # of lists and events: no decision and no snapshot may hold them
    words: frozenset[bytes] = frozenset()  # all else; what another entry says, too, is no remains

    @property
    def all(self) -> frozenset[bytes]:
        """Ids and words."""
        return self.ids | self.words

    @classmethod
    def together(cls, parts: Iterable[RemovedTexts]) -> RemovedTexts:
        """Return all of several."""
        every = list(parts)
        return cls(
            ids=frozenset().union(*(each.ids for each in every)),
            words=frozenset().union(*(each.words for each in every)),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class PurgeOutcome:
    """What a purge has reached: nothing is left once it has no blockers and no remains."""

    blockers: tuple[Blocker, ...] = ()
    remains: tuple[str, ...] = ()  # parts of the store where removed entries may still be found

    @property
    def is_done(self) -> bool:
        """Whether a search found nothing."""
        return not (self.blockers or self.remains)


def removed_texts(names: Sequence[str], rows: Iterable[Sequence[object]]) -> RemovedTexts:
    """Return what to search for after rows are removed, from these of their columns."""
    ids, words = set[bytes](), set[bytes]()
    for row in rows:
        for name, value in zip(names, row, strict=True):
            (ids if name in IDS else words).update(cut_texts([value]))
    return RemovedTexts(ids=frozenset(ids), words=frozenset(words))
