"""The instruments: is it alive, do clicks arrive, does it learn."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from functools import partial
from typing import Annotated

import msgspec
from litestar import MediaType, Response, get
from litestar.exceptions import TooManyRequestsException
from litestar.params import FromQuery, QueryParameter
from litestar.response import Stream
from msgspec import Struct

from rankloop import __version__
from rankloop.service.health import Health
from rankloop.service.http.face import Face, GivenFace
from rankloop.service.http.guard import needs
from rankloop.service.insight import By, Diagnosis, Overview, by_steps, doctor
from rankloop.service.service import RankingService

ADMIN = [needs("admin")]
LOOK_EVERY = 0.25  # seconds between two looks of a stream
SPEAK_EVERY = 10.0  # seconds after which a stream says that nothing has changed
Minutes = Annotated[int, QueryParameter(ge=1, le=525_600, description="how far to look back")]


class Alive(Struct):
    """Whether the service is well."""

    ok: bool
    version: str


class Insight(Struct):
    """A stretch of time as a whole, and in steps; steps without a list are left out."""

    ranker: str
    total: Overview
    steps: list[Overview]


@get("/v1/health", summary="Is it well?")
async def health(face: GivenFace) -> Alive:
    """Whether everything keeps up; needs no key and says nothing else."""
    return Alive(face.service.health().ok, __version__)


@get("/v1/doctor", guards=ADMIN, summary="Do the clicks arrive?")
async def diagnosis(face: GivenFace, minutes: Minutes = 1440) -> Diagnosis:
    """What was made of recent events, and what is wrong with them if anything is."""
    job = partial(diagnose, face.service, minutes)
    return await face.asking.run(job, seconds=face.settings.patience)


@get("/v1/overview", guards=ADMIN, summary="Does it learn, and what does it cost?")
async def insight(
    face: GivenFace,
    ranker: FromQuery[str] = "default",
    minutes: Minutes = 1440,
    steps: Annotated[int, QueryParameter(ge=1, le=1000)] = 50,
    by: Annotated[By, QueryParameter(description="steps of equal time, or of equally many lists")] = "time",
) -> Insight:
    """Clicks, certainty, exploration and fallbacks of a stretch of time."""
    job = partial(look, face.service, ranker, minutes=minutes, steps=steps, by=by)
    return await face.asking.run(job, seconds=face.settings.patience)


def diagnose(service: RankingService, minutes: int) -> Diagnosis:
    """Whether the clicks of the last minutes arrived."""
    since, until = _stretch(minutes)
    return doctor(service.store, since=since, until=until)


def look(service: RankingService, ranker: str, *, minutes: int, steps: int, by: By) -> Insight:
    """What happened in the last minutes."""
    store, name = service.store, service.ranker(ranker).name
    since, until = _stretch(minutes)
    return Insight(name, *by_steps(store, name, since=since, until=until, steps=steps, by=by))


@get("/metrics", guards=[needs("rank")], media_type=MediaType.TEXT, summary="Numbers for Prometheus")
async def metrics(face: GivenFace) -> Response[bytes]:
    """In Prometheus' text format."""
    return Response(face.metrics.text(), media_type="text/plain; version=0.0.4; charset=utf-8")


@get("/v1/stream", guards=ADMIN, media_type="text/event-stream", summary="The counters, as they change")
async def stream(face: GivenFace) -> Stream:
    """Server-sent events: the rankers' numbers, whenever one changes, and now and then."""
    if face.streams >= face.settings.streams:
        raise TooManyRequestsException(f"at most {face.settings.streams} streams can be open: close one")
    return Stream(_changes(face), media_type="text/event-stream")


async def _changes(face: Face) -> AsyncIterator[bytes]:
    face.streams += 1
    said, at = b"", 0.0
    try:
        while not face.stopping.is_set():
            now = _spoken(face.service.health())
            if now != said or time.monotonic() - at > SPEAK_EVERY:
                said, at = now, time.monotonic()
                yield b"event: state\ndata: " + said + b"\n\n"
            await asyncio.sleep(LOOK_EVERY)
    finally:
        face.streams -= 1


def _spoken(state: Health) -> bytes:
    return msgspec.json.encode({"ok": state.ok, "error": state.error, "rankers": state.rankers})


def _stretch(minutes: int) -> tuple[float, float]:
    now = time.time()
    return now - 60 * minutes, now + 1
