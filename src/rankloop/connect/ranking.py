"""Clicks for connectors: reported to a service in this process, or to a client of one elsewhere."""

from __future__ import annotations

from typing import TypeAlias

from rankloop.client import Client
from rankloop.service import ServiceFacade, UserEvent

Ranks: TypeAlias = Client | ServiceFacade


def clicked(service: Ranks, query_id: str, object_id: str, *, session_id: str = "") -> None:
    """Report a click on a result of a list; the same one twice is one. Where it stood, the service knows."""
    if isinstance(service, Client):
        named = {"object": {"object_id": object_id}}
        event = {"action_name": "click", "query_id": query_id, "event_attributes": named}
        service.events([{**event, "session_id": session_id}])
    else:
        service.record([UserEvent(query_id, object_id, session_id=session_id)])
