"""Verdicts: what is made of an event, decided once, inside the transaction that writes it.

A verdict follows from the log alone: from what is in force at that point of it, and never from what a process
remembers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from rankloop.service.core.configuration import Configuration
from rankloop.service.core.deleted_lists import DELETE, lies_under
from rankloop.service.core.ranker_settings import BaseRankerSettings
from rankloop.service.events.list_lookup_retry import ListNotWrittenYet
from rankloop.service.events.unmatched_events import UnmatchedEventBudget
from rankloop.service.events.user_event import Receipt, UserEvent
from rankloop.service.store import SERVICE, SQUATTED, Decision, Event, Shown, Transaction, Verdict

ConfigurationWithin: TypeAlias = Callable[[Transaction, str], Configuration]  # by the name of a ranker


class Judge:
    """Gives events their verdicts within one transaction.

    `configuration_within` gives the configuration of a ranker inside the transaction.
    """

    def __init__(
        self,
        transaction: Transaction,
        configuration_within: ConfigurationWithin,
        now: float,
    ) -> None:
        self._transaction, self._within, self._now = transaction, configuration_within, now
        self._found: dict[str, Configuration] = {}
        self._deletions: Sequence[Decision] | None = None  # of people's data, once anybody asks
        self._done: dict[tuple[str, str], set[tuple[int, str]]] = {}  # by ranker and source: lists, objects

    def judge(self, event: UserEvent) -> Event:
        """The event as it enters the log, with its verdict.

        In this order: a `duplicate` has been here before; an `orphan`'s list is unknown; an action that
        counts nothing is `ignored`; what was `not_shown` in the list cannot have been clicked; `late` is
        after the window; what is more than one source may teach is `held`; everything else is `accepted`.
        """
        now = self._now
        if self._transaction.knows(event.event_id):
            return _entered(event, now, "duplicate", self._taken(event))
        shown = self._transaction.find_shown(event.query_id)
        if shown is None:
            return _entered(event, now, "orphan", f"no list was shown under the query_id {event.query_id!r}")
        configuration = self._configuration(shown.ranker)
        if not configuration.settings.counts(event.action):
            return _entered(event, now, "ignored", f"the action {event.action!r} does not count", shown=shown)
        if event.object_id not in shown.shown:
            detail = f"{event.object_id!r} was not in the list {event.query_id!r}"
            return _entered(event, now, "not_shown", detail, shown=shown)
        return self._counted(event, shown, configuration)

    def _counted(self, event: UserEvent, shown: Shown, configuration: Configuration) -> Event:
        """A click on a result that was shown: whether it is in time, and not too much of one source."""
        now, closes_at = self._now, shown.at + configuration.settings.window
        position = shown.shown.index(event.object_id) + 1
        if event.source and (detail := self._too_much(event, shown, configuration.settings)):
            return _entered(event, now, "held", detail, shown=shown, position=position)
        if now >= closes_at or shown.seq <= configuration.flushed_until:
            detail = f"the list was shown {now - shown.at:.0f} seconds ago and is closed"
            return _entered(event, now, "late", detail, shown=shown, position=position, closes_at=now)
        return _entered(event, now, "accepted", "", shown=shown, position=position, closes_at=closes_at)

    def _taken(self, event: UserEvent) -> str:
        """Whose id it has: its own, or that of another event, which is no accident."""
        query_id, source = self._transaction.find_recorded_event(event.event_id) or (
            event.query_id,
            event.source,
        )
        other = query_id != event.query_id or (source and event.source and source != event.source)
        return SQUATTED if other else "an event of this id was recorded before"

    def _too_much(self, event: UserEvent, shown: Shown, settings: BaseRankerSettings) -> str:
        """Why a source may not teach this; empty if it may. What it has done with a list, it may do again."""
        key, mine = (shown.ranker, event.source), (shown.seq, event.object_id)
        limit = settings.client_limit
        if key not in self._done:
            since = self._now - limit.seconds
            self._done[key] = set(self._transaction.read_contributions(*key, since=since))
        done = self._done[key]
        lists, times = {seq for seq, _ in done}, sum(name == event.object_id for _, name in done)
        if mine not in done and limit.repeats is not None and times >= limit.repeats:
            return f"it counts {times} times already that this address or client chose {event.object_id!r}"
        if shown.seq not in lists and limit.lists is not None and len(lists) >= limit.lists:
            return f"{len(lists)} lists of this address or client count already"
        done.add(mine)
        return ""

    def was_deleted(self, event: Event) -> bool:
        """Whether its list was deleted on request: then nothing of the event may come into the log again."""
        if event.ranker or not event.query_id or self._transaction.find_shown(event.query_id):
            return False
        if self._deletions is None:
            decisions = self._transaction.read_decisions(SERVICE)
            self._deletions = [each for each in decisions if each.kind == DELETE]
        return lies_under(event.query_id, self._deletions)

    def _configuration(self, ranker: str) -> Configuration:
        if ranker not in self._found:
            self._found[ranker] = self._within(self._transaction, ranker)
        return self._found[ranker]


def write_events(
    transaction: Transaction,
    events: Sequence[UserEvent | str],
    configuration_within: ConfigurationWithin,
    at: float,
    *,
    last: bool = True,
    unmatched: UnmatchedEventBudget | None = None,
) -> list[tuple[str, Receipt]]:
    """Events written down with their verdicts: of each its ranker, if it has one, and its receipt.

    A text in place of an event says why it could not be understood. If it is not the `last` chance,
    `ListNotWrittenYet` if a list is not there: another process may just be writing it. Of events that teach
    nothing, only as many are written down as `unmatched` allows, and none whose list was deleted on request.
    """
    clear = [event for event in events if not isinstance(event, str)]
    transaction.prefetch(
        event_ids=[each.event_id for each in clear], query_ids=[each.query_id for each in clear]
    )
    if not last and not all(transaction.find_shown(each.query_id) for each in clear):
        raise ListNotWrittenYet
    now = transaction.time(at)
    judge, receipts = Judge(transaction, configuration_within, now), []
    for event in events:
        entry = unreadable(now, event) if isinstance(event, str) else judge.judge(event)
        if (unmatched is None or unmatched.keeps(entry)) and not judge.was_deleted(entry):
            transaction.append(entry)
        receipts.append((entry.ranker, Receipt(entry.event_id, entry.verdict, entry.detail)))
    return receipts


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
        source=event.source,
    )
