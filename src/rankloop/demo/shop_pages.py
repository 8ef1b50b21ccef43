"""Search page of the demo, and what its buttons do."""

from __future__ import annotations

from functools import partial
from importlib.resources import files
from typing import Annotated

from litestar import Response, Router, get, post
from litestar.datastructures import Cookie
from litestar.di import NamedDependency, Provide
from litestar.params import QueryParameter, SkipValidation
from litestar.response import Redirect

from rankloop.demo import pictures
from rankloop.demo.camping_routes import PATH, camping_routes
from rankloop.demo.camping_shop import CampingShop
from rankloop.demo.rows import SELLER_COLOURS, DemoSite, Sellers, plain_rows, rows, shop_window
from rankloop.demo.shop import Demo
from rankloop.demo.visitor import COOKIE, Clicked, Visitor, Visitors
from rankloop.demo.visitor_report import FitChart, Verdict
from rankloop.errors import RequestError
from rankloop.service.http.app_context import InjectedContext
from rankloop.service.pages import Pages, page_routes
from rankloop.service.pages.error_pages import routed
from rankloop.service.pages.page_assets import A_MOMENT
from rankloop.service.pages.shell import InjectedPages
from rankloop.service.pages.sign_in import AnyRequest, own_site

SCRIPT = files("rankloop.demo").joinpath("demo.js").read_bytes()
STYLE = files("rankloop.demo").joinpath("demo.css").read_bytes()
VISITORS = (100, 500)  # that can be sent for

InjectedSite = NamedDependency[SkipValidation[DemoSite]]


def demo_routes(demo: Demo, *, camping: CampingShop | None = None) -> list[Router]:
    """The search page, perhaps a recommender's, and the service's pages, which everyone may look at."""
    more = [(PATH, "For you")] if camping else []
    pages = Pages(public=True, home=demo.scene.title, more=more, packages=("rankloop.demo",))
    visitors = Visitors()
    found = [routed(pages, [pictures.draw, script, style])]
    found += [camping_routes(pages, camping, visitors)] if camping else []
    mine = routed(pages, [search, click, fair, invite, start_over])
    site = DemoSite(demo, visitors)
    mine.dependencies["site"] = Provide(lambda: site, sync_to_thread=False)
    return [*page_routes(pages, start=False), *found, mine]


@get("/")
async def search(
    request: AnyRequest,
    pages: InjectedPages,
    context: InjectedContext,
    site: InjectedSite,
    q: Annotated[str, QueryParameter(max_length=200)] = "",
    opened: Annotated[str, QueryParameter(max_length=200)] = "",
) -> Response[str]:
    """The box, the list of plain search, the list that was learned, and what was learned."""
    demo, scene, visitor = site.demo, site.demo.scene, _visitor(request, site)
    text = q.strip()
    found = await context.ask(partial(demo.search, text, visitor=visitor.name)) if text else None
    reasons = await context.ask(partial(demo.reasons, found)) if found else {}
    sellers = await context.ask(partial(Sellers.of, demo)) if found else None
    visits, clicked = list(demo.visits), visitor.clicked
    shown = pages.show(
        request,
        "search.html",
        section="/",
        ranker=scene.ranker,
        scene=scene,
        q=text,
        found=found,
        plain=plain_rows(demo, found) if found else [],
        rows=rows(demo, found, reasons) if found else [],
        window=[] if text else shop_window(),
        opened=opened,
        clicked=clicked if clicked and clicked.object_id == opened else None,
        progress=demo.progress,
        tastes={name: taste.title for name, taste in scene.tastes.items()},
        taste=demo.taste,
        visitors=VISITORS,
        verdict=Verdict.of(visits),
        chart=FitChart.of(visits),
        lists=demo.model.lists,
        size=len(scene.corpus),
        sellers=sellers,
        seller_colours=SELLER_COLOURS,
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
    return _to_search(form.get("q"), opened=name)


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
    number = str(form.get("visitors", max(VISITORS)))
    if number not in map(str, VISITORS):
        raise RequestError(
            f"{' or '.join(map(str, VISITORS))} visitors can be sent for, found {number[:50]!r}"
        )
    site.demo.invite(int(number), str(form.get("taste", "")))
    return _to_search(form.get("q"))


@post("/start-over", guards=[own_site])
async def start_over(request: AnyRequest, context: InjectedContext, site: InjectedSite) -> Redirect:
    """Know nothing again."""
    form, visitor = await request.form(), _visitor(request, site)
    await context.ask(site.demo.start_over)
    visitor.clicked = None
    return _to_search(form.get("q"))


@get("/assets/demo.js")
async def script() -> Response[bytes]:
    """Results glide to their new positions, and visitors can be watched; the page works without it."""
    return Response(SCRIPT, media_type="text/javascript; charset=utf-8", headers=A_MOMENT)


@get("/assets/demo.css")
async def style() -> Response[bytes]:
    """How the demo looks, beside the style of all pages."""
    return Response(STYLE, media_type="text/css; charset=utf-8", headers=A_MOMENT)


def _visitor(request: AnyRequest, site: DemoSite) -> Visitor:
    return site.visitors.of(request.cookies.get(COOKIE))


def _cookie(visitor: Visitor) -> Cookie:
    return Cookie(key=COOKIE, value=visitor.name, path="/", httponly=True, samesite="strict")


def _to_search(text: object, **more: str) -> Redirect:
    words = str(text or "")[:200]
    query = {**({"q": words} if words else {}), **more}
    return Redirect("/", status_code=303, query_params=query)
