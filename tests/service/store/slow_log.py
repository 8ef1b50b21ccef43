"""Plain reference of a log and its statistics: it keeps all entries and goes through them for each sum."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, cast

from rankloop.service.store import (
    COUNTED,
    Decision,
    Event,
    EventTally,
    Impression,
    Job,
    StoreError,
    Transaction,
)
from rankloop.service.store.log_records import Traffic
from rankloop.service.store.sql.traffic_statistics import LATEST, divide_lists, divide_time

Record = Impression | Event | Decision


class SlowLog:
    """Log of lists and events, which is also the transaction of its jobs."""

    def __init__(self) -> None:
        self.entries: list[Record] = []
        self.seq = 0  # of the last entry, also when it was removed

    def run(self, job: Job[Any]) -> BaseException | None:
        """Do a job, or leave no trace of it and return its error."""
        before = list(self.entries), self.seq
        try:
            job(cast("Transaction", self))
        except Exception as error:
            self.entries, self.seq = before
            return error
        return None

    def append(self, record: Record) -> int:
        """Add an entry, with the next number or its own."""
        if isinstance(record, Impression) and any(
            isinstance(each, Impression) and each.query_id == record.query_id for each in self.entries
        ):
            raise StoreError(f"a list was shown under the id {record.query_id!r} before: ids must be unique")
        self.seq = record.seq or self.seq + 1
        self.entries.append(replace(record, seq=self.seq))
        return self.seq

    def append_all(self, lists: Sequence[Impression]) -> int:
        """Add many lists; how many were refused."""
        return sum(self.run(lambda _, shown=shown: self.append(shown)) is not None for shown in lists)  # type: ignore[misc]

    def remove_before(self, ranker: str, *, until: int, shown_before: float, keep: Collection[str]) -> int:
        """Remove what a model that begins with entry `until` does not need; how many entries."""
        later = (each for each in self.entries if isinstance(each, Event) and each.seq > until)
        needed = {each.list_seq for each in later if each.verdict in COUNTED}

        def is_old(each: Record) -> bool:
            if isinstance(each, Event) and not each.ranker:
                return each.at < shown_before
            if isinstance(each, Decision) or each.ranker != ranker or each.seq > until:
                return False
            if isinstance(each, Event):
                return True
            return each.at < shown_before and each.query_id not in keep and each.seq not in needed

        count = len(self.entries)
        self.entries = [each for each in self.entries if not is_old(each)]
        return count - len(self.entries)

    def remove_entries(self, *, lists: Collection[int], events: Collection[int]) -> int:
        """Remove lists and events by their numbers; how many there were."""
        count = len(self.entries)
        gone = {Impression: set(lists), Event: set(events), Decision: set[int]()}
        self.entries = [each for each in self.entries if each.seq not in gone[type(each)]]
        return count - len(self.entries)

    def remove_unmatched_events(self, *, since: float, until: float) -> int:
        """Remove the events of a stretch of time that belong to no ranker; how many there were."""
        found = [each.seq for each in self.read_events("") if since <= each.at < until]
        return self.remove_entries(lists=(), events=found)

    def sum_buckets(self) -> bool:
        """Do nothing: it keeps no sums."""
        return False

    def read_impressions(self, ranker: str) -> Iterator[Impression]:
        """The lists of a ranker, in order."""
        return (each for each in self.entries if isinstance(each, Impression) and each.ranker == ranker)

    def read_events(self, ranker: str | None) -> Iterator[Event]:
        """The events of a ranker, or of all, in order."""
        events = (each for each in self.entries if isinstance(each, Event))
        return (each for each in events if ranker in (None, each.ranker))

    def sum_traffic(self, ranker: str, *, since: float, until: float, step: float) -> list[Traffic]:
        """Lists and clicks in steps of time."""
        return self.sum_between(ranker, divide_time(since, until, step))

    def sum_between(self, ranker: str, moments: Sequence[float]) -> list[Traffic]:
        """Lists and clicks between neighbouring moments."""
        steps = [
            (low, [each for each in self.read_impressions(ranker) if low <= each.at < high])
            for low, high in pairwise(moments)
        ]
        return [self._sum(ranker, start, lists) for start, lists in steps if lists]

    def sum_traffic_parts(
        self, ranker: str, *, since: float, until: float, parts: int, minimum: int
    ) -> list[Traffic]:
        """Lists and clicks in parts of equally many lists."""
        shown = [each for each in self.read_impressions(ranker) if since <= each.at < until]
        bounds = pairwise(divide_lists(len(shown), parts, minimum))
        return [self._sum(ranker, shown[low].at, shown[low:high]) for low, high in bounds]

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

    def _sum(self, ranker: str, start: float, lists: Sequence[Impression]) -> Traffic:
        clicks: dict[int | None, list[int]] = {}
        for event in self.read_events(ranker):
            if event.verdict in COUNTED and event.position is not None:
                clicks.setdefault(event.list_seq, []).append(event.position)
        first = [min(clicks[each.seq]) for each in lists if each.seq in clicks]
        return Traffic(
            start=start,
            lists=len(lists),
            clicked=len(first),
            reciprocal=sum(1 / position for position in first),
            fallbacks=sum(bool(each.fallback) for each in lists),
            explored=sum(each.explored for each in lists),
            cost=sum(each.cost for each in lists),
            pairs=sum(each.pairs for each in lists if each.settled is not None),
            settled=sum(each.settled or 0 for each in lists),
        )
