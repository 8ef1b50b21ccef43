"""Services for connectors: one in this process or a client of one elsewhere, asked in the same way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, TypeAlias

from rankloop.candidate import ListService
from rankloop.client import Client


class Receipt(Protocol):
    """What a service says about an event."""

    @property
    def verdict(self) -> str:
        """Whether it was accepted, or why not."""
        ...


class EventService(Protocol):
    """Whoever records events: `service.events` of a service in this process."""

    def record(self, events: Sequence[Mapping[str, Any]], /) -> Sequence[Receipt]:
        """Record events in the form of UBI; return a receipt for each once all are durable."""
        ...


class EmbeddedService(Protocol):
    """A `RankingService`, as far as a connector asks it."""

    @property
    def lists(self) -> ListService:
        """Whoever ranks candidates."""
        ...

    @property
    def events(self) -> EventService:
        """Whoever records events."""
        ...


SearchService: TypeAlias = Client | EmbeddedService


def list_service(service: SearchService) -> ListService:
    """Return whoever ranks candidates for this service."""
    return service if isinstance(service, Client) else service.lists


def record_events(service: SearchService, events: Sequence[Mapping[str, Any]]) -> list[str]:
    """Record events in the form of UBI; return a verdict for each."""
    if isinstance(service, Client):
        return [str(each["verdict"]) for each in service.events(events)]
    return [each.verdict for each in service.events.record(events)]


def record_click(service: SearchService, query_id: str, object_id: str, *, session_id: str = "") -> None:
    """Record a click on a result of a list; the same one twice counts once."""
    attributes = {"object": {"object_id": object_id}}
    event = {"action_name": "click", "query_id": query_id, "event_attributes": attributes}
    record_events(service, [{**event, "session_id": session_id}])
