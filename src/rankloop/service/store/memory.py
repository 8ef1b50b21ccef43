"""In-memory store, for tests and notebooks: the plainest reading of the contract."""

from __future__ import annotations

import threading
from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import replace
from itertools import islice, pairwise
from typing import TypeVar

from rankloop.service.store.exposure import Key, Sums, added, rows_of, sums_of
from rankloop.service.store.grades import GradeScale
from rankloop.service.store.impression_codec import SUMMARY_COLUMNS
from rankloop.service.store.log_clock import Head
from rankloop.service.store.log_records import (
    COUNTED,
    JOINED,
    SERVICE,
    SQUATTED,
    Assignment,
    Decision,
    Event,
    EventTally,
    ExposureSum,
    ExposureTally,
    GradeTally,
    GroupTally,
    Impression,
    ListEntry,
    ListFilter,
    ListSummary,
    Logged,
    Person,
    Shown,
    Snapshot,
    SourceTally,
    Trace,
    Traces,
    Traffic,
    TrialList,
)
from rankloop.service.store.snapshot_thinning import protected_by, superfluous
from rankloop.service.store.store import Job, StoreError
from rankloop.service.store.sums import (
    LATEST,
    PAIR,
    TRACED,
    edges,
    looks,
    part_ends,
    sources_of,
    traffic_of,
)

T = TypeVar("T")
Record = Impression | Event | Decision


