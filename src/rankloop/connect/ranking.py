"""Ranking for connectors: by a service in this process, or by a client of one elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from rankloop.client import Client, Item, RankedList
from rankloop.service import Candidate, RankingService, UserEvent

Ranks: TypeAlias = Client | RankingService


def ranked(
    service: Ranks,
    items: Sequence[Item],
    *,
    ranker: str = "default",
    k: int = 10,
    user_query: str = "",
    client_id: str = "",
    session_id: str = "",
    query_id: str | None = None,
) -> RankedList:
    """A list of `k` of the items, which come in your own order.

    >>> from rankloop.store import MemoryStore
    >>> service = RankingService(MemoryStore())
    >>> service.create("default", mode="passthrough")
    >>> ranked(service, [Item("a", {"price": 3}), Item("b")]).object_ids
    ['a', 'b']
    """
    if isinstance(service, Client):
        return service.rank(
            items,
            ranker=ranker,
            k=k,
            user_query=user_query,
            client_id=client_id,
            session_id=session_id,
            query_id=query_id,
        )
    shown = service.rank(
        [
            Candidate(each.object_id, each.features, each.pinned_at, each.group or "", each.title)
            for each in items
        ],
        ranker=ranker,
        k=k,
        user_query=user_query,
        client_id=client_id,
        session_id=session_id,
        query_id=query_id,
    )
    return RankedList(shown.query_id, list(shown.object_ids), shown.provenance.fallback)


def clicked(service: Ranks, query_id: str, object_id: str, *, session_id: str = "") -> None:
    """Report a click on a result of a list; the same one twice is one. Where it stood, the service knows."""
    if isinstance(service, Client):
        named = {"object": {"object_id": object_id}}
        event = {"action_name": "click", "query_id": query_id, "event_attributes": named}
        service.events([{**event, "session_id": session_id}])
    else:
        service.record([UserEvent(query_id, object_id, session_id=session_id)])
