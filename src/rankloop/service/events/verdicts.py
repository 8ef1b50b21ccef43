"""Verdicts: what is made of an event, decided once, inside the transaction that writes it.

A verdict follows from the log alone: from what is in force at that point of it, and never from what a process
remembers.
"""

from __future__ import annotations

from collections.abc import Mapping

from rankloop.service.events.event import UserEvent
from rankloop.service.learning.in_force import InForce
from rankloop.spelling import Catalogue
from rankloop.store import Event, Shown, Transaction, Verdict


class Judge:
    """Gives events their verdicts within one transaction.

    `rankers` is what was in force when the job was submitted: a head start, from which the decisions since
    are folded.
    """

    def __init__(
        self, transaction: Transaction, rankers: Mapping[str, InForce], known: Catalogue, now: float
    ) -> None:
        self._transaction, self._rankers, self._known, self._now = transaction, rankers, known, now
        self._found: dict[str, InForce] = {}

    def judge(self, event: UserEvent) -> Event:
        """The event as it enters the log, with its verdict.

        In this order: a `duplicate` has been here before; an `orphan`'s list is unknown; an action that
        counts nothing is `ignored`; what was `not_shown` in the list cannot have been clicked; `late` is
        after the window; everything else is `accepted`.
        """
        now = self._now
        if self._transaction.knows(event.event_id):
            return _entered(event, now, "duplicate", "an event of this id was recorded before")
        shown = self._transaction.shown(event.query_id)
        if shown is None:
            return _entered(event, now, "orphan", f"no list was shown under the query_id {event.query_id!r}")
        in_force = self._in_force(shown.ranker)
        if not in_force.rules.counts(event.action):
            return _entered(event, now, "ignored", f"the action {event.action!r} does not count", shown=shown)
        if event.object_id not in shown.shown:
            detail = f"{event.object_id!r} was not in the list {event.query_id!r}"
            return _entered(event, now, "not_shown", detail, shown=shown)
        closes_at = shown.at + in_force.rules.window
        position = shown.shown.index(event.object_id) + 1
        if now >= closes_at or shown.seq <= in_force.flushed:
            detail = f"the list was shown {now - shown.at:.0f} seconds ago and is closed"
            return _entered(event, now, "late", detail, shown=shown, position=position, closes_at=now)
        return _entered(event, now, "accepted", "", shown=shown, position=position, closes_at=closes_at)

    def _in_force(self, ranker: str) -> InForce:
        if ranker not in self._found:
            start = self._rankers.get(ranker) or InForce()
            self._found[ranker] = start.within(self._transaction, ranker, self._known)
        return self._found[ranker]


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
        value=event.value,
    )
