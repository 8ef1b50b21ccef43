"""Audit routes: past lists, why they looked as they did, and making them again."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any

import msgspec
from litestar import get, post
from litestar.params import FromPath, FromQuery, QueryParameter
from msgspec import Struct

from rankloop.service.core.lists.replay import Audit
from rankloop.service.http.app_context import InjectedContext
from rankloop.service.http.route_decorators import needs
from rankloop.service.reports.pair_explanation import Explanation
from rankloop.service.reports.settled_pairs import SettledPairs
from rankloop.service.store import Event, ListFilter, ListSummary

ADMIN = [needs("admin")]


class Why(Struct):
    """Why one result stood above another."""

    sentence: str
    explanation: Explanation


class ImportedList(Struct):
    """A list as it was shown, what it was made from, and what users did with it."""

    query_id: str
    at: float
    ranker: str
    user_query: str
    client_id: str
    session_id: str
    model: int
    settings: int
    policy: str
    mode: str
    seed: int
    k: int
    fallback: str | None
    teaches: bool
    shown: list[str]
    titles: list[str]  # of what was shown; empty: nobody said any
    candidates: list[dict[str, Any]]  # as they came, with their features by name
    context: dict[str, Any] | None  # of who asked: user, and features by name
    evidence: dict[str, Any]  # what the policy needs to learn from it
    digest: str  # BLAKE2b-128 of the body that was sent
    exposure: dict[str, Any] | None  # millionths of a look, by group; None: nobody counted it
    recommended: dict[str, Any] | None  # from what a recommender chose the candidates; None: they were sent
    assignment: dict[str, Any] | None  # to an arm of a trial, with the owners of an interleaved list
    events: list[Event]


class ListLine(Struct):
    """A past list in a line."""

    query_id: str
    at: float
    user_query: str
    model: int
    mode: str
    seq: int  # its number in the log: the `before` of the next page
    shown: int  # results
    clicked: int  # of them, how many were
    first_click: int | None  # the position of the highest of these
    first_clicked: str | None  # its object_id
    first_title: str | None  # what the caller calls it, if anything
    pairs: int
    settled: int | None  # of the pairs; None: the policy could not tell
    explored: int  # of the pairs, shown against the scores
    turned: int | None  # pairs that were turned for fair exposure; None: it was not counted
    within: bool | None  # every group's account within its tolerance; None: it was not held to any
    fallback: str | None


class Again(Struct, omit_defaults=True):
    """A list made again; `identical`: byte for byte what was sent."""

    identical: bool
    response: msgspec.Raw
    exposure: dict[str, Any] | None = None  # what it gave to each group, if that was counted


@get("/v1/explain/{query_id:str}", guards=ADMIN, summary="Why one result stood above another")
async def explain(
    query_id: FromPath[str],
    context: InjectedContext,
    a: Annotated[str, QueryParameter(description="an object_id of the list")],
    b: Annotated[str, QueryParameter(description="another one")],
) -> Why:
    """What the model of that time thought of two results: gap, width, settled or explored, by feature."""
    found = await context.ask(partial(context.service.explain, query_id, a, b))
    return Why(found.sentence, found)


@get("/v1/settled/{query_id:str}", guards=ADMIN, summary="What was settled in a past list")
async def settled(query_id: FromPath[str], context: InjectedContext) -> SettledPairs:
    """Which pairs of results were in a certain order, which were open, and the blocks they make."""
    return await context.ask(partial(context.service.settled, query_id))


@get("/v1/lists", guards=ADMIN, summary="The lists shown last")
async def lists(
    context: InjectedContext,
    ranker: FromQuery[str] = "default",
    last: Annotated[int, QueryParameter(ge=1, le=100)] = 20,
    text: Annotated[str, QueryParameter(max_length=200, description="a part of the query")] = "",
    clicked: Annotated[bool | None, QueryParameter(description="with a click, or without one")] = None,
    mode: Annotated[str, QueryParameter(max_length=20, description="of the ranker, at that time")] = "",
    before: Annotated[int | None, QueryParameter(ge=1, description="only older ones: the last seq")] = None,
) -> list[ListLine]:
    """A line for each, the newest first; of the newest 100,000 lists before an entry."""
    wanted = ListFilter(text=text, clicked=clicked, mode=mode, before=before)
    found = await context.ask(partial(context.service.find_lists, ranker, wanted, last=last))
    return [line_of(each) for each in found]


@get("/v1/audit/{query_id:str}", guards=ADMIN, summary="Everything about a past list")
async def audit(query_id: FromPath[str], context: InjectedContext) -> ImportedList:
    """What was shown, on what grounds, and what users did with it."""
    service = context.service
    found = await context.ask(partial(service.audit, query_id))
    ranker = found.impression.ranker
    return _told(found, service.columns(ranker), service.context_schema(ranker))


@post("/v1/audit/{query_id:str}/replay", status_code=200, guards=ADMIN, summary="Make a past list again")
async def replay(query_id: FromPath[str], context: InjectedContext) -> Again:
    """The list, made again from its inputs, the model and the settings of its time."""
    again = await context.ask(partial(context.service.replay, query_id))
    return Again(again.identical, msgspec.Raw(again.body), _as_json(again.exposure))


def line_of(shown: ListSummary) -> ListLine:
    """A list in a line."""
    first, fair = shown.first_click, shown.parts.get("fair")
    return ListLine(
        query_id=shown.query_id,
        at=shown.at,
        user_query=shown.user_query,
        model=shown.model,
        mode=shown.mode,
        seq=shown.seq,
        shown=len(shown.shown),
        clicked=shown.clicked,
        first_click=first,
        first_clicked=shown.shown[first - 1] if first else None,
        first_title=(shown.titles[first - 1] or None) if first and shown.titles else None,
        pairs=shown.pairs,
        settled=shown.settled,
        explored=shown.explored,
        turned=fair.turned if fair else None,
        within=fair.within if fair else None,
        fallback=shown.fallback or None,
    )


def _as_json(part: Any) -> dict[str, Any] | None:
    """The fields of a part by their names."""
    return None if part is None else msgspec.structs.asdict(part)


def _told(found: Audit, names: list[str], of_context: list[str]) -> ImportedList:
    shown = found.impression
    known = dict(zip(of_context, shown.context.tolist(), strict=False))
    asker = {"user": shown.user, "features": {name: x for name, x in known.items() if x == x}}  # noqa: PLR0124
    features = [
        {name: value for name, value in zip(names, row, strict=False) if value == value}  # noqa: PLR0124  # NaN: missing
        for row in shown.features.tolist()
    ]
    groups = shown.groups or [""] * len(features)
    pins = shown.pinned_at.tolist()
    return ImportedList(
        query_id=shown.query_id,
        at=shown.at,
        ranker=shown.ranker,
        user_query=shown.user_query,
        client_id=shown.client_id,
        session_id=shown.session_id,
        model=shown.model,
        settings=shown.settings,
        policy=shown.policy,
        mode=shown.mode,
        seed=shown.seed,
        k=shown.k,
        fallback=shown.fallback or None,
        teaches=shown.teaches,
        shown=shown.shown,
        titles=list(shown.titles),
        candidates=[
            {"object_id": name, "features": row, "pinned_at": pin or None, "group": group or None}
            for name, row, pin, group in zip(shown.object_ids, features, pins, groups, strict=True)
        ],
        context=asker if shown.user or shown.context.size else None,
        evidence={name: value.tolist() for name, value in shown.evidence.items()},
        digest=shown.digest.hex(),
        exposure=_as_json(shown.parts.get("fair")),
        recommended=_as_json(shown.parts.get("recommend")),
        assignment=_as_json(shown.parts.get("trial")),
        events=list(found.events),
    )
