"""Past lists: what was shown and clicked elsewhere enters the log, whole lists in one transaction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from rankloop.errors import RequestError
from rankloop.service.core.lists.rank_request import RankRequest
from rankloop.service.core.ranker import Ranker
from rankloop.service.core.ranker_settings import LEARNS
from rankloop.service.events.user_event import Receipt, UserEvent
from rankloop.service.events.verdicts import ConfigurationWithin, write_events
from rankloop.service.store import Store, Transaction, write


@dataclass(frozen=True, slots=True, eq=False)
class ImportedList:
    """A list that was shown elsewhere: candidates in the order shown, an id, and what was done with them.

    The id makes it one list however often it comes.
    """

    request: RankRequest
    events: tuple[UserEvent, ...] = ()


def import_lists(
    ranker: Ranker,
    store: Store,
    lists: Sequence[ImportedList],
    *,
    configuration_within: ConfigurationWithin,
    at: float,
) -> tuple[int, list[Receipt]]:
    """Write down lists and their events, all or nothing; how many are new, and the receipts of their events.

    The policy drew none of them: as in the mode `shadow`, it says whether it can learn from each.
    """
    settings, mode = ranker.settings, ranker.view.configuration.mode
    if mode not in LEARNS:
        raise RequestError(f"ranker {ranker.name!r} is {mode} and learns nothing: set another mode first")
    if settings.extension("fair") is not None:
        raise RequestError(
            f"ranker {ranker.name!r} shares exposure, and lists of the past would count: use another ranker"
        )
    drafts = [(ranker.lists.shown_elsewhere(each.request), each.events) for each in lists]

    def job(transaction: Transaction) -> tuple[int, list[Receipt]]:
        transaction.prefetch(event_ids=[], query_ids=[made.impression.query_id for made, _ in drafts])
        fresh = [
            (made, events)
            for made, events in drafts
            if transaction.find_shown(made.impression.query_id) is None
        ]
        now = transaction.time(at)
        transaction.append_all([replace(made.impression, at=now) for made, _ in fresh])
        done = [event for _, events in fresh for event in events]
        receipts = write_events(transaction, done, configuration_within, at) if done else []
        return len(fresh), [receipt for _, receipt in receipts]

    return write(store, job)
