"""Store contract: an append-only event log written in transactions, its snapshots, and statistics over it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar

from rankloop.errors import RankloopError
from rankloop.service.store.grades import GradeScale
from rankloop.service.store.impression_parts import PartCodec, PartTotal, PartType
from rankloop.service.store.log_clock import Head
from rankloop.service.store.log_records import (
    Decision,
    Event,
    GradeTally,
    Impression,
    ImpressionHead,
    Logged,
    Person,
    Shown,
    Snapshot,
    Traces,
)
from rankloop.service.store.purge import Blocker, PurgeOutcome, RemovedTexts
from rankloop.service.store.write_waiter import CURRENT

if TYPE_CHECKING:
    from rankloop.service.store.sql.traffic_statistics import Statistics

T = TypeVar("T")
NO_TRACES = Traces()


class StoreError(RankloopError):
    """A store that cannot be opened, read or written."""


class StoreBusy(StoreError):
    """A store with so much to write that it takes no more for now."""


class CommitUnknown(StoreError):
    """A commit of which nobody can tell whether it was done: it was not acknowledged, and may be there."""


class ConnectionLost(StoreError):
    """A store that is elsewhere and cannot be reached: nothing was written, and it may soon be back."""


class StillRead(StoreError):
    """Tables that cannot be changed now, because others read them: nothing was changed."""

    def __init__(self, blockers: Sequence[Blocker]) -> None:
        self.blockers = tuple(blockers)
        named = ", ".join(f"{each.application or 'a session'} (process {each.pid})" for each in blockers)
        super().__init__(
            f"nothing was changed, for {named or 'a session'} reads what is to be removed: "
            "end it, or try again later"
        )


class SnapshotDamaged(StoreError):
    """A snapshot that is not as it was written: an older one, or the log itself, says what it said."""


class Transaction(Protocol):
    """What a job can do while it alone is writing. It sees what the jobs before it wrote."""

    def time(self, now: float) -> float:
        """The log's time for this reading of the clock, the same as the clock's unless that is behind.

        A clock that is behind is remembered, so that the log's time goes on: see
        `rankloop.service.store.log_clock`.
        """
        ...

    def append(self, record: Impression | Event | Decision) -> int:
        """Add an entry and return its number; its time is its own, or the last entry's if that is later.

        A list's own time is a reading of the clock, for which it gets the log's time.
        An entry with a number of its own keeps it, which must be above all others: for imports.
        """
        ...

    def append_all(self, lists: Sequence[Impression]) -> int:
        """Add many lists, and return how many were refused: as a rule for an id that was used before."""
        ...

    def save_snapshot(self, snapshot: Snapshot) -> None:
        """Keep a snapshot, in place of an earlier one of the same entry, and thin those there are.

        Of the older ones ever fewer stay, by the rule of `rankloop.service.store.snapshot_thinning`; always
        those where the log begins: the base that a `retain` decision names, and the next after it.
        """
        ...

    def list_snapshots(self, ranker: str, digest: str = "") -> Sequence[tuple[int, float]]:
        """Number and time of every snapshot, in order."""
        ...

    def delete_snapshots(
        self, ranker: str, digest: str | None = None, *, since: int = 0, before: int = 2**62
    ) -> None:
        """Delete the snapshots of entries from one on, and before another; without a digest, of all."""
        ...

    def prefetch(self, *, event_ids: Collection[str], query_ids: Collection[str]) -> None:
        """Say what `knows` and `find_shown` will be asked: a store far away fetches it in one go."""
        ...

    def find_shown(self, query_id: str) -> Shown | None:
        """The list that was shown under this id."""
        ...

    def knows(self, event_id: str) -> bool:
        """Whether an event of this id has found its list before."""
        ...

    def find_recorded_event(self, event_id: str) -> tuple[str, str] | None:
        """The query_id and the source of the event that `knows` found."""
        ...

    def read_contributions(self, ranker: str, source: str, *, since: float) -> Collection[tuple[int, str]]:
        """Counted events of a source since a time: the numbers of the lists of a ranker, and the objects."""
        ...

    def remove_unmatched_events(self, *, since: float, until: float) -> int:
        """Delete the events of a stretch of time that belong to no ranker; how many there were.

        Those are orphans, duplicates, and what could not be understood. No model ever needs them.
        """
        ...

    def add_dictionary(self, data: bytes, *, ratio: float) -> int:
        """Add a dictionary for payloads, with its ratio for lists that it had not seen; its number."""
        ...

    def sum_buckets(self) -> bool:
        """Sum for the statistics what was written since the last time; whether more is left.

        Without it they are the same, and take longer.
        """
        ...

    def list_rankers(self) -> Sequence[str]:
        """The names of the rankers about which anything was decided, in alphabetical order.

        `SERVICE`, under which decisions about the service as a whole are kept, is none of them.
        """
        ...

    def read_decisions(
        self,
        ranker: str | None = None,
        *,
        kinds: Collection[str] = (),
        after: int = 0,
        until: int = 2**62,
        newest: int | None = None,
    ) -> Sequence[Decision]:
        """`EventLog.read_decisions`, with what this transaction has written so far."""
        ...

    def read_totals(self, ranker: str) -> Sequence[PartTotal]:
        """`EventLog.read_totals`, with what this transaction has written so far."""
        ...

    def remove_before(
        self,
        ranker: str,
        *,
        until: int,
        shown_before: float,
        keep: Collection[str] = (),
        kinds: Collection[str] = (),
    ) -> int:
        """Delete what a model that begins with the snapshot of entry `until` does not need.

        That is: the ranker's events up to entry `until`; its lists up to there that were shown before a time,
        except those whose query_id is in `keep` and those that a later counted event refers to; its older
        snapshots; and, of the same time, events that belong to no ranker. Decisions stay, but for
        those of some `kinds`. Returns how many entries were deleted; their numbers are never used again.
        `Store.reclaim_space` gives the space back.
        What the lists had in totals of parts is gone with them: a `retain` decision carries it over.
        """
        ...

    def find_person_entries(
        self, people: Sequence[Person], *, after: int = 0, found: Traces = NO_TRACES
    ) -> Traces:
        """`EventLog.find_person_entries`, with what this transaction has written so far."""
        ...

    def remove_entries(self, *, lists: Collection[int], events: Collection[int]) -> int:
        """Delete lists and events by their numbers, which are never used again; how many there were.

        Totals of parts lose what the lists had in them: a `delete` decision carries it over.
        `Store.purge_deleted` leaves no byte of them.
        """
        ...

    def read_texts(self, entries: Traces) -> RemovedTexts:
        """`EventLog.read_texts`, with what this transaction has written so far."""
        ...

    def amend(self, decision: Decision) -> None:
        """Put another body in place of that of a decision, whose number says which."""
        ...


Job: TypeAlias = Callable[[Transaction], T]


class EventLog(Protocol):
    """Append-only log of lists, events and decisions, with snapshots.

    Writing is one verb: `submit` a job. Jobs run one at a time, in the order they were submitted; many share
    a transaction, and a job that fails leaves no trace and harms no other. The future has its result only
    when the transaction is durable. A job must not wait for another one. Reading sees what is durable, and
    entries become visible in the order of their numbers.
    """

    def register_parts(self, types: Iterable[PartType]) -> None:
        """Learn the forms of what extensions keep of a list: others stay as bytes, and have no totals."""
        ...

    def read_parts(
        self, extension: str, ranker: str, *, after: int = 0, until: int | None = None
    ) -> Iterator[tuple[ImpressionHead, Any, set[int]]]:
        """The lists that have a part of this extension: head, part, and positions with counted events."""
        ...

    def find_moment(self, at: float) -> int:
        """The number of the first entry from a moment on; a number beyond all, if there is none."""
        ...

    def submit(self, job: Job[T], *, urgent: bool = True) -> Future[T]:
        """Have a job done; its result is there when it is durable.

        Returns without waiting; `StoreBusy` if too much is waiting already. A job that is not urgent may be
        written a moment later, together with others. The future can be cancelled until the job is begun:
        then it has never been.
        """
        ...

    def describe_outage(self) -> str:
        """Why nothing can be written just now, without waiting to find out; empty as a rule."""
        ...

    def time(self, now: float) -> float:
        """The log's time for this reading of the clock; changes nothing."""
        ...

    def lag(self, now: float) -> float:
        """How many seconds the clock is behind the log: 0, unless the clock went wrong."""
        ...

    def list_rankers(self) -> Sequence[str]:
        """The names of the rankers about which anything was decided, in alphabetical order."""
        ...

    def list_changed_rankers(self, *, after: int) -> tuple[int, Collection[str]]:
        """The number of the last entry, and the rankers that have entries after one: whom to look after.

        It takes as long as there are such entries, however many rankers there are.
        """
        ...

    def find_impression(self, query_id: str) -> Impression | None:
        """A list that was shown, with everything."""
        ...

    def find_impressions(self, numbers: Collection[int]) -> Mapping[str, Impression]:
        """Lists by the numbers of their entries, by id; without those that are damaged."""
        ...

    def read_impressions(
        self, ranker: str, *, after: int = 0, newest: int | None = None
    ) -> Iterator[Impression]:
        """The lists that were shown, in order; or the `newest` few, the newest first."""
        ...

    def read_events(
        self, ranker: str | None, *, after: int = 0, newest: int | None = None
    ) -> Iterator[Event]:
        """Events in order; or the `newest` few, the newest first. Without a ranker, those of all."""
        ...

    def find_events(self, ids: Collection[str] = (), *, query_id: str = "") -> Sequence[Event]:
        """The events of these ids that have found their lists, in order: one for each id that is known.

        Or, with a `query_id`, all that named this list.
        """
        ...

    def read_decisions(
        self,
        ranker: str | None = None,
        *,
        kinds: Collection[str] = (),
        after: int = 0,
        until: int = 2**62,
        newest: int | None = None,
    ) -> Sequence[Decision]:
        """What was decided with `after < seq <= until`, in order; or the `newest` few, newest first.

        Without a ranker: about all, and about the service as a whole. With kinds, only of these.
        """
        ...

    def read_head(self) -> Head:
        """Where the log ends: number and time of the last entry."""
        ...

    def read_entries(
        self,
        ranker: str,
        *,
        after: int = 0,
        until: int | None = None,
        with_lists: bool = False,
    ) -> Iterator[Logged]:
        """The counted events and the decisions with `after < seq <= until`, in order: what a model folds.

        With the lists that were shown, if it learns from silence. What a list holds is not read, so that one
        that is damaged stops nobody.
        """
        ...

    def load_latest(
        self, ranker: str, digest: str = "", *, until: int | None = None, before: float | None = None
    ) -> Snapshot | None:
        """The latest snapshot with `seq <= until` and `at <= before`; `SnapshotDamaged` if it is."""
        ...

    def list_snapshots(self, ranker: str, digest: str = "") -> Sequence[tuple[int, float]]:
        """Number and time of every snapshot, in order; also of those that are damaged."""
        ...

    def read_totals(self, ranker: str) -> Sequence[PartTotal]:
        """The totals of parts of a ranker, by extension, account and name.

        They are the sums over the parts of its lists, and over what its `retain` and `delete` decisions carry
        in `totals` of lists that are gone.
        """
        ...

    def improve_compression(self) -> None:
        """Make a dictionary for payloads if one is due: of the newest lists, for those that come."""
        ...

    def count_waiting_jobs(self) -> int:
        """How many jobs wait to be written."""
        ...

    def measure_size(self) -> int:
        """How many bytes the log takes on the disk, as far as the store can tell."""
        ...

    def find_person_entries(
        self, people: Sequence[Person], *, after: int = 0, found: Traces = NO_TRACES
    ) -> Traces:
        """What the log tells of people after an entry: lists, events, and the events of these lists.

        With what was `found` of them before, also later events about those lists.
        """
        ...

    def read_texts(self, entries: Traces) -> RemovedTexts:
        """What these lists and events say, to be searched for once they are removed."""
        ...

    def reclaim_space(self) -> int:
        """Give the space of what was deleted back to the disk; how many bytes. Jobs wait meanwhile."""
        ...

    def purge_deleted(self, texts: RemovedTexts | None = None) -> PurgeOutcome:
        """Remove every byte of what was removed from the files of the store, as far as nobody reads them.

        `texts` is what the removed entries said, to search for. Without it, as after a crash, everything
        that they may have been in is written again. Nobody waits longer than a moment for it.
        """
        ...

    def find_blockers(self) -> Sequence[Blocker]:
        """Who keeps `purge_deleted` from its work just now."""
        ...

    def close(self) -> None:
        """Finish what was submitted and let go of everything."""
        ...


class Store(EventLog, Protocol):
    """Event log with statistics over it: what the service needs."""

    statistics: Statistics
    parts: PartCodec
    not_covered: tuple[str, ...]  # where removed entries may still be after a purge, in words

    def grades(self, ranker: str, *, since: float, until: float, scale: GradeScale) -> GradeTally:
        """How the lists that were shown in a stretch of time were graded by counted events, on a scale."""
        ...


def write(store: EventLog, job: Job[T]) -> T:
    """Have a job done and wait until it is durable, or until whoever asked for it gives up."""
    waiter = CURRENT.get()
    return store.submit(job).result() if waiter is None else waiter.wait(lambda: store.submit(job))