class MemoryStore:
    """In-memory store: keeps everything in lists; gone when the process ends.

    >>> store = MemoryStore()
    >>> decision = Decision(at=0.0, ranker="shop", kind="mode")
    >>> store.submit(lambda transaction: transaction.append(decision)).result()
    1
    >>> [decision.kind for decision in store.read_decisions("shop")]
    ['mode']
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._closed = False
        self.records: list[Record] = []  # by seq
        self.kept: list[Snapshot] = []  # by seq
        self.lists: dict[str, Impression] = {}
        self.known: dict[str, set[int]] = {}
        self.sums: dict[Key, Sums] = {}  # of exposure
        self.head = Head()

    def submit(self, job: Job[T], *, urgent: bool = True) -> Future[T]:
        """Have a job done, at once."""
        del urgent
        future: Future[T] = Future()
        with self._lock:
            if self._closed:
                raise StoreError("the store is closed")
            transaction = _MemoryTransaction(self)
            try:
                result = job(transaction)
                transaction.commit()
            except Exception as error:
                future.set_exception(error)
            else:
                future.set_result(result)
        return future

    def describe_outage(self) -> str:
        """Nothing: it is here."""
        return ""

    def time(self, now: float) -> float:
        """The log's time for this reading of the clock; changes nothing."""
        return self.head.time(now)

    def lag(self, now: float) -> float:
        """How many seconds the clock is behind the log."""
        return self.head.lag(now)

    def list_rankers(self) -> Sequence[str]:
        """The names of the rankers about which anything was decided."""
        return sorted({each.ranker for each in self._all() if isinstance(each, Decision)} - {SERVICE})

    def list_changed_rankers(self, *, after: int) -> tuple[int, Collection[str]]:
        """The number of the last entry, and the rankers that have entries after one."""
        with self._lock:
            return self.head.seq, {each.ranker for each in self._all(after=after)} - {""}

    def find_impression(self, query_id: str) -> Impression | None:
        """A list that was shown, with everything."""
        return self.lists.get(query_id)

    def read_impressions(
        self, ranker: str, *, after: int = 0, newest: int | None = None
    ) -> Iterator[Impression]:
        """The lists that were shown, in order; or the `newest` few, the newest first."""
        found = [each for each in self._all(ranker, after) if isinstance(each, Impression)]
        return iter(found if newest is None else found[::-1][:newest])

    def read_events(
        self, ranker: str | None, *, after: int = 0, newest: int | None = None
    ) -> Iterator[Event]:
        """Events in order; or the `newest` few, the newest first."""
        found = [each for each in self._all(ranker, after) if isinstance(each, Event)]
        return iter(found if newest is None else found[::-1][:newest])

    def find_events(self, ids: Collection[str] = (), *, query_id: str = "") -> Sequence[Event]:
        """The events of these ids that have found their lists, or those that named a list, in order."""
        if query_id:
            return [each for each in self.read_events(None) if each.query_id == query_id]
        wanted = frozenset(ids)
        return [each for each in self.read_events(None) if each.event_id in wanted and each.verdict in JOINED]

    def read_decisions(self, ranker: str, *, kind: str | None = None, after: int = 0) -> Sequence[Decision]:
        """What was decided after an entry, in order."""
        found = [each for each in self._all(ranker, after) if isinstance(each, Decision)]
        return [each for each in found if kind in (None, each.kind)]

    def read_entries(
        self, ranker: str, *, after: int = 0, until: int | None = None, with_lists: bool = False
    ) -> Iterator[Logged]:
        """The counted events and the decisions, with the lists if they are wanted, in order."""
        for each in self._all(ranker, after):
            if until is not None and each.seq > until:
                return
            if isinstance(each, Impression):
                if with_lists:
                    yield _list_entry(each)
            elif isinstance(each, Decision) or each.verdict in COUNTED:
                yield each

    def trial_lists(self, ranker: str, *, trial: int, after: int = 0) -> Iterator[TrialList]:
        """The lists of a trial that were shown after an entry, in order."""
        for shown in self.read_impressions(ranker, after=after):
            if shown.assignment is not None and shown.assignment.trial == trial:
                yield _trial_list(shown, shown.assignment)

    def load_latest(
        self, ranker: str, *, until: int | None = None, before: float | None = None
    ) -> Snapshot | None:
        """The latest snapshot with `seq <= until` and `at <= before`."""
        with self._lock:
            found = [each for each in self.kept if each.ranker == ranker]
        fits = (
            each
            for each in reversed(found)
            if (until is None or each.seq <= until) and (before is None or each.at <= before)
        )
        return next(fits, None)

    def list_snapshots(self, ranker: str) -> Sequence[tuple[int, float]]:
        """Number and time of every snapshot, in order."""
        with self._lock:
            return [(each.seq, each.at) for each in self.kept if each.ranker == ranker]

    def sum_traffic(self, ranker: str, *, since: float, until: float, step: float) -> Sequence[Traffic]:
        """Lists and clicks in steps of time."""
        starts, shown = edges(since, until, step), list(self.read_impressions(ranker))
        steps = [[each for each in shown if low <= each.at < high] for low, high in pairwise(starts)]
        return [
            replace(self._sum(ranker, lists), start=start)
            for start, lists in zip(starts, steps, strict=False)
            if lists
        ]

    def sum_traffic_parts(
        self, ranker: str, *, since: float, until: float, parts: int, minimum: int = 1
    ) -> Sequence[Traffic]:
        """Lists and clicks in parts of equally many lists."""
        shown = [each for each in self.read_impressions(ranker) if since <= each.at < until]
        groups = _parts(shown, parts, minimum)
        return [replace(self._sum(ranker, lists), start=lists[0].at) for lists in groups]

    def find_lists(self, ranker: str, wanted: ListFilter, *, last: int) -> Sequence[ListSummary]:
        """The last lists of those that are wanted, the newest first, with what was clicked in them."""
        before, text = wanted.before, wanted.text.lower()
        shown = [each for each in self.read_impressions(ranker) if before is None or each.seq < before]
        clicks = self._clicks(ranker)
        lines = (_summary(each, clicks.get(each.seq, set())) for each in shown[::-1][: wanted.within])
        found = (
            each
            for each in lines
            if text in each.user_query.lower()
            and wanted.query in (None, each.user_query)
            and wanted.clicked in (None, each.clicked > 0)
            and wanted.mode in ("", each.mode)
            and wanted.fallback in (None, each.fallback != "")
        )
        return list(islice(found, last))

    def count_events(self, ranker: str | None, *, since: float, until: float) -> EventTally:
        """How the events that arrived in a stretch of time were understood."""
        events = [each for each in self.read_events(ranker) if since <= each.at < until]
        said = [(e.ordinal, e.position) for e in events if e.ordinal is not None and e.position is not None]
        ages = [each.at - each.occurred_at for each in events if each.occurred_at is not None]
        clients = Counter(each.client_id for each in events[-LATEST:] if each.client_id)
        return EventTally(
            verdicts=dict(Counter(each.verdict for each in events)),
            one_based=sum(ordinal == position for ordinal, position in said),
            zero_based=sum(ordinal == position - 1 for ordinal, position in said),
            misplaced=sum(ordinal not in (position - 1, position) for ordinal, position in said),
            ahead=sum(age < -60 for age in ages),
            behind=sum(age > 3600 for age in ages),
            latest=len(events[-LATEST:]),
            busiest=sorted(clients.items(), key=lambda pair: (-pair[1], pair[0]))[:5],
        )

    def count_sources(self, *, since: float, until: float) -> SourceTally:
        """Where the last events of a stretch of time came from."""
        events = [each for each in self.read_events(None) if since <= each.at < until][-TRACED:]
        return sources_of(
            (
                each.source,
                int((each.at - since) / 60),
                1,
                each.verdict == "held",
                each.verdict == "duplicate" and each.detail == SQUATTED,
            )
            for each in events
        )

    def grades(self, ranker: str, *, since: float, until: float, scale: GradeScale) -> GradeTally:
        """How the lists that were shown in a stretch of time were graded."""
        shown = {each.seq for each in self.read_impressions(ranker) if since <= each.at < until}
        done: dict[tuple[int, int], dict[str, float | None]] = {}
        for event in self.read_events(ranker):
            if event.verdict in COUNTED and event.list_seq in shown and event.position is not None:
                done.setdefault((event.list_seq, event.position), {})[event.action] = event.value
        totals = {key: total for key, each in done.items() if (total := scale.total(each)) is not None}
        counts = Counter(scale.step(scale.cut(total)) for total in totals.values())
        return GradeTally(
            lists=len(shown),
            rated=len({list_seq for list_seq, _ in totals}),
            results=len(totals),
            capped=sum(total > scale.highest for total in totals.values()),
            histogram=[counts[step] for step in range(scale.steps + 1)],
        )

    def read_totals(self, ranker: str) -> Sequence[ExposureSum]:
        """The exposure accounts of a ranker, by account and group."""
        with self._lock:
            return rows_of(self.sums, ranker)

    def exposure(self, ranker: str, *, since: float, until: float, step: float) -> Sequence[ExposureTally]:
        """Exposure in steps of time."""
        steps: dict[int, list[Impression]] = {}
        for shown in self._counted(ranker, since, until):
            steps.setdefault(int((shown.at - since) / step), []).append(shown)
        return [
            replace(self._exposed(ranker, lists), start=since + number * step)
            for number, lists in sorted(steps.items())
        ]

    def exposure_in_parts(
        self, ranker: str, *, account: int, since: float, until: float, parts: int, least: int = 1
    ) -> Sequence[ExposureTally]:
        """Exposure that counts for one account, in parts of equally many lists."""
        counted = self._counted(ranker, since, until)
        mine = [each for each in counted if each.exposure and each.exposure.account == account]
        groups = _parts(mine, parts, least)
        return [replace(self._exposed(ranker, lists), start=lists[0].at) for lists in groups]

    def exposure_by_query(
        self, ranker: str, *, since: float, until: float, most: int
    ) -> Sequence[ExposureTally]:
        """Exposure for the queries with the most lists."""
        queries: dict[str, list[Impression]] = {}
        for shown in self._counted(ranker, since, until):
            queries.setdefault(shown.user_query, []).append(shown)
        ordered = sorted(queries.items(), key=lambda pair: (-len(pair[1]), pair[0]))[:most]
        return [replace(self._exposed(ranker, lists), user_query=name) for name, lists in ordered]

    def count_waiting_jobs(self) -> int:
        """None: every job is done at once."""
        return 0

    def measure_size(self) -> int:
        """Nothing is on the disk."""
        return 0

    def find_person_entries(self, person: Person, *, after: int = 0) -> Traces:
        """What the log tells of a person after an entry."""
        return _traces(self._all(), person, after)

    def reclaim_space(self) -> int:
        """Nothing to give back: what was deleted is gone."""
        return 0

    def purge_deleted(self) -> int:
        """Nothing to write anew: what was deleted is gone."""
        return 0

    def close(self) -> None:
        """Accept no more jobs; what was kept can still be read."""
        self._closed = True

    def _all(self, ranker: str | None = None, after: int = 0) -> list[Record]:
        with self._lock:
            start = bisect_right(self.records, after, key=lambda each: each.seq)
            return [each for each in self.records[start:] if ranker in (None, each.ranker)]

    def _counted(self, ranker: str, since: float, until: float) -> list[Impression]:
        shown = (each for each in self.read_impressions(ranker) if since <= each.at < until)
        return [each for each in shown if each.exposure is not None]

    def _exposed(self, ranker: str, lists: Sequence[Impression]) -> ExposureTally:
        events = (each for each in self.read_events(ranker) if each.verdict in COUNTED)
        clicked = {(each.list_seq, each.position) for each in events}
        groups: dict[str, Counter[str]] = {}
        told = [(each.seq, each.exposure) for each in lists if each.exposure is not None]
        for seq, each in told:
            columns = (each.candidates, each.granted, each.due, each.lapsed)
            for group, *numbers in zip(each.groups, *columns, strict=True):
                sums = dict(zip(("candidates", "granted", "due", "lapsed"), numbers, strict=True))
                groups.setdefault(group, Counter()).update(sums | {"lists": 1})
            for position, code in enumerate(each.shown, start=1):
                shown = {"results": 1, "clicks": int((seq, position) in clicked)}
                groups[each.groups[code]].update(shown)
        return ExposureTally(
            lists=len(told),
            held=sum(each.within is not None for _, each in told),
            outside=sum(each.within is False for _, each in told),
            turned=sum(each.turned for _, each in told),
            undone=sum(each.undone for _, each in told),
            groups=[GroupTally(group=name, **sums) for name, sums in sorted(groups.items())],
        )

    def _sum(self, ranker: str, lists: Sequence[Impression]) -> Traffic:
        clicks = self._clicks(ranker)
        positions = [min(clicks[each.seq]) for each in lists if each.seq in clicks]
        sums = (
            len(lists),
            len(positions),
            sum(map(looks, positions)),
            sum(bool(each.fallback) for each in lists),
            sum(each.explored for each in lists),
            sum(int(each.cost * PAIR + 0.5) for each in lists),
            sum(each.pairs for each in lists if each.settled is not None),
            sum(each.settled or 0 for each in lists),
        )
        return traffic_of(0.0, sums)

    def _clicks(self, ranker: str) -> dict[int, set[int]]:
        """The positions that were clicked in each list."""
        clicks: dict[int, set[int]] = {}
        for event in self.read_events(ranker):
            if event.verdict in COUNTED and event.list_seq is not None and event.position is not None:
                clicks.setdefault(event.list_seq, set()).add(event.position)
        return clicks


