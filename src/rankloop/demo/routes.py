"""Search page of the demo, and what its buttons do."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.resources import files
from typing import Annotated, Any, Literal, TypeAlias

from litestar import Response, Router, get, post
from litestar.datastructures import Cookie
from litestar.di import NamedDependency, Provide
from litestar.params import QueryParameter, SkipValidation
from litestar.response import Redirect

from rankloop.charts import PALETTE
from rankloop.dashboard import Pages, page_routes
from rankloop.dashboard.access import AnyRequest, own_site
from rankloop.dashboard.charts import Chart, Line, line_chart
from rankloop.dashboard.exposure import AccountBars, account_bars
from rankloop.dashboard.pages import InjectedPages
from rankloop.dashboard.routes import routed
from rankloop.demo.crowd import Visit
from rankloop.demo.demo import RANKER, THUMBS, Demo, Found
from rankloop.demo.sellers import FAIR, SELLERS, Seen, seller_of
from rankloop.demo.shop.routes import shop_routes
from rankloop.demo.shop.shop import CampingShop
from rankloop.demo.taste import TASTES
from rankloop.demo.visitor import COOKIE, Clicked, Rated, Visitor, Visitors
from rankloop.service import RequestError, Result
from rankloop.service.http.context import InjectedContext

By: TypeAlias = Literal["clicks", "thumbs"]
RANKERS: Mapping[By, str] = {"clicks": RANKER, "thumbs": THUMBS}
SCRIPT = files("rankloop.demo").joinpath("demo.js").read_bytes()
EXAMPLES = ("json parser", "read csv file", "thread pool", "sort a list", "http request", "parse date")
VISITORS = 500
FEWEST = 20  # visits in a point of the curve
COLOURS = dict(zip(SELLERS, PALETTE, strict=False))
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
    seller: str
    thumb: bool | None = None  # up or down


@dataclass(frozen=True, slots=True)
class Sellers:
    """Who is seen, and the account if exposure is shared."""

    fair: bool
    seen: Sequence[Seen]
    account: AccountBars | None
    tolerance: float

    @classmethod
    def of(cls, demo: Demo) -> Sellers:
        """As of now."""
        ahead = demo.ahead()
        bars = account_bars(ahead, FAIR.tolerance, COLOURS) if ahead else None
        return cls(demo.fair, demo.seen(), bars, FAIR.tolerance)


@dataclass(frozen=True, eq=False)
class DemoSite:
    """The demo and those who look at it."""

    demo: Demo
    visitors: Visitors


InjectedSite = NamedDependency[SkipValidation[DemoSite]]


def demo_routes(demo: Demo, shop: CampingShop | None = None) -> list[Router]:
    """The search page, perhaps a shop, and the service's pages, which everyone may look at."""
    more = (("/shop", "Shop"),) if shop else ()
    pages = Pages(public=True, home="Search", more=more, packages=("rankloop.demo",))
    site = DemoSite(demo, Visitors())
    shops = [shop_routes(pages, shop, site.visitors)] if shop else []
    mine = routed(pages, [search, click, thumb, learn, fair, invite, progress, start_over, script])
    mine.dependencies["site"] = Provide(lambda: site, sync_to_thread=False)
    return [*page_routes(pages, start=False), mine, *shops]


