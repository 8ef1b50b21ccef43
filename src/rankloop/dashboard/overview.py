"""Overview page: is it learning, what does that cost, and the two levers."""

from __future__ import annotations

from functools import partial
from typing import Annotated

from litestar import Response, get, post
from litestar.params import FromQuery, QueryParameter
from litestar.response import Redirect

from rankloop.dashboard.access import AnyRequest, own_site, signed_form
from rankloop.dashboard.charts import charts
from rankloop.dashboard.pages import InjectedPages
from rankloop.dashboard.trial import trial_card
from rankloop.service import RankingService, RequestError
from rankloop.service.http.context import AppContext, InjectedContext
from rankloop.service.http.routes.monitoring import Minutes, look
from rankloop.service.operations.traffic import By
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
    pages: InjectedPages,
    context: InjectedContext,
    ranker: FromQuery[str] = "",
    minutes: Minutes = 1440,
    by: FromQuery[By] = "lists",
    done: Annotated[str, QueryParameter(max_length=20)] = "",
) -> Response[str]:
    """Numbers, charts, mode, versions."""
    service = context.service
    name = ranker or first_ranker(service)
    if not name:
        return pages.show(request, "overview.html", section="/overview", ranker="", done="")
    seen = await context.ask(partial(look, service, name, minutes=minutes, steps=STEPS, by=by))
    versions = await context.ask(partial(service.versions, name))
    drawn = list(charts(seen.steps, by))
    trial = trial_card(await context.ask(partial(service.trial, name)))
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
        charts=bool(drawn) or (trial is not None and trial.spec is not None),
        trial=trial,
        versions=versions[::-1][:VERSIONS],
        modes=MEANINGS,
        minutes=minutes,
        stretches=STRETCHES,
        by=by,
        done=DONE.get(done, ""),
    )


@post("/overview/mode", guards=[own_site])
async def set_mode(request: AnyRequest, pages: InjectedPages, context: InjectedContext) -> Redirect:
    """Step up or down."""
    form = await signed_form(request, pages.sessions)
    mode = str(form.get("mode", ""))
    if mode not in MODES:
        raise RequestError(f"no mode is called {mode!r}")
    ranker = _named(context, form.get("ranker"))
    job = partial(context.service.set_mode, ranker, mode, reason="by hand, on the overview page")
    await context.ask(job)
    return _back(ranker, "mode")


@post("/overview/rollback", guards=[own_site])
async def rollback(request: AnyRequest, pages: InjectedPages, context: InjectedContext) -> Redirect:
    """Go back to an earlier version."""
    form = await signed_form(request, pages.sessions)
    version = str(form.get("to", ""))
    if not (version.isascii() and version.isdigit()) or len(version) > 18:
        raise RequestError(f"a version is a number, found {version[:20]!r}")
    ranker = _named(context, form.get("ranker"))
    await context.ask(partial(context.service.rollback, ranker, to=int(version)))
    return _back(ranker, "rollback")


def first_ranker(service: RankingService) -> str:
    """The ranker to begin with, if there is one."""
    names = service.rankers()
    return "default" if "default" in names else names[0] if names else ""


def _named(context: AppContext, name: object) -> str:
    return context.service.ranker(str(name)).name


def _back(ranker: str, done: str) -> Redirect:
    return Redirect("/overview", status_code=303, query_params={"ranker": ranker, "done": done})
