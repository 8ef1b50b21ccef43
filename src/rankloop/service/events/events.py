"""Events of a service: clicks and grades recorded, past lists imported, stray events discarded."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rankloop.service.events.event_selection import EventSelection
from rankloop.service.events.imported_lists import ImportedList
from rankloop.service.events.user_event import Receipt, UserEvent

if TYPE_CHECKING:
    from rankloop.service.service_facade import ServiceFacade


class Events:
    """Events of a service, as `service.events`."""

    def __init__(self, facade: ServiceFacade) -> None:
        self._facade = facade

    def record(self, events: Iterable[UserEvent | Mapping[str, Any]]) -> Sequence[Receipt]:
        """Record what users did; return a verdict for each event once all of them are durable.

        Events are `UserEvent`s or mappings in the form of UBI. Late, repeated and unknown ones may be sent,
        too: each gets its verdict.
        """
        return self._facade.record(events)

    def import_lists(self, ranker: str, lists: Sequence[ImportedList]) -> tuple[int, Sequence[Receipt]]:
        """Learn from lists that were shown elsewhere, all or none; return how many are new, and receipts.

        A list whose id is in the log already changes nothing. The lists stay open until their window closes:
        `service.rankers.flush` closes them at once.
        """
        return self._facade.import_lists(ranker, lists)

    def select(self, ranker: str, selection: EventSelection) -> Sequence[str]:
        """Return the ids of the counted events of a client, a session, a source or a period."""
        return self._facade.select_events(ranker, selection)

    def discard_unmatched(self, *, since: float | None = None, until: float | None = None) -> int:
        """Delete events that match no list, duplicates and invalid events of a period; return how many."""
        return self._facade.discard_strays(since=since, until=until)