@get("/")
async def search(
    request: AnyRequest,
    pages: InjectedPages,
    context: InjectedContext,
    site: InjectedSite,
    q: Annotated[str, QueryParameter(max_length=200)] = "",
    opened: Annotated[str, QueryParameter(max_length=200)] = "",
    by: Annotated[By, QueryParameter(description="what the list is learned from")] = "clicks",
    rated: Annotated[str, QueryParameter(max_length=200, description="the list being rated")] = "",
) -> Response[str]:
    """The box, the list, and what was learned."""
    demo, visitor = site.demo, _visitor(request, site)
    by = "thumbs" if rated else by
    text, ranker = q.strip(), RANKERS[by]
    if rated:
        found: Found | None = await context.ask(partial(demo.same_list, rated))
    else:
        ask = partial(demo.search, text, visitor=visitor.name, ranker=ranker)
        found = await context.ask(ask) if text else None
    clicked = visitor.clicked if visitor.clicked and visitor.clicked.object_id == opened else None
    if by == "thumbs":
        clicked = None
    thumbs = await context.ask(partial(demo.thumbs, rated)) if rated else {}
    curve = fit_curve(list(demo.visits)) if by == "clicks" else None
    sellers = await context.ask(partial(Sellers.of, demo)) if found and by == "clicks" else None
    shown = pages.show(
        request,
        "search.html",
        section="/",
        q=text,
        found=found,
        rows=rows(found, visitor.moves(f"{by} {text}", found.response), thumbs) if found else [],
        by=by,
        rated=len(thumbs),
        taught=visitor.rated if by == "thumbs" and not rated else None,
        opened=opened,
        clicked=clicked,
        progress=demo.progress,
        visits=len(demo.visits),
        tastes={name: taste.title for name, taste in TASTES.items()},
        taste=demo.taste,
        visitors=VISITORS,
        lists=demo.service.model(ranker).lists,
        size=len(demo.corpus),
        examples=EXAMPLES,
        sellers=sellers,
        seller_colours=COLOURS,
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


@post("/thumb", guards=[own_site])
async def thumb(request: AnyRequest, context: InjectedContext, site: InjectedSite) -> Redirect:
    """A thumb up or down: it is kept, and the same list comes back."""
    form, visitor = await request.form(), _visitor(request, site)
    query_id, name, value = (str(form.get(each, "")) for each in ("query_id", "object_id", "value"))
    if value not in ("0", "1"):
        raise RequestError(f"a thumb is 1, up, or 0, down, found {value[:50]!r}")
    await context.ask(partial(site.demo.thumb, query_id, name, up=value == "1", visitor=visitor.name))
    return _to_search(form.get("q"), by="thumbs", rated=query_id)


@post("/learn", guards=[own_site])
async def learn(request: AnyRequest, context: InjectedContext, site: InjectedSite) -> Redirect:
    """Learn from the thumbs of a list; it comes back in its new order."""
    form, visitor = await request.form(), _visitor(request, site)
    query_id = str(form.get("query_id", ""))
    lesson = await context.ask(partial(site.demo.learn_thumbs, query_id))
    thumbs = site.demo.thumbs(query_id).values()
    visitor.rated = Rated(sum(thumbs), len(thumbs) - sum(thumbs), lesson) if thumbs else None
    return _to_search(form.get("q"), by="thumbs")


@post("/fair", guards=[own_site])
async def fair(request: AnyRequest, context: InjectedContext, site: InjectedSite) -> Redirect:
    """Share exposure between the sellers, or do not any more."""
    form = await request.form()
    wanted = str(form.get("fair", ""))
    if wanted not in ("on", "off"):
        raise RequestError(f"fair exposure is on or off, found {wanted[:50]!r}")
    await context.ask(partial(site.demo.share_exposure, wanted == "on"))
    return _to_search(form.get("q"))


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
    _visitor(request, site).rated = None
    return _to_search(form.get("q"), **({"by": "thumbs"} if form.get("by") == "thumbs" else {}))


@get("/assets/demo.js")
async def script() -> Response[bytes]:
    """Shows how far the visitors are, and sends thumbs; the page works without it."""
    return Response(SCRIPT, media_type="text/javascript; charset=utf-8")


def rows(found: Found, went: dict[str, int | None], thumbs: Mapping[str, bool]) -> list[Row]:
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
            seller=seller_of(hit.entry),
            thumb=thumbs.get(result.object_id),
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


def _to_search(text: object, **more: str) -> Redirect:
    words = str(text or "")[:200]
    return Redirect("/", status_code=303, query_params={**({"q": words} if words else {}), **more})
