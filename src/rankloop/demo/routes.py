"""Search page of the demo, and what its buttons do."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from importlib.resources import files
from typing import Annotated, Any

from litestar import Response, Router, get, post
from litestar.datastructures import Cookie
from litestar.di import NamedDependency, Provide
from litestar.params import QueryParameter, SkipValidation
from litestar.response import Redirect

from rankloop.charts import PALETTE
from rankloop.dashboard import Pages, page_routes
from rankloop.dashboard.access import AnyRequest, own_site
from rankloop.dashboard.charts import Chart, Line, line_chart
from rankloop.dashboard.pages import InjectedPages
from rankloop.dashboard.routes import routed
from rankloop.demo.crowd import Visit
from rankloop.demo.demo import Demo, Found
from rankloop.demo.taste import TASTES
from rankloop.demo.visitor import COOKIE, Clicked, Visitor, Visitors
from rankloop.service import Result
from rankloop.service.http.context import InjectedContext

SCRIPT = files("rankloop.demo").joinpath("demo.js").read_bytes()
EXAMPLES = ("json parser", "read csv file", "thread pool", "sort a list", "http request", "parse date")
VISITORS = 500
FEWEST = 20  # visits in a point of the curve
FIT = Line(
    "fit",
    "Do the lists fit their taste?",
    "nDCG of the lists they saw, by the taste nobody told.",
    PALETTE[0],
)


@dataclass(frozen=True, slots=True)
class Row:
    """A result on the page."""

    result: Result
    kind: str
    summary: str
    doc: str
    went: int | None  # up; None: it is new in the list
    rival: str  # the neighbour to compare it with


@dataclass(frozen=True, eq=False)
class DemoSite:
    """The demo and those who look at it."""

    demo: Demo
    visitors: Visitors


InjectedSite = NamedDependency[SkipValidation[DemoSite]]


def demo_routes(demo: Demo) -> list[Router]:
    """The search page, and the service's pages, which everyone may look at."""
    pages = Pages(public=True, home="Search", packages=("rankloop.demo",))
    site = DemoSite(demo, Visitors())
    mine = routed(pages, [search, click, invite, progress, start_over, script])
    mine.dependencies["site"] = Provide(lambda: site, sync_to_thread=False)
    return [*page_routes(pages, start=False), mine]


@get("/")
async def search(
    request: AnyRequest,
    pages: InjectedPages,
    context: InjectedContext,
    site: InjectedSite,
    q: Annotated[str, QueryParameter(max_length=200)] = "",
    opened: Annotated[str, QueryParameter(max_length=200)] = "",
) -> Response[str]:
    """The box, the list, and what was learned."""
    demo, visitor = site.demo, _visitor(request, site)
    text = q.strip()
    found = await context.ask(partial(demo.search, text, visitor=visitor.name)) if text else None
    clicked = visitor.clicked if visitor.clicked and visitor.clicked.object_id == opened else None
    curve = fit_curve(list(demo.visits))
    shown = pages.show(
        request,
        "search.html",
        section="/",
        q=text,
        found=found,
        rows=rows(found, visitor.moves(text, found.response)) if found else [],
        opened=opened,
        clicked=clicked,
        progress=demo.progress,
        visits=len(demo.visits),
        tastes={name: taste.title for name, taste in TASTES.items()},
        taste=demo.taste,
        visitors=VISITORS,
        lists=demo.model.lists,
        size=len(demo.corpus),
        examples=EXAMPLES,
        curve=curve,
        charts=curve is not None,
    )
    shown.set_cookie(_cookie(visitor))
    return shown


@post("/click", guards=[own_site])
async def click(request: AnyRequest, context: InjectedContext, site: InjectedSite) -> Redirect:
    """A click on a result: it is learned from before the list comes back."""
    form, visitor = await request.form(), _visitor(request, site)
    query_id, name = str(form.get("query_id", "")), str(form.get("object_id", ""))
    lesson = await context.ask(partial(site.demo.click, query_id, name, visitor=visitor.name))
    position = site.demo.service.audit(query_id).impression.shown.index(name) + 1
    visitor.clicked = Clicked(name, position, lesson)
    return Redirect("/", status_code=303, query_params={"q": str(form.get("q", "")), "opened": name})


@post("/crowd", guards=[own_site])
async def invite(request: AnyRequest, site: InjectedSite) -> Redirect:
    """Send for visitors."""
    form = await request.form()
    site.demo.invite(VISITORS, str(form.get("taste", "")))
    return _to_search(form.get("q"))


@get("/crowd")
async def progress(site: InjectedSite) -> dict[str, Any]:
    """How far they are."""
    now = site.demo.progress
    return {"wanted": now.wanted, "done": now.done, "running": now.running}


@post("/start-over", guards=[own_site])
async def start_over(request: AnyRequest, context: InjectedContext, site: InjectedSite) -> Redirect:
    """Know nothing again."""
    form = await request.form()
    await context.ask(site.demo.start_over)
    return _to_search(form.get("q"))


@get("/assets/demo.js")
async def script() -> Response[bytes]:
    """Shows how far the visitors are; the page works without it."""
    return Response(SCRIPT, media_type="text/javascript; charset=utf-8")


def rows(found: Found, went: dict[str, int | None]) -> list[Row]:
    """The results as they are shown."""
    names = found.response.object_ids
    return [
        Row(
            result=result,
            kind=hit.entry.kind,
            summary=hit.entry.summary,
            doc=hit.entry.doc,
            went=went[result.object_id],
            rival=_rival(names, number),
        )
        for number, (result, hit) in enumerate(found)
    ]


def fit_curve(visits: Sequence[Visit], points: int = 30) -> Chart | None:
    """How well lists fitted the taste, over visits; None: too few to tell."""
    size = max(-(-len(visits) // points), FEWEST)
    parts = [visits[start : start + size] for start in range(0, len(visits), size)]
    full = [part for part in parts if len(part) == size]
    if len(full) < 2:
        return None
    values = [
        {"x": number * size, "y": statistics.fmean(visit.fit for visit in part), "lists": size}
        for number, part in enumerate(full, start=1)
    ]
    return Chart(FIT, line_chart(values, FIT, "lists"))


def _rival(names: Sequence[str], number: int) -> str:
    """The result below; of the last one, the result above."""
    other = number + 1 if number + 1 < len(names) else number - 1
    return names[other] if len(names) > 1 else ""


def _visitor(request: AnyRequest, site: DemoSite) -> Visitor:
    return site.visitors.of(request.cookies.get(COOKIE))


def _cookie(visitor: Visitor) -> Cookie:
    return Cookie(key=COOKIE, value=visitor.name, path="/", httponly=True, samesite="strict")


def _to_search(text: object) -> Redirect:
    words = str(text or "")[:200]
    return Redirect("/", status_code=303, query_params={"q": words} if words else {})
