"""Events of a service: clicks and grades recorded, past lists imported, stray events discarded."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import replace
from typing import Any

from rankloop.errors import RequestError
from rankloop.service.core.ranker_collection import Rankers
from rankloop.service.events.event_selection import EventSelection, select_events
from rankloop.service.events.imported_lists import ImportedList, import_lists
from rankloop.service.events.list_lookup_retry import submit_with_retry
from rankloop.service.events.unmatched_events import UnmatchedEventBudget
from rankloop.service.events.user_event import Receipt, UserEvent, parse_event
from rankloop.service.events.verdicts import write_events
from rankloop.service.store import Transaction, write

MOST_EVENTS = 10_000  # in one call
MOMENT = 1e15  # beyond every time of a log


class Events:
    """Events of a service, as `service.events`."""

    def __init__(self, rankers: Rankers) -> None:
        self._rankers, self.unmatched = rankers, UnmatchedEventBudget()

    def record(self, events: Iterable[UserEvent | Mapping[str, Any]]) -> list[Receipt]:
        """Record what users did; return a verdict for each event once all of them are durable.

        Events are `UserEvent`s or mappings in the form of UBI. Late, repeated and unknown ones may be sent,
        too: each gets its verdict.
        """
        entered = self.submit(events).result()
        self._rankers.learn({ranker for ranker, _ in entered})
        return [receipt for _, receipt in entered]

    def submit(
        self,
        events: Iterable[UserEvent | Mapping[str, Any]],
        *,
        source: Callable[[UserEvent], str] | None = None,
    ) -> Future[list[tuple[str, Receipt]]]:
        """`record` without waiting: for each event its ranker, if it has one, and its receipt once durable.

        Then it is time to learn. `source` says where an event came from: see `SourceHash`.
        """
        said = [parse_event(event) for event in events]
        if source is not None:
            said = [e if isinstance(e, str) else replace(e, source=source(e)) for e in said]
        if len(said) > MOST_EVENTS:
            raise RequestError(f"at most {MOST_EVENTS} events in one call, found {len(said)}: send fewer")
        at, within = self._rankers.clock(), self._rankers.configuration_within
        self._rankers.resume_waiting()  # an event must not overtake its list

        def job(transaction: Transaction, last: bool) -> list[tuple[str, Receipt]]:
            return write_events(transaction, said, within, at, last=last, unmatched=self.unmatched)

        return submit_with_retry(self._rankers.store, job, patient=self._rankers.election.shared)

    def import_lists(self, ranker: str, lists: Sequence[ImportedList]) -> tuple[int, list[Receipt]]:
        """Learn from lists that were shown elsewhere, all or none; return how many are new, and receipts.

        A list whose id is in the log already changes nothing. The lists stay open until their window closes:
        `service.rankers.flush` closes them at once.
        """
        known = self._rankers
        within, at = known.configuration_within, known.clock()
        entered = import_lists(known.get(ranker), known.store, lists, configuration_within=within, at=at)
        known.learn([ranker])
        return entered

    def select(self, ranker: str, selection: EventSelection) -> list[str]:
        """Return the ids of the counted events of a client, a session, a source or a period."""
        return select_events(self._rankers.store, self._rankers.get(ranker).name, selection)

    def discard_unmatched(self, *, since: float | None = None, until: float | None = None) -> int:
        """Delete events that match no list, duplicates and invalid events of a period; return how many."""
        start, end = -MOMENT if since is None else since, MOMENT if until is None else until
        store = self._rankers.store
        return write(store, lambda transaction: transaction.remove_unmatched_events(since=start, until=end))
