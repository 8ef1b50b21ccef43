"""The past: why a list looked as it did, the list itself, and going back."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any

import msgspec
from litestar import get, post
from litestar.params import FromPath, FromQuery, JSONBody, QueryParameter
from msgspec import Struct

from rankloop.service.audit import Audit
from rankloop.service.certainty import CertaintyPicture
from rankloop.service.explain import Explanation
from rankloop.service.http.bodies import ForgetBody, RollbackBody
from rankloop.service.http.face import Face, GivenFace
from rankloop.service.http.guard import needs
from rankloop.store import Event, Impression

ADMIN = [needs("admin")]


class Why(Struct):
    """Why one result stood above another."""

    sentence: str
    explanation: Explanation


class PastList(Struct):
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
    candidates: list[dict[str, Any]]  # as they came, with their features by name
    evidence: dict[str, Any]  # what the policy needs to learn from it
    digest: str  # BLAKE2b-128 of the body that was sent
    events: list[Event]


class ListLine(Struct):
    """A past list in a line."""

    query_id: str
    at: float
    user_query: str
    model: int
    mode: str
    shown: int  # results
    pairs: int
    settled: int | None  # of the pairs; None: the policy could not tell
    explored: int  # of the pairs, shown against the scores
    fallback: str | None


class Again(Struct):
    """A list made again; `identical`: byte for byte what was sent."""

    identical: bool
    ranked: msgspec.Raw


class Version(Struct):
    """A version to which a rollback is quick; it can go to any other as well."""

    version: int
    at: float


class Models(Struct):
    """The model in use, and the past ones that are kept whole."""

    ranker: str
    version: int
    policy: str
    lists: int
    features: list[str]
    snapshots: list[Version]


class Changed(Struct):
    """The version after a change."""

    ranker: str
    version: int


@get("/v1/explain/{query_id:str}", guards=ADMIN, summary="Why one result stood above another")
async def explain(
    query_id: FromPath[str],
    face: GivenFace,
    a: Annotated[str, QueryParameter(description="an object_id of the list")],
    b: Annotated[str, QueryParameter(description="another one")],
) -> Why:
    """What the model of that time thought of two results: gap, width, settled or explored, by feature."""
    found = await _ask(face, partial(face.service.explain, query_id, a, b))
    return Why(found.sentence, found)


@get("/v1/certainty/{query_id:str}", guards=ADMIN, summary="What was settled in a past list")
async def certainty(query_id: FromPath[str], face: GivenFace) -> CertaintyPicture:
    """Which pairs of results were in a certain order, which were open, and the blocks they make."""
    found: CertaintyPicture = await _ask(face, partial(face.service.certainty, query_id))
    return found


@get("/v1/lists", guards=ADMIN, summary="The lists shown last")
async def lists(
    face: GivenFace,
    ranker: FromQuery[str] = "default",
    last: Annotated[int, QueryParameter(ge=1, le=100)] = 20,
) -> list[ListLine]:
    """A line for each, the newest first."""
    return [line_of(each) for each in await _ask(face, partial(face.service.lists, ranker, last=last))]


@get("/v1/audit/{query_id:str}", guards=ADMIN, summary="Everything about a past list")
async def audit(query_id: FromPath[str], face: GivenFace) -> PastList:
    """What was shown, on what grounds, and what users did with it."""
    found = await _ask(face, partial(face.service.audit, query_id))
    return _told(found, face.service.schema(found.impression.ranker))


@post("/v1/audit/{query_id:str}/replay", status_code=200, guards=ADMIN, summary="Make a past list again")
async def replay(query_id: FromPath[str], face: GivenFace) -> Again:
    """The list, made again from its inputs, the model and the settings of its time."""
    again = await _ask(face, partial(face.service.replay, query_id))
    return Again(again.identical, msgspec.Raw(again.ranked.to_bytes()))


@get("/v1/models", guards=ADMIN, summary="The model in use and past ones")
async def models(face: GivenFace, ranker: FromQuery[str] = "default") -> Models:
    """What there is to go back to."""
    model = face.service.model(ranker)
    versions = await _ask(face, partial(face.service.versions, ranker))
    return Models(
        ranker=ranker,
        version=model.version,
        policy=model.policy.name,
        lists=model.lists,
        features=face.service.schema(ranker),
        snapshots=[Version(seq, at) for seq, at in versions],
    )


@post("/v1/rollback", status_code=200, guards=ADMIN, summary="Go back to an earlier model")
async def rollback(data: JSONBody[RollbackBody], face: GivenFace) -> Changed:
    """Go back to a version, or to that of a moment; nothing is deleted, so it can be undone."""
    job = partial(face.service.rollback, data.ranker, to=data.to, moment=data.moment)
    return Changed(data.ranker, await _ask(face, job))


@post("/v1/forget", status_code=200, guards=ADMIN, summary="Learn as if events had never been")
async def forget(data: JSONBody[ForgetBody], face: GivenFace) -> Changed:
    """Learn the whole log again without these events."""
    job = partial(face.service.forget, data.ranker, data.event_ids)
    return Changed(data.ranker, await _ask(face, job))


async def _ask(face: Face, job: Any) -> Any:
    return await face.asking.run(job, seconds=face.settings.patience)


def line_of(shown: Impression) -> ListLine:
    """A list in a line."""
    return ListLine(
        query_id=shown.query_id,
        at=shown.at,
        user_query=shown.user_query,
        model=shown.model,
        mode=shown.mode,
        shown=len(shown.order),
        pairs=shown.pairs,
        settled=shown.settled,
        explored=shown.explored,
        fallback=shown.fallback or None,
    )


def _told(found: Audit, names: list[str]) -> PastList:
    shown = found.impression
    features = [
        {name: value for name, value in zip(names, row, strict=False) if value == value}  # noqa: PLR0124  # NaN: missing
        for row in shown.features.tolist()
    ]
    groups = shown.groups or [""] * len(features)
    pins = shown.pinned_at.tolist()
    return PastList(
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
        candidates=[
            {"object_id": name, "features": row, "pinned_at": pin or None, "group": group or None}
            for name, row, pin, group in zip(shown.object_ids, features, pins, groups, strict=True)
        ],
        evidence={name: value.tolist() for name, value in shown.evidence.items()},
        digest=shown.digest.hex(),
        events=list(found.events),
    )
