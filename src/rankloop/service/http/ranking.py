"""The two routes that matter: a list, and what users did with it."""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import cast

from litestar import MediaType, Response, post
from litestar.params import JSONBody, SkipValidation
from msgspec import Struct

from rankloop.service.answer import RankedList
from rankloop.service.events import Receipt
from rankloop.service.features import RequestError
from rankloop.service.http.asked import Asked
from rankloop.service.http.bodies import EventsBody, RankBody
from rankloop.service.http.errors import AnyRequest
from rankloop.service.http.face import Face
from rankloop.service.http.fallback import own_order
from rankloop.service.http.guard import asks_first
from rankloop.service.http.workers import Busy
from rankloop.service.ranker import View
from rankloop.service.request import Draft
from rankloop.store import StoreError, write

PATH = "/v1/rank"


class Receipts(Struct):
    """A receipt for each event, in the order they came; all of them are durable."""

    receipts: list[Receipt]


@post(PATH, status_code=200, before_request=asks_first("rank"), summary="Rank candidates")
async def rank(data: JSONBody[SkipValidation[RankBody]], request: AnyRequest) -> Response[RankedList]:
    """A ranked list and the query_id under which its events are to be sent.

    If it cannot be made in time, it is the caller's own order, and `decision.fallback` says why.
    """
    answer = await ranked(request.app.state.face, cast(Asked, data))
    return Response(answer, media_type=MediaType.JSON)  # type: ignore[arg-type]


@post("/v1/events", status_code=200, before_request=asks_first("page"), summary="Report what users did")
async def events(data: JSONBody[EventsBody], request: AnyRequest) -> Receipts:
    """A verdict for each event, given when all of them are durable.

    Late, repeated and unknown events are welcome. If there is no answer, send the same again with the same
    event ids: nothing is counted twice.
    """
    face: Face = request.app.state.face
    patience = face.settings.patience
    entered = await face.recording.run(partial(face.service.enter, data.events), seconds=patience)
    learn = partial(face.service.learn, {ranker for ranker, _ in entered})
    if face.service.learns_by_itself:
        learn()  # only wakes a thread
    else:
        await face.asking.run(learn, seconds=patience)
    receipts = [receipt for _, receipt in entered]
    for verdict, count in Counter(each.verdict for each in receipts).items():
        face.metrics.events.labels(verdict).inc(count)
    return Receipts(receipts)


async def ranked(face: Face, asked: Asked) -> bytes:
    """The answer to a request, as it is logged."""
    found = await _ranked(face, asked)
    made = found.decision
    face.metrics.shown(made.ranker, made.mode)
    if made.fallback:
        face.metrics.fallbacks.labels(made.ranker, _kind(made.fallback)).inc()
    return found.to_bytes()


async def _ranked(face: Face, asked: Asked) -> RankedList:
    """The service's list, or the caller's own order if there is none in time.

    Only the list that is given back is written down: one that comes too late is dropped.
    """
    view = face.service.ranker(asked.head.ranker).view
    try:
        made = await _made(face, asked, view)
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
    else:
        face.service.publish(made)
        return made.ranked
    made = own_order(asked, view, reason)
    _note(face, made)
    return made.ranked


async def _made(face: Face, asked: Asked, view: View) -> Draft:
    head, table, pace = asked.head, asked.table, face.pace
    job = partial(
        face.service.prepare,
        table,
        ranker=head.ranker,
        k=head.k,
        user_query=head.user_query,
        client_id=head.client_id,
        session_id=head.session_id,
    )
    kind = pace.kind(head.ranker, view, table)
    if pace.quick(kind, view, table):
        return pace.timed(kind, job)
    return await face.ranking.run(partial(pace.timed, kind, job), seconds=face.settings.deadline)


def _note(face: Face, made: Draft) -> None:
    """Have a fallback written down, without waiting for it: perhaps it is the store that is in trouble."""

    def job() -> None:
        try:
            write(face.service.store, lambda transaction: transaction.append(made.impression))
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
