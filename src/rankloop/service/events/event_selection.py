"""Selection of events: those of a client, a session, a source or a stretch of time."""

from __future__ import annotations

from dataclasses import dataclass

from rankloop.errors import RequestError
from rankloop.service.store import COUNTED, Event, Store


@dataclass(frozen=True, kw_only=True)
class EventSelection:
    """Which events are meant: those to which all applies that is said.

    >>> EventSelection(client_id="c1", since=100.0).has
    True
    """

    client_id: str = ""
    session_id: str = ""
    source: str = ""  # as the doctor and the audit show it
    since: float | None = None  # by the log's time
    until: float | None = None

    @property
    def has(self) -> bool:
        """Whether anything is said."""
        return bool(self.client_id or self.session_id or self.source) or (self.since, self.until) != (
            None,
            None,
        )

    def __contains__(self, event: Event) -> bool:
        said = ("client_id", self.client_id), ("session_id", self.session_id), ("source", self.source)
        after = self.since is None or event.at >= self.since
        before = self.until is None or event.at < self.until
        return after and before and all(getattr(event, name) == value for name, value in said if value)


def select_events(store: Store, ranker: str, selection: EventSelection) -> list[str]:
    """The ids of a ranker's counted events that are meant."""
    if not selection.has:
        raise RequestError(
            "expected event_ids, or at least one of client_id, session_id, source, address, since and until"
        )
    found = selected(store, ranker, selection)
    if not found:
        raise RequestError(f"no event of {ranker!r} that counts is of this client, source and time")
    return found


def selected(store: Store, ranker: str, selection: EventSelection, *, before: int = 2**62) -> list[str]:
    """The same, also if there are none; of the entries before one."""
    counted = (each for each in store.read_events(ranker) if each.verdict in COUNTED and each.seq < before)
    return [each.event_id for each in counted if each in selection]
