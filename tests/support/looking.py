"""Services with pages to look at, and what a page says."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

import httpx
import numpy as np

from rankloop.service.pages import Pages, page_routes
from rankloop.service.service_facade import ServiceFacade
from rankloop.service.store import Event, Impression, Store, Transaction, write
from tests.support.serving import Live, alive


@contextmanager
def watched(service: ServiceFacade, pages: Pages | None = None) -> Iterator[Live]:
    """A service with its pages."""
    with alive(service, routes=page_routes(pages)) as live:
        yield live


def signed_in(live: Live) -> httpx.Client:
    """A browser of someone who has the key."""
    client = live["nobody"]
    answer = client.post("/login", data={"key": live.keys["admin"]})
    assert answer.status_code == 303
    return client


def numbers(page: str) -> dict[str, str]:
    """The numbers on a page by their name, as precisely as the page knows them."""
    return dict(re.findall(r'<data id="([^"]+)" value="([^"]*)"', page))


def token(page: str) -> str:
    found = re.search(r'name="token" value="([^"]+)"', page)
    assert found
    return found[1]


def traffic(store: Store, ranker: str, *, lists: int, events: int, now: float) -> None:
    """Lists of the last hour with clicks on them, straight into the log."""
    features, order, pins = np.zeros((3, 1)), np.arange(3), np.zeros(3, dtype=np.int64)

    def job(transaction: Transaction) -> None:
        for number in range(lists):
            shown = Impression(
                at=now - 3600 + 3000 * number / lists,
                ranker=ranker,
                query_id=f"q{number}",
                model=1,
                settings=1,
                mode="explore",
                policy="pairrank",
                seed=number,
                k=3,
                object_ids=["a", "b", "c"],
                features=features,
                order=order,
                pinned_at=pins,
                pairs=3,
                settled=number * 3 // lists,
                explored=number % 2,
                cost=0.1 * (number % 2),
            )
            transaction.append(shown)
        for number in range(events):
            index, known = number % 3, number % 50
            event = Event(
                at=now - 500,
                ranker=ranker,
                event_id=f"e{number}",
                query_id=f"q{number % lists}",
                object_id="abc"[index],
                action="click",
                verdict="accepted" if known else "orphan",
                position=index + 1 if known else None,
                list_seq=first + number % lists if known else None,
                closes_at=now if known else None,
                ordinal=index + 1,
                client_id=f"client{number % 7}",
            )
            transaction.append(event)

    first = write(store, lambda transaction: transaction.append(_marker(ranker, now))) + 1
    write(store, job)


def _marker(ranker: str, now: float) -> Event:
    """An event whose number is the one before the first list's."""
    return Event(
        at=now - 3601,
        ranker=ranker,
        event_id="marker",
        query_id="none",
        object_id="none",
        action="click",
        verdict="orphan",
    )
