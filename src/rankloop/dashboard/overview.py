"""The overview: is it learning, what does that cost, and the two levers."""

from __future__ import annotations

from functools import partial
from typing import Annotated

from litestar import Response, get, post
from litestar.params import FromQuery, QueryParameter
from litestar.response import Redirect

from rankloop.dashboard.access import AnyRequest, own_site, signed_form
from rankloop.dashboard.charts import charts
from rankloop.dashboard.pages import GivenPages, ask
from rankloop.service import RankingService, RequestError
from rankloop.service.http.face import Face, GivenFace
from rankloop.service.http.watching import Minutes, look
from rankloop.service.insight import By
from rankloop.service.settings import MODES

STRETCHES = {60: "hour", 1440: "day", 10_080: "week", 525_600: "year"}  # minutes
STEPS = 40
VERSIONS = 6  # shown
MEANINGS = {
    "explore": "shows what it is sure of in order, and tries out the rest; learns",
    "exploit": "shows the best by score, tries out nothing; learns",
    "frozen": "shows the best by score; learns nothing more",
    "passthrough": "shows your own order: off",
    "shadow": "shows your own order, and learns from it",
}
DONE = {
    "mode": "The mode is changed, and in force.",
    "rollback": "It is back at that version; nothing was deleted.",
}


@get("/overview")
async def overview(
    request: AnyRequest,
    pages: GivenPages,
    face: GivenFace,
    ranker: FromQuery[str] = "",
    minutes: Minutes = 1440,
    by: FromQuery[By] = "lists",
    done: Annotated[str, QueryParameter(max_length=20)] = "",
) -> Response[str]:
    """Numbers, charts, mode, versions."""
    service = face.service
    name = ranker or first_ranker(service)
    if not name:
        return pages.show(request, "overview.html", section="/overview", ranker="", done="")
    seen = await ask(face, partial(look, service, name, minutes=minutes, steps=STEPS, by=by))
    versions = await ask(face, partial(service.versions, name))
    drawn = list(charts(seen.steps, by))
    return pages.show(
        request,
        "overview.html",
        section="/overview",
        ranker=name,
        rankers=service.rankers(),
        health=service.health().rankers[name],
        total=seen.total,
        steps=seen.steps,
        drawn=drawn,
        charts=bool(drawn),
        versions=versions[::-1][:VERSIONS],
        modes=MEANINGS,
        minutes=minutes,
        stretches=STRETCHES,
        by=by,
        done=DONE.get(done, ""),
    )


@post("/overview/mode", guards=[own_site])
async def set_mode(request: AnyRequest, pages: GivenPages, face: GivenFace) -> Redirect:
    """Step up or down."""
    form = await signed_form(request, pages.sessions)
    mode = str(form.get("mode", ""))
    if mode not in MODES:
        raise RequestError(f"no mode is called {mode!r}")
    ranker = _named(face, form.get("ranker"))
    await ask(face, partial(face.service.set_mode, ranker, mode, reason="by hand, on the overview page"))
    return _back(ranker, "mode")


@post("/overview/rollback", guards=[own_site])
async def rollback(request: AnyRequest, pages: GivenPages, face: GivenFace) -> Redirect:
    """Go back to an earlier version."""
    form = await signed_form(request, pages.sessions)
    version = str(form.get("to", ""))
    if not (version.isascii() and version.isdigit()) or len(version) > 18:
        raise RequestError(f"a version is a number, found {version[:20]!r}")
    ranker = _named(face, form.get("ranker"))
    await ask(face, partial(face.service.rollback, ranker, to=int(version)))
    return _back(ranker, "rollback")


def first_ranker(service: RankingService) -> str:
    """The ranker to begin with, if there is one."""
    names = service.rankers()
    return "default" if "default" in names else names[0] if names else ""


def _named(face: Face, name: object) -> str:
    return face.service.ranker(str(name)).name


def _back(ranker: str, done: str) -> Redirect:
    return Redirect("/overview", status_code=303, query_params={"ranker": ranker, "done": done})