def _summary(shown: Impression, clicks: set[int]) -> ListSummary:
    plain = {name: getattr(shown, name) for name in SUMMARY_COLUMNS}
    return ListSummary(
        **plain | {"shown": tuple(shown.shown), "titles": tuple(shown.titles)},
        clicks=tuple(sorted(clicks)),
    )


class _MemoryTransaction:
    """Transaction of one job: what it wrote joins the store when the job is done."""

    def __init__(self, store: MemoryStore) -> None:
        self._store = store
        self._written: list[Record] = []
        self._kept = list(store.kept)
        self._gone: set[int] = set()
        self._amended: dict[int, Decision] = {}
        self._head = store.head

    def time(self, now: float) -> float:
        self._head = self._head.observe(now)
        return self._head.time(now)

    def append(self, record: Record) -> int:
        seq = record.seq or self._head.seq + 1
        if seq <= self._head.seq:
            raise StoreError(f"entry {seq} comes after entry {self._head.seq}: the log only grows")
        if isinstance(record, Impression) and self.find_shown(record.query_id):
            raise StoreError(f"a list was shown under the id {record.query_id!r} before: ids must be unique")
        shown = isinstance(record, Impression)  # at a reading of the clock; the others have the log's time
        at = self.time(record.at) if shown else max(record.at, self._head.at)
        self._written.append(replace(record, seq=seq, at=at))
        self._head = self._head.after(seq, at)
        return seq

    def append_all(self, lists: Sequence[Impression]) -> int:
        refused = 0
        for each in lists:
            try:
                self.append(each)
            except StoreError:
                refused += 1
        return refused

    def save_snapshot(self, snapshot: Snapshot) -> None:
        others = [e for e in self._kept if (e.ranker, e.seq) != (snapshot.ranker, snapshot.seq)]
        self._kept = sorted([*others, snapshot], key=lambda each: each.seq)
        seqs = [seq for seq, _ in self.list_snapshots(snapshot.ranker)]
        retained = (each for each in self.read_decisions(snapshot.ranker) if each.kind == "retain")
        gone = set(superfluous(seqs, protected=protected_by(retained, seqs)))
        self._kept = [each for each in self._kept if each.ranker != snapshot.ranker or each.seq not in gone]

    def list_snapshots(self, ranker: str) -> Sequence[tuple[int, float]]:
        return [(each.seq, each.at) for each in self._kept if each.ranker == ranker]

    def delete_snapshots(self, ranker: str, *, since: int = 0, before: int = 2**62) -> None:
        dropped = {each.seq for each in self._kept if each.ranker == ranker and since <= each.seq < before}
        self._kept = [each for each in self._kept if each.ranker != ranker or each.seq not in dropped]

    def prefetch(self, *, event_ids: Collection[str], query_ids: Collection[str]) -> None:
        pass  # it is all at hand

    def find_shown(self, query_id: str) -> Shown | None:
        fresh = (each for each in self._written if isinstance(each, Impression) and each.query_id == query_id)
        found = next(fresh, None) or self._store.lists.get(query_id)
        if found is None or found.seq in self._gone:
            return None
        return Shown(
            seq=found.seq, at=found.at, ranker=found.ranker, query_id=query_id, shown=tuple(found.shown)
        )

    def knows(self, event_id: str) -> bool:
        fresh = (each for each in self._written if isinstance(each, Event) and each.verdict in JOINED)
        seqs = {each.seq for each in fresh if each.event_id == event_id}
        return bool(seqs.union(self._store.known.get(event_id, ())) - self._gone)

    def find_recorded_event(self, event_id: str) -> tuple[str, str] | None:
        found = (each for each in self._here() if isinstance(each, Event) and each.event_id == event_id)
        return next(((each.query_id, each.source) for each in found if each.verdict in JOINED), None)

    def read_contributions(self, ranker: str, source: str, *, since: float) -> Collection[tuple[int, str]]:
        mine = (each for each in self._here() if isinstance(each, Event) and each.source == source != "")
        counted = (each for each in mine if each.verdict in COUNTED and each.ranker == ranker)
        late = (each for each in counted if each.at >= since)
        return {(each.list_seq, each.object_id) for each in late if each.list_seq is not None}

    def remove_unmatched_events(self, *, since: float, until: float) -> int:
        strays = (each for each in self._here() if isinstance(each, Event) and not each.ranker)
        gone = {each.seq for each in strays if since <= each.at < until}
        self._gone |= gone
        return len(gone)

    def _here(self) -> list[Record]:
        return [each for each in (*self._store.records, *self._written) if each.seq not in self._gone]

    def list_rankers(self) -> Sequence[str]:
        fresh = {each.ranker for each in self._written if isinstance(each, Decision)}
        return sorted(fresh.union(self._store.list_rankers()) - {SERVICE})

    def read_decisions(self, ranker: str, *, after: int = 0) -> Sequence[Decision]:
        fresh = (each for each in self._written if isinstance(each, Decision) and each.ranker == ranker)
        return [
            *self._store.read_decisions(ranker, after=after),
            *(each for each in fresh if each.seq > after),
        ]

    def read_totals(self, ranker: str) -> Sequence[ExposureSum]:
        return rows_of(self._sums(), ranker)

    def remove_before(
        self, ranker: str, *, until: int, shown_before: float, keep: Collection[str] = ()
    ) -> int:
        here = [each for each in (*self._store.records, *self._written) if each.seq not in self._gone]
        later = (each for each in here if isinstance(each, Event) and each.seq > until)
        needed = {each.list_seq for each in later if each.verdict in COUNTED}

        def old(each: Record) -> bool:
            if isinstance(each, Event) and not each.ranker:
                return each.at < shown_before
            if isinstance(each, Decision) or each.ranker != ranker or each.seq > until:
                return False
            if isinstance(each, Event):
                return True
            return each.at < shown_before and each.query_id not in keep and each.seq not in needed

        gone = {each.seq for each in here if old(each)}
        self._gone |= gone
        self.delete_snapshots(ranker, before=until)
        return len(gone)

    def find_person_entries(self, person: Person, *, after: int = 0) -> Traces:
        here = [each for each in (*self._store.records, *self._written) if each.seq not in self._gone]
        return _traces(here, person, after)

    def remove_entries(self, *, lists: Collection[int], events: Collection[int]) -> int:
        here = {each.seq for each in (*self._store.records, *self._written)} - self._gone
        gone = here.intersection((*lists, *events))
        self._gone |= gone
        return len(gone)

    def amend(self, decision: Decision) -> None:
        self._amended[decision.seq] = decision

    def _sums(self) -> dict[Key, Sums]:
        """Exposure accounts, with what was written and without what was discarded."""
        if self._gone:
            here = (*self._store.records, *self._written)
            return sums_of(each for each in here if each.seq not in self._gone)
        found = dict(self._store.sums)
        for key, more in sums_of(self._written).items():
            found[key] = added(found.get(key), more)
        return found

    def commit(self) -> None:
        """Let everyone see it."""
        store = self._store
        fresh = self._written
        store.sums = self._sums()
        if self._gone:
            fresh = [each for each in (*store.records, *fresh) if each.seq not in self._gone]
            store.records, store.lists, store.known = [], {}, {}
        store.records.extend(fresh)
        if self._amended:
            store.records = [self._amended.get(each.seq, each) for each in store.records]
        store.lists.update({each.query_id: each for each in fresh if isinstance(each, Impression)})
        for each in fresh:
            if isinstance(each, Event) and each.verdict in JOINED:
                store.known.setdefault(each.event_id, set()).add(each.seq)
        store.kept, store.head = self._kept, self._head


