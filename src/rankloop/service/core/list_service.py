"""Lists of a service: made from candidates, found again, and made again."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future

from rankloop.candidate import Candidate
from rankloop.errors import RequestError
from rankloop.service.core.lists.candidate_columns import Candidates, columns
from rankloop.service.core.lists.make_list import MadeList
from rankloop.service.core.lists.rank_request import RankRequest
from rankloop.service.core.lists.rank_response import RankResponse
from rankloop.service.core.lists.replay import Audit, Replay, audit, replay
from rankloop.service.core.ranker_collection import Rankers
from rankloop.service.store import Impression, ListFilter, ListSummary


class Lists:
    """Lists of a service, as `service.lists`."""

    def __init__(self, rankers: Rankers, new_id: Callable[[], str]) -> None:
        self._rankers, self.new_id = rankers, new_id

    def rank(
        self,
        candidates: Sequence[Candidate] | Candidates,
        *,
        ranker: str = "default",
        k: int = 10,
        user_query: str = "",
        client_id: str = "",
        session_id: str = "",
        query_id: str | None = None,
        user: str = "",
        context: Mapping[str, float | None] | None = None,
    ) -> RankResponse:
        """Rank the candidates, which come in the caller's order, and return the best `k` of them.

        `context` holds features of who asks, by name; policies for one ad choose by them. The list is written
        to the log without waiting for the disk; only events are acknowledged as durable.
        """
        request = RankRequest(
            ranker=ranker,
            candidates=candidates if isinstance(candidates, Candidates) else columns(candidates),
            k=k,
            user_query=user_query,
            client_id=client_id,
            session_id=session_id,
            query_id=query_id,
            user=user,
            context=context or {},
        )
        made = self.prepare(request)
        # urgent, so that the id is soon known to be taken
        return self.publish(made, urgent=query_id is not None).response

    def prepare(self, request: RankRequest, *, fresh: str = "") -> MadeList:
        """Make a list that is not shown yet: `publish` it, or let it go and it has never been.

        `fresh` is a new id, for a request without one that may have to be answered twice.
        """
        self.check_unused(request.query_id)
        found = self._rankers.get(request.ranker)
        return found.lists.prepare(request, request.query_id or fresh or self.new_id())

    def fall_back(self, request: RankRequest, reason: str, *, fresh: str = "") -> MadeList:
        """Make a list in the caller's order, when there is no time or no way to make another."""
        found = self._rankers.get(request.ranker)
        return found.lists.fall_back(request, request.query_id or fresh or self.new_id(), reason)

    def publish(self, made: MadeList, *, urgent: bool = False) -> MadeList:
        """Have a list that is shown now written down, as a rule together with others.

        What is returned is to be shown: it says so if it cannot be written.
        """
        return self._rankers.get(made.impression.ranker).lists.publish(made, urgent=urgent)

    def write_down(self, made: MadeList) -> Future[None]:
        """`publish` a list that is shown only once it is durable."""
        return self._rankers.get(made.impression.ranker).lists.write_down(made)

    def check_unused(self, query_id: str | None) -> None:
        """Refuse an id under which a list was shown before."""
        store = self._rankers.store
        if query_id is not None and not store.describe_outage() and store.find_impression(query_id):
            raise RequestError(f"a list was shown under the query_id {query_id!r} before: ids must be unique")

    def audit(self, query_id: str) -> Audit:
        """Return everything that is known about a past list."""
        return audit(self._rankers.store, query_id)

    def replay(self, query_id: str) -> Replay:
        """Make a past list again, from its inputs and the model of its time."""
        shown = self.audit(query_id).impression
        return replay(shown, self._rankers.get(shown.ranker).history)

    def newest(self, ranker: str, *, last: int = 20) -> list[Impression]:
        """Return the lists shown last, the newest first."""
        return list(self._rankers.store.read_impressions(self._rankers.get(ranker).name, newest=last))

    def find(self, ranker: str, wanted: ListFilter | None = None, *, last: int = 20) -> list[ListSummary]:
        """Return past lists that match a filter, the newest first, each with what was clicked."""
        name = self._rankers.get(ranker).name
        return self._rankers.store.statistics.find_lists(name, wanted or ListFilter(), last=last)
