"""A request to rank: what may be asked, and how it is written down."""

from __future__ import annotations

from collections.abc import Sequence

from rankloop.service.answer import RankedList
from rankloop.service.features import Candidate, RequestError, check_text
from rankloop.service.settings import RankerSettings
from rankloop.service.show import Request, Showing
from rankloop.store import Impression

LONGEST_QUERY = 2000  # characters


def check_request(
    candidates: Sequence[Candidate],
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
    if not 1 <= len(candidates) <= rules.max_candidates:
        raise RequestError(f"expected 1 to {rules.max_candidates} candidates, found {len(candidates)}")
    for each in candidates:
        if not isinstance(each, Candidate):
            raise RequestError(f"candidates must be Candidate objects, found {repr(each)[:50]}")
    _check_distinct("object_id", [each.object_id for each in candidates])
    pins = [each.pinned_at for each in candidates if each.pinned_at]
    _check_distinct("pinned_at", pins)
    if pins and max(pins) > len(candidates):
        raise RequestError(f"pinned_at must be a place of 1 to {len(candidates)}, found {max(pins)}")


def impression(
    at: float,
    candidates: Sequence[Candidate],
    request: Request,
    showing: Showing,
    ranked: RankedList,
    *,
    user_query: str = "",
    client_id: str = "",
    session_id: str = "",
) -> Impression:
    """A list as it enters the log."""
    made, groups = ranked.decision, [each.group for each in candidates]
    return Impression(
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
        object_ids=[each.object_id for each in candidates],
        groups=groups if any(groups) else (),
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


def _check_distinct(name: str, values: Sequence[object]) -> None:
    if len(set(values)) != len(values):
        twice = next(value for value in values if values.count(value) > 1)
        raise RequestError(f"every {name} must be there once, found {twice!r} twice")
