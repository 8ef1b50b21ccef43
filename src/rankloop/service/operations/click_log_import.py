"""Import of lists of others into the log of a service: in batches, each whole, and each once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice

from rankloop.candidate import Candidate
from rankloop.connect.click_log_lists import LoggedList
from rankloop.errors import RequestError
from rankloop.service.core.lists.candidate_columns import columns
from rankloop.service.core.lists.rank_request import RankRequest
from rankloop.service.events.imported_lists import ImportedList
from rankloop.service.events.user_event import UserEvent
from rankloop.service.service_facade import ServiceFacade

BATCH = 200  # lists in one transaction


@dataclass(slots=True)
class Imported:
    """What was imported, what was there already, and what was left out."""

    lists: int = 0
    clicks: int = 0
    known: int = 0
    left_out: Counter[str] = field(default_factory=Counter)


def import_click_log(
    service: ServiceFacade,
    ranker: str,
    lists: Iterable[LoggedList],
    *,
    look: Callable[[Imported], object] = lambda _: None,
) -> Imported:
    """Import the lists that can be, and have them learned; the same lists again change nothing.

    Each batch is a transaction: whenever this ends, the log has whole lists with their clicks.
    """
    done = Imported()
    for batch in _batches(_past(lists, ranker, done)):
        fresh = [each for each in batch if service.store.find_impression(each.request.query_id or "") is None]
        done.known += len(batch) - len(fresh)
        if fresh:
            count, receipts = service.import_lists(ranker, fresh)
            done.lists += count
            done.clicks += sum(each.verdict == "accepted" for each in receipts)
        look(done)
    if done.lists:
        service.flush(ranker)
    return done


def past_list(found: LoggedList, ranker: str) -> ImportedList:
    """A list as the service takes it, under an id that follows from what it is."""
    name = f"imported-{found.key}"
    rows = zip(found.objects, found.features, strict=True)
    request = RankRequest(
        ranker=ranker,
        candidates=columns([Candidate(each, features) for each, features in rows]),
        k=len(found.objects),
        user_query=found.query[:2000],
        client_id=found.client[:200],
        session_id=found.session[:200],
        query_id=name[:200],
    )
    events = (
        UserEvent(
            name[:200],
            each,
            ordinal=list(found.objects).index(each) + 1,
            occurred_at=found.time,
            client_id=found.client[:200],
            session_id=found.session[:200],
        )
        for each in found.clicked
    )
    return ImportedList(request, tuple(events))


def _past(lists: Iterable[LoggedList], ranker: str, done: Imported) -> Iterator[ImportedList]:
    for each in lists:
        if each.trouble:
            done.left_out[each.trouble] += 1
            continue
        try:
            yield past_list(each, ranker)
        except RequestError as error:
            done.left_out[str(error)] += 1


def _batches(lists: Iterator[ImportedList]) -> Iterator[list[ImportedList]]:
    while batch := list(islice(lists, BATCH)):
        yield batch
