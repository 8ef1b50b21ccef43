"""Lists of a service: made from candidates, found again, and made again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from rankloop.candidate import Candidate
from rankloop.service.core.lists.candidate_columns import Candidates
from rankloop.service.core.lists.rank_response import RankResponse
from rankloop.service.store import ListFilter, ListSummary

if TYPE_CHECKING:
    from rankloop.service.core.lists.replay import Replay
    from rankloop.service.service_facade import ServiceFacade


class Lists:
    """Lists of a service, as `service.lists`."""

    def __init__(self, facade: ServiceFacade) -> None:
        self._facade = facade

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
        return self._facade.rank(
            candidates,
            ranker=ranker,
            k=k,
            user_query=user_query,
            client_id=client_id,
            session_id=session_id,
            query_id=query_id,
            user=user,
            context=context,
        )

    def replay(self, query_id: str) -> Replay:
        """Make a past list again, from its inputs and the model of its time."""
        return self._facade.replay(query_id)

    def find(self, ranker: str, wanted: ListFilter | None = None, *, last: int = 20) -> Sequence[ListSummary]:
        """Return past lists that match a filter, the newest first, each with what was clicked."""
        return self._facade.find_lists(ranker, wanted, last=last)
