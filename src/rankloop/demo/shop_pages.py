"""Search pages of the demo, one for each scene, and what their buttons do."""

from __future__ import annotations

from functools import partial
from importlib.resources import files
from typing import Annotated, Literal, TypeAlias

from litestar import Response, Router, get, post
from litestar.datastructures import Cookie
from litestar.di import NamedDependency, Provide
from litestar.params import QueryParameter, SkipValidation
from litestar.response import Redirect

from rankloop.demo import pictures
from rankloop.demo.camping_routes import PATH, camping_routes
from rankloop.demo.camping_shop import CampingShop
from rankloop.demo.rows import SELLER_COLOURS, DemoSite, Sellers, plain_rows, rows, shop_window
from rankloop.demo.shop import Demo, Found
from rankloop.demo.visitor import COOKIE, Clicked, Rated, Visitor, Visitors
from rankloop.demo.visitor_report import FitChart, Verdict
from rankloop.errors import RequestError
from rankloop.service.http.app_context import InjectedContext
from rankloop.service.pages import Pages, page_routes
from rankloop.service.pages.error_pages import routed
from rankloop.service.pages.page_assets import A_MOMENT
from rankloop.service.pages.shell import InjectedPages
from rankloop.service.pages.sign_in import AnyRequest, own_site

By: TypeAlias = Literal["clicks", "stars"]
SCRIPT = files("rankloop.demo").joinpath("demo.js").read_bytes()
STYLE = files("rankloop.demo").joinpath("demo.css").read_bytes()
VISITORS = (100, 500)  # that can be sent for

InjectedSite = NamedDependency[SkipValidation[DemoSite]]


def demo_routes(*demos: Demo, camping: CampingShop | None = None) -> list[Router]:
    """The search pages, perhaps a recommender's, and the service's pages, which everyone may look at."""
    first, *others = demos
    more = [(PATH, "For you")] if camping else []
    more += [(each.scene.path, each.scene.title) for each in others]
    pages = Pages(public=True, home=first.scene.title, more=more, packages=("rankloop.demo",))
    visitors = Visitors()
    found = [routed(pages, [pictures.draw, script, style])]
    found += [camping_routes(pages, camping, visitors)] if camping else []
    found += [_scene_routes(pages, DemoSite(each, visitors)) for each in demos]
    return [*page_routes(pages, start=False), *found]


def _scene_routes(pages: Pages, site: DemoSite) -> Router:
    mine = routed(pages, [search, click, star, learn, fair, invite, start_over])
    mine.dependencies["site"] = Provide(lambda: site, sync_to_thread=False)
    return mine if site.demo.scene.path == "/" else Router(site.demo.scene.path, route_handlers=[mine])


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
    """The box, the list of plain search, the list that was learned, and what was learned."""
    demo, scene, visitor = site.demo, site.demo.scene, _visitor(request, site)
    by, text = "stars" if rated else by, q.strip()
    found: Found | None = None
    if rated:
        found = await context.ask(partial(demo.same_list, rated))
    elif text:
        found = await context.ask(partial(demo.search, text, visitor=visitor.name, rated=by == "stars"))
    stars = await context.ask(partial(demo.stars, rated)) if rated else {}
    reasons = await context.ask(partial(demo.reasons, found)) if found and not rated else {}
    sellers = await context.ask(partial(Sellers.of, demo)) if found and by == "clicks" else None
    visits = list(demo.visits) if by == "clicks" else []
    clicked = visitor.clicked.get(scene.path) if by == "clicks" else None
    shown = pages.show(
        request,
        "search.html",
        section=scene.path,
        ranker=scene.rated if by == "stars" else scene.ranker,
        scene=scene,
        base=scene.base,
        q=text,
        by=by,
        found=found,
        plain=plain_rows(demo, found) if found else [],
        rows=rows(demo, found, reasons, stars) if found else [],
        window=shop_window() if scene.pictured and not text else [],
        rated=len(stars),
        taught=visitor.rated.get(scene.path) if by == "stars" and not rated else None,
        opened=opened,
        clicked=clicked if clicked and clicked.object_id == opened else None,
        progress=demo.progress,
        tastes={name: taste.title for name, taste in scene.tastes.items()},
        taste=demo.taste,
        visitors=VISITORS,
        verdict=Verdict.of(visits),
        chart=FitChart.of(visits),
        lists=demo.service.model(scene.rated if by == "stars" else scene.ranker).lists,
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
    visitor.clicked[site.demo.scene.path] = Clicked(name, position, lesson)
    return _to_search(site, form.get("q"), opened=name)


@post("/star", guards=[own_site])
async def star(request: AnyRequest, context: InjectedContext, site: InjectedSite) -> Redirect:
    """Stars for a result: they are kept, and the same list comes back."""
    form, visitor = await request.form(), _visitor(request, site)
    query_id, name, value = (str(form.get(each, "")) for each in ("query_id", "object_id", "value"))
    if value not in ("1", "2", "3", "4", "5"):
        raise RequestError(f"a result can have 1 to 5 stars, found {value[:50]!r}")
    await context.ask(partial(site.demo.star, query_id, name, int(value), visitor=visitor.name))
    return _to_search(site, form.get("q"), by="stars", rated=query_id)


@post("/learn", guards=[own_site])
async def learn(request: AnyRequest, context: InjectedContext, site: InjectedSite) -> Redirect:
    """Learn from the stars of a list; it comes back in its new order."""
    form, visitor = await request.form(), _visitor(request, site)
    query_id, path = str(form.get("query_id", "")), site.demo.scene.path
    lesson = await context.ask(partial(site.demo.learn_stars, query_id))
    stars = site.demo.stars(query_id)
    visitor.rated.pop(path, None)
    if stars:
        visitor.rated[path] = Rated(len(stars), lesson)
    return _to_search(site, form.get("q"), by="stars")


@post("/fair", guards=[own_site])
async def fair(request: AnyRequest, context: InjectedContext, site: InjectedSite) -> Redirect:
    """Share exposure between the sellers, or do not any more."""
    form = await request.form()
    wanted = str(form.get("fair", ""))
    if wanted not in ("on", "off"):
        raise RequestError(f"fair exposure is on or off, found {wanted[:50]!r}")
    await context.ask(partial(site.demo.share_exposure, wanted == "on"))
    return _to_search(site, form.get("q"))


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
    return _to_search(site, form.get("q"))


@post("/start-over", guards=[own_site])
async def start_over(request: AnyRequest, context: InjectedContext, site: InjectedSite) -> Redirect:
    """Know nothing again."""
    form, visitor = await request.form(), _visitor(request, site)
    await context.ask(site.demo.start_over)
    for taught in (visitor.clicked, visitor.rated):
        taught.pop(site.demo.scene.path, None)
    return _to_search(site, form.get("q"), **({"by": "stars"} if form.get("by") == "stars" else {}))


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


def _to_search(site: DemoSite, text: object, **more: str) -> Redirect:
    words = str(text or "")[:200]
    query = {**({"q": words} if words else {}), **more}
    return Redirect(site.demo.scene.path, status_code=303, query_params=query)
