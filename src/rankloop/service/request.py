"""A request to rank: what may be asked, and how it is written down."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rankloop.service.answer import RankedList
from rankloop.service.features import RequestError, check_text
from rankloop.service.settings import RankerSettings
from rankloop.service.show import Request, Showing
from rankloop.service.table import Table
from rankloop.store import Impression

LONGEST_QUERY = 2000  # characters


@dataclass(frozen=True, slots=True, eq=False)
class Draft:
    """A list that was made and that nobody has seen: it is written down when it is shown, or not at all."""

    ranked: RankedList
    impression: Impression


def check_request(
    table: Table,
    k: object,
    rules: RankerSettings,
    *,
    query_id: str,
    user_query: str = "",
    client_id: str = "",
    session_id: str = "",
) -> None:
    """Refuse what cannot be ranked, before anything is changed."""
    if not isinstance(k, int) or isinstance(k, bool) or k < 1:
        raise RequestError(f"k must be a whole number of at least 1, found {k!r}")
    check_text("query_id", query_id)
    check_text("user_query", user_query, empty=True, longest=LONGEST_QUERY)
    check_text("client_id", client_id, empty=True)
    check_text("session_id", session_id, empty=True)
    n = len(table.object_ids)
    if not 1 <= n <= rules.max_candidates:
        raise RequestError(f"expected 1 to {rules.max_candidates} candidates, found {n}")
    _check_distinct("object_id", table.object_ids)
    pins = [place for place in table.pinned_at if place]
    _check_distinct("pinned_at", pins)
    if pins and max(pins) > n:
        raise RequestError(f"pinned_at must be a place of 1 to {n}, found {max(pins)}")


def draft(
    at: float,
    table: Table,
    request: Request,
    showing: Showing,
    ranked: RankedList,
    *,
    user_query: str = "",
    client_id: str = "",
    session_id: str = "",
) -> Draft:
    """A list, and how it would enter the log."""
    made = ranked.decision
    impression = Impression(
        at=at,
        ranker=made.ranker,
        query_id=request.query_id,
        user_query=user_query,
        client_id=client_id,
        session_id=session_id,
        model=made.model,
        settings=made.settings,
        mode=made.mode,
        policy=made.policy,
        seed=made.seed,
        k=request.k,
        object_ids=table.object_ids,
        groups=table.groups,
        pinned_at=request.pinned_at,
        features=request.raw,
        order=showing.order,
        evidence=showing.evidence,
        teaches=showing.teaches,
        fallback=made.fallback or "",
        digest=ranked.digest(),
        pairs=showing.pairs,
        settled=showing.settled_pairs,
        explored=showing.explored,
        cost=showing.cost,
    )
    return Draft(ranked, impression)


def _check_distinct(name: str, values: Sequence[object]) -> None:
    if len(set(values)) != len(values):
        twice = next(value for value in values if values.count(value) > 1)
        raise RequestError(f"every {name} must be there once, found {twice!r} twice")
