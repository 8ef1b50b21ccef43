"""Verdicts: what is made of an event, decided once, by the one who writes the log."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from rankloop.service.events import UserEvent
from rankloop.service.settings import RankerSettings
from rankloop.store import Event, Shown, Transaction, Verdict


class Bench(Protocol):
    """What a verdict depends on besides the event and the log."""

    @property
    def rules(self) -> RankerSettings:
        """The rules in force."""
        ...

    @property
    def flushed(self) -> int:
        """The last entry that closed all lists shown before it."""
        ...


def judge(transaction: Transaction, event: UserEvent, benches: Mapping[str, Bench], now: float) -> Event:
    """The event as it enters the log, with its verdict.

    In this order: a `duplicate` has been here before; an `orphan`'s list is unknown; an action that counts
    nothing is `ignored`; what was `not_shown` in the list cannot have been clicked; `late` is after the
    window; everything else is `accepted`.
    """
    if transaction.knows(event.event_id):
        return _entered(event, now, "duplicate", "an event of this id was recorded before")
    shown = transaction.shown(event.query_id)
    if shown is None or shown.ranker not in benches:
        return _entered(event, now, "orphan", f"no list was shown under the query_id {event.query_id!r}")
    rules = benches[shown.ranker].rules
    if not rules.actions.get(event.action):
        return _entered(event, now, "ignored", f"the action {event.action!r} does not count", shown=shown)
    if event.object_id not in shown.shown:
        detail = f"{event.object_id!r} was not in the list {event.query_id!r}"
        return _entered(event, now, "not_shown", detail, shown=shown)
    closes_at = shown.at + rules.window
    position = shown.shown.index(event.object_id) + 1
    if now >= closes_at or shown.seq <= benches[shown.ranker].flushed:
        detail = f"the list was shown {now - shown.at:.0f} seconds ago and is closed"
        return _entered(event, now, "late", detail, shown=shown, position=position, closes_at=now)
    return _entered(event, now, "accepted", "", shown=shown, position=position, closes_at=closes_at)


def unreadable(now: float, reason: str) -> Event:
    """The trace of an event that could not be understood: the reason, and nothing of what it said."""
    return Event(
        at=now,
        ranker="",
        event_id="",
        query_id="",
        object_id="",
        action="",
        verdict="invalid",
        detail=reason[:200],
    )


def _entered(
    event: UserEvent,
    now: float,
    verdict: Verdict,
    detail: str,
    *,
    shown: Shown | None = None,
    position: int | None = None,
    closes_at: float | None = None,
) -> Event:
    return Event(
        at=now,
        ranker=shown.ranker if shown else "",
        event_id=event.event_id,
        query_id=event.query_id,
        object_id=event.object_id,
        action=event.action,
        verdict=verdict,
        detail=detail,
        position=position,
        list_seq=shown.seq if shown else None,
        closes_at=closes_at,
        ordinal=event.ordinal,
        occurred_at=event.occurred_at,
        client_id=event.client_id,
        session_id=event.session_id,
    )
