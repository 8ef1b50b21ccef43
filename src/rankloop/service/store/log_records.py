"""What a store keeps: lists that were shown, events, decisions, and snapshots of what was learned.

The first three are entries of one append-only log, numbered by `seq` in the order in which they became
durable; `at` is the log's time, in seconds, which never runs backwards.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import numpy as np

from rankloop.types import Array, FloatArray, IntArray

Verdict: TypeAlias = Literal[
    "accepted", "duplicate", "late", "orphan", "not_shown", "ignored", "invalid", "held"
]
SQUATTED = "an event of this id was recorded before, and it is another one"  # the detail of a duplicate
COUNTED: tuple[Verdict, ...] = ("accepted", "late")  # a user did something with a list
SERVICE = ""  # in place of a ranker: what was decided about the service as a whole, such as its keys
JOINED: tuple[Verdict, ...] = ("accepted", "late", "not_shown", "ignored")  # its list is known


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Impression:
    """A list that was shown, with all that is needed to learn from it and to make it again."""

    seq: int = 0  # 0: not in the log yet
    at: float
    ranker: str
    query_id: str
    user_query: str = ""
    client_id: str = ""
    session_id: str = ""
    model: int  # the version of the model that made the list
    settings: int  # the version of the settings it was made under
    mode: str
    policy: str  # by name
    seed: int
    k: int  # how many results were asked for
    object_ids: Sequence[str]  # [n] as the caller sent them
    groups: Sequence[str] = ()  # [n] or empty
    titles: Sequence[str] = ()  # [k] for people, of what was shown, best first; or empty: nobody said any
    pinned_at: IntArray  # [n] positions from 1, 0 = free
    features: FloatArray  # [n, width] by column of the ranker's schema, NaN = missing
    order: IntArray  # [k] rows of features, as shown
    evidence: Mapping[str, Array] = field(default_factory=dict)  # of the free results
    teaches: bool = False  # whether a policy may learn from it
    fallback: str = ""  # why the caller's order was shown instead
    digest: bytes = b""  # of the answer that was given
    pairs: int = 0  # pairs of shown results
    settled: int | None = None  # of them, how many are in a certain order; None: the policy cannot tell
    explored: int = 0  # of them, how many were shown against the order of the scores
    cost: float = 0.0  # pairs expected to stand the wrong way round because of exploration
    user: str = ""  # who asked
    context: FloatArray = field(
        default_factory=lambda: np.zeros(0)
    )  # [n_context] of who asked, NaN = missing
    parts: Mapping[str, Any] = field(default_factory=dict)  # what extensions keep of it, by their names

    @property
    def width(self) -> int:
        """How many features the ranker's schema had."""
        return int(self.features.shape[1])

    @property
    def shown(self) -> list[str]:
        """The ids that were shown, best first."""
        return [self.object_ids[row] for row in self.order.tolist()]

    def title_of(self, object_id: str) -> str:
        """What the caller calls a result that was shown; empty: nothing, or it was not shown."""
        return dict(zip(self.shown, self.titles, strict=False)).get(object_id, "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """As much of an impression as an event needs."""

    seq: int
    at: float
    ranker: str
    query_id: str
    shown: Sequence[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class ListSummary:
    """A list in a line, with what became of it; nothing of what it holds is read."""

    seq: int
    at: float
    query_id: str
    user_query: str
    client_id: str
    session_id: str
    model: int
    mode: str
    fallback: str
    pairs: int
    settled: int | None
    explored: int
    shown: Sequence[str]  # the ids, best first
    titles: Sequence[str] = ()  # of these; or empty
    parts: Mapping[str, Any] = field(default_factory=dict)
    clicks: tuple[int, ...] = ()  # positions of results with a counted event

    @property
    def clicked(self) -> int:
        """How many results have one."""
        return len(self.clicks)

    @property
    def first_click(self) -> int | None:
        """The position of the highest of them."""
        return min(self.clicks, default=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class ListFilter:
    """Which lists are wanted; the newest `within` of those before an entry are looked through."""

    text: str = ""  # is in the query, in capitals or not
    query: str | None = None  # is the query, exactly
    clicked: bool | None = None
    mode: str = ""
    fallback: bool | None = None
    before: int | None = None
    within: int = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ImpressionHead:
    """Head of an impression: all of it but what its list held, so that one that is damaged stops nobody."""

    seq: int
    at: float
    ranker: str
    query_id: str
    client_id: str = ""
    session_id: str = ""
    shown: Sequence[str] = ()  # the ids, best first
    teaches: bool  # whether a policy may learn from it
    parts: Mapping[str, Any] = field(default_factory=dict)  # what extensions keep of it, by their names


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Something a user did, with its verdict."""

    seq: int = 0
    at: float
    ranker: str
    event_id: str
    query_id: str
    object_id: str
    action: str
    verdict: Verdict
    detail: str = ""  # the reason, in words, unless it was accepted
    position: int | None = None  # where the object stood, from 1
    list_seq: int | None = None  # the impression's number
    closes_at: float | None = None  # when its list stops taking clicks
    ordinal: int | None = None  # where the client says it stood
    occurred_at: float | None = None  # when the client says it happened
    client_id: str = ""
    session_id: str = ""
    value: float | None = None  # how much: stars, seconds, money; None: nothing was said
    source: str = ""  # keyed hash of the address, or of the client, that it came from; empty: nobody looked


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """Something that was decided about a ranker: settings, mode, rollback, ...; its `seq` is its version.

    With `SERVICE` in place of the ranker it is about the service as a whole: its keys, people's data.
    """

    seq: int = 0
    at: float
    ranker: str
    kind: str
    body: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """Someone by the ids that callers know them by; whoever has one of them is meant."""

    client_id: str = ""
    session_id: str = ""
    user: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """An entry of the log that tells of a person: a list they were shown, or an event."""

    seq: int
    at: float
    ranker: str  # empty: an event that found no list
    name: str  # the query_id of a list, the event_id of an event


@dataclass(frozen=True, slots=True, kw_only=True)
class Traces:
    """All that the log tells of a person: their lists, their events, and the events of their lists."""

    lists: Sequence[Trace] = ()  # by seq
    events: Sequence[Trace] = ()  # by seq


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Snapshot:
    """A ranker's model after the log's entry `seq`: a short cut, never the truth.

    The digest is that of the specification by which a job learned it; it is empty for the ranker's own state.
    """

    seq: int
    at: float
    ranker: str
    digest: str = ""
    body: Mapping[str, Any]
    arrays: Mapping[str, Array]


Entry: TypeAlias = Event | Decision  # what a model is a fold of; impressions are looked up
Logged: TypeAlias = ImpressionHead | Event | Decision  # ... and where a list without a click teaches, too


@dataclass(frozen=True, slots=True, kw_only=True)
class Traffic:
    """What happened in a stretch of time, in sums that can be added up."""

    start: float = 0.0
    lists: int = 0
    clicked: int = 0  # lists with a counted event
    reciprocal: float = 0.0  # sum over clicked lists of 1 / rank of the first click
    fallbacks: int = 0
    explored: int = 0  # pairs
    cost: float = 0.0
    pairs: int = 0  # where the policy can tell which are settled
    settled: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class EventTally:
    """How the events of a stretch of time were understood."""

    verdicts: Mapping[str, int] = field(default_factory=dict)
    one_based: int = 0  # the client's position is the true one, counted from 1
    zero_based: int = 0  # ... counted from 0
    misplaced: int = 0  # ... neither
    ahead: int = 0  # the client's clock is more than a minute ahead of ours
    behind: int = 0  # the event was more than an hour old when it arrived
    latest: int = 0  # the last events of the stretch, at most ten thousand, among which clients are counted
    busiest: Sequence[tuple[str, int]] = ()  # clients by their number of events among these


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceTally:
    """Where the events of a stretch of time came from, by the hashes of addresses and clients."""

    latest: int = 0  # the last events of the stretch, at most fifty thousand, among which all is counted
    sources: int = 0  # that sent anything
    busiest: Sequence[tuple[str, int, int]] = ()  # up to five: events, and how many of them were held back
    burst: tuple[str, int] = ("", 0)  # the most events that one sent within a minute of the log's time
    squatted: int = 0  # events whose id was taken by an event about another list, or from another source


@dataclass(frozen=True, slots=True, kw_only=True)
class GradeTally:
    """How the lists that were shown in a stretch of time were graded."""

    lists: int = 0  # shown
    rated: int = 0  # of them, how many have a grade
    results: int = 0  # with a grade
    capped: int = 0  # of them, how many were cut to the highest grade
    histogram: Sequence[int] = ()  # [steps + 1] results by their grade, from 0 to the highest
