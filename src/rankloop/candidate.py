"""Candidates and ranked lists: what a caller sends and what comes back, without NumPy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from rankloop.errors import RequestError
from rankloop.short_text import check_text


@dataclass(frozen=True, slots=True)
class Candidate:
    """Something that can be shown: an id, features by name, and perhaps a position where it must stand.

    A feature that is `None`, or not there, is missing. A title is for people who look at past lists: nothing
    is learned from it, and it is kept with those lists in which the candidate was shown.

    >>> Candidate("red", {"bm25": 6.4, "price": 9}, title="Red mug").pinned_at is None
    True
    """

    object_id: str
    features: Mapping[str, float | None] = field(default_factory=dict)
    pinned_at: int | None = None  # from 1
    group: str = ""  # whom it belongs to, such as a seller; empty: to nobody
    title: str = ""

    def __post_init__(self) -> None:
        """Refuse what cannot be an id, a name or a position."""
        check_text("object_id", self.object_id)
        if type(self.features) is not dict and not isinstance(self.features, Mapping):
            found = type(self.features).__name__
            raise RequestError(f"{self.object_id!r}: features must map names to numbers, found {found}")
        pin: object = self.pinned_at
        if pin is not None and not (isinstance(pin, int) and not isinstance(pin, bool) and pin >= 1):
            raise RequestError(f"{self.object_id!r}: pinned_at must be a position from 1, found {pin!r}")
        check_text("group", self.group, empty=True)
        check_text("title", self.title, empty=True)


class ShownList(Protocol):
    """What every answer to a request for a list has, whoever made it."""

    @property
    def query_id(self) -> str:
        """The id under which clicks are to be sent; empty: the service knows nothing of this list."""
        ...

    @property
    def object_ids(self) -> Sequence[str]:
        """What to show, best first."""
        ...

    @property
    def fallback(self) -> str | None:
        """Why the list is in the caller's order; `None` if it is the ranker's."""
        ...


class ListService(Protocol):
    """Whoever ranks candidates: `service.lists` in this process, or a client of a service elsewhere."""

    def rank(
        self,
        candidates: Sequence[Candidate],
        /,
        *,
        ranker: str = "default",
        k: int = 10,
        user_query: str = "",
        client_id: str = "",
        session_id: str = "",
        query_id: str | None = None,
    ) -> ShownList:
        """Rank the candidates, which come in the caller's order, and show `k` of them."""
        ...


@dataclass(frozen=True, slots=True)
class RankedList:
    """A list to show, and the id under which its clicks are to be sent."""

    query_id: str  # empty: the service was not reached, and wants to hear nothing about this list
    object_ids: Sequence[str]  # best first
    fallback: str | None = None  # why it is in the caller's order
    answer: Mapping[str, Any] = field(default_factory=dict)  # everything the service said


def rank_by_caller_order(candidates: Sequence[Candidate], k: int, reason: str) -> RankedList:
    """Keep the caller's order around the pins: the list to show when no service answers.

    >>> candidates = [Candidate("a"), Candidate("b"), Candidate("c", pinned_at=1)]
    >>> rank_by_caller_order(candidates, 2, "no service").object_ids
    ['c', 'a']
    """
    pinned = {each.pinned_at: each.object_id for each in candidates if each.pinned_at}
    free = iter([each.object_id for each in candidates if not each.pinned_at])
    names = (pinned.get(position) or next(free, None) for position in range(1, len(candidates) + 1))
    return RankedList("", [each for each in names if each is not None][:k], reason)