def _traces(records: Sequence[Record], person: Person, after: int) -> Traces:
    """What entries tell of a person after an entry; their lists are looked for among all."""

    def meant(each: Impression | Event) -> bool:
        names = [(each.client_id, person.client_id), (each.session_id, person.session_id)]
        if isinstance(each, Impression):
            names.append((each.user, person.user))
        return any(wanted and has == wanted for has, wanted in names)

    lists = [each for each in records if isinstance(each, Impression) and meant(each)]
    shown = {each.query_id for each in lists}
    events = [e for e in records if isinstance(e, Event) and (meant(e) or e.query_id in shown)]
    return Traces(
        lists=[_trace(each, each.query_id) for each in lists if each.seq > after],
        events=[_trace(each, each.event_id) for each in events if each.seq > after],
    )


def _trace(each: Impression | Event, name: str) -> Trace:
    return Trace(seq=each.seq, at=each.at, ranker=each.ranker, name=name)


def _list_entry(shown: Impression) -> ListEntry:
    return ListEntry(
        seq=shown.seq,
        at=shown.at,
        ranker=shown.ranker,
        query_id=shown.query_id,
        teaches=shown.teaches,
        promised=shown.promised,
    )


def _trial_list(shown: Impression, assignment: Assignment) -> TrialList:
    return TrialList(
        seq=shown.seq,
        at=shown.at,
        query_id=shown.query_id,
        client_id=shown.client_id,
        session_id=shown.session_id,
        shown=tuple(shown.shown),
        assignment=assignment,
    )


def _parts(lists: Sequence[Impression], parts: int, least: int) -> list[Sequence[Impression]]:
    """Up to so many parts of equally many lists, `least` or more if there are."""
    return [lists[start:end] for start, end in pairwise(part_ends(len(lists), parts, least))]
