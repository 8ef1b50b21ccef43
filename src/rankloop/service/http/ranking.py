"""The two routes that matter: a list, and what users did with it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial

from litestar import MediaType, Response, post
from litestar.params import JSONBody
from msgspec import Struct

from rankloop.service.answer import RankedList
from rankloop.service.events import Receipt
from rankloop.service.features import Candidate, RequestError
from rankloop.service.http.bodies import EventsBody, RankBody
from rankloop.service.http.face import Face, GivenFace
from rankloop.service.http.fallback import enter, own_order
from rankloop.service.http.guard import needs
from rankloop.service.http.workers import Busy
from rankloop.store import Impression, StoreError, write


class Receipts(Struct):
    """A receipt for each event, in the order they came; all of them are durable."""

    receipts: list[Receipt]


@post("/v1/rank", status_code=200, guards=[needs("rank")], summary="Rank candidates")
async def rank(data: JSONBody[RankBody], face: GivenFace) -> Response[RankedList]:
    """A ranked list and the query_id under which its events are to be sent.

    If it cannot be made in time, it is the caller's own order, and `decision.fallback` says why.
    """
    candidates = data.wanted()
    ranked = await _ranked(face, data, candidates)
    face.metrics.lists.labels(data.ranker, ranked.decision.mode).inc()
    if ranked.decision.fallback:
        face.metrics.fallbacks.labels(data.ranker, _kind(ranked.decision.fallback)).inc()
    return Response(ranked.to_bytes(), media_type=MediaType.JSON)  # type: ignore[arg-type]  # as it was logged


@post("/v1/events", status_code=200, guards=[needs("page")], summary="Report what users did")
async def events(data: JSONBody[EventsBody], face: GivenFace) -> Receipts:
    """A verdict for each event, given when all of them are durable.

    Late, repeated and unknown events are welcome. If there is no answer, send the same again with the same
    event ids: nothing is counted twice.
    """
    job = partial(face.service.record, data.events)
    receipts = await face.recording.run(job, seconds=face.settings.patience)
    for verdict, count in Counter(each.verdict for each in receipts).items():
        face.metrics.events.labels(verdict).inc(count)
    return Receipts(receipts)


async def _ranked(face: Face, body: RankBody, candidates: Sequence[Candidate]) -> RankedList:
    """The service's list, or the caller's own order if there is none in time."""
    job = partial(
        face.service.rank,
        candidates,
        ranker=body.ranker,
        k=body.k,
        user_query=body.user_query,
        client_id=body.client_id,
        session_id=body.session_id,
    )
    try:
        return await face.ranking.run(job, seconds=face.settings.deadline)
    except RequestError:
        raise
    except TimeoutError:
        reason = f"deadline: no list within {face.settings.deadline * 1000:g} ms"
    except Busy:
        reason = "busy: too many lists at once"
    except StoreError:
        reason = "store: it cannot be written"
    except Exception as error:  # whatever it is, the caller gets a list
        reason = f"{type(error).__name__}: the list could not be made"
    ranked, shown = own_order(body, candidates, face.service.ranker(body.ranker).view, reason)
    _note(face, shown)
    return ranked


def _note(face: Face, shown: Impression) -> None:
    """Have a fallback written down, without waiting for it."""

    def job() -> None:
        try:
            write(face.service.store, partial(enter, shown=shown))
        except StoreError:
            face.metrics.unlogged.inc()

    try:
        face.noting.start(job)
    except Busy:
        face.metrics.unlogged.inc()


def _kind(reason: str) -> str:
    """The first word, of those we know: a label must not take any value.

    >>> _kind("deadline: no list within 100 ms"), _kind("ValueError: no")
    ('deadline', 'error')
    """
    word = reason.partition(":")[0]
    return word if word in ("deadline", "busy", "store") else "error"
