"""Recommendation page of the demo: an interview, a list with its reasons, and clicks that improve it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated
from zlib import crc32

from litestar import Response, Router, get, post
from litestar.datastructures import Cookie
from litestar.di import NamedDependency, Provide
from litestar.params import QueryParameter, SkipValidation
from litestar.response import Redirect

from rankloop.demo.camping_shop import RANKER, CampingShop, Shopper
from rankloop.demo.drawing import SHADES
from rankloop.demo.goods import Good
from rankloop.demo.pictures import picture_path
from rankloop.demo.visitor import COOKIE, Visitors
from rankloop.service import Recommendation
from rankloop.service.extensions.recommend.reason_bars import ReasonBar, reason_bars
from rankloop.service.extensions.recommend.reasons import ItemReasons
from rankloop.service.http.app_context import InjectedContext
from rankloop.service.pages import Pages
from rankloop.service.pages.error_pages import routed
from rankloop.service.pages.shell import InjectedPages
from rankloop.service.pages.sign_in import AnyRequest, own_site

PATH = "/for-you"
DRAWN_AS = {"lamp": "lantern", "chair": "camping chair"}


@dataclass(frozen=True, slots=True)
class Offer:
    """A good in the list, with the reasons for it."""

    position: int
    good: Good
    picture: str
    stars: tuple[float, int] | None
    went: int | None  # up; None: it is new in the list
    bar: ReasonBar


@dataclass(frozen=True, eq=False)
class ShopSite:
    """The shop and those who look at it."""

    shop: CampingShop
    visitors: Visitors


InjectedShop = NamedDependency[SkipValidation[ShopSite]]


def camping_routes(pages: Pages, shop: CampingShop, visitors: Visitors) -> Router:
    """The shop's page, and what its buttons do."""
    site = ShopSite(shop, visitors)
    found = routed(pages, [look, answer, choose, start_over])
    found.dependencies["site"] = Provide(lambda: site, sync_to_thread=False)
    return found


@get(PATH)
async def look(
    request: AnyRequest,
    pages: InjectedPages,
    context: InjectedContext,
    site: InjectedShop,
    opened: Annotated[str, QueryParameter(max_length=200)] = "",
) -> Response[str]:
    """The next question, the list, and why."""
    shop, visitor = site.shop, site.visitors.of(request.cookies.get(COOKIE)).name
    shopper = shop.shopper(visitor)
    interview = await context.ask(partial(shop.interview, shopper))
    found = await context.ask(partial(shop.recommend, shopper, visitor=visitor))
    good = shop.goods.get(opened) if opened in shopper.chosen else None
    shown = pages.show(
        request,
        "for-you.html",
        section=PATH,
        ranker=RANKER,
        interview=interview,
        offers=offers(shop, shopper, found),
        query_id=found.query_id,
        without_reasons=found.without_reasons,
        chosen=[shop.goods[name] for name in shopper.chosen],
        opened=good,
        opened_picture=picture_of(good) if good else "",
        stars=shop.stars(opened),
        said=shop.said_of(opened) if good else [],
        lists=shop.service.model(RANKER).lists,
        reviews=sum(map(len, shop.reviews.values())),
        size=len(shop.goods),
    )
    shown.set_cookie(Cookie(key=COOKIE, value=visitor, path="/", httponly=True, samesite="strict"))
    return shown


@post(f"{PATH}/answer", guards=[own_site])
async def answer(request: AnyRequest, context: InjectedContext, site: InjectedShop) -> Redirect:
    """An answer in the interview."""
    form, visitor = await request.form(), site.visitors.of(request.cookies.get(COOKIE))
    question, said = str(form.get("question", "")), str(form.get("answer", ""))
    await context.ask(partial(site.shop.answer, site.shop.shopper(visitor.name), question, said))
    return _back(visitor.name)


@post(f"{PATH}/choose", guards=[own_site])
async def choose(request: AnyRequest, context: InjectedContext, site: InjectedShop) -> Redirect:
    """A click on a good: it is learned from before the list comes back."""
    form, visitor = await request.form(), site.visitors.of(request.cookies.get(COOKIE)).name
    query_id, name = str(form.get("query_id", "")), str(form.get("object_id", ""))
    shopper = site.shop.shopper(visitor)
    await context.ask(partial(site.shop.choose, shopper, query_id, name, visitor=visitor))
    return _back(visitor, opened=name)


@post(f"{PATH}/start-over", guards=[own_site])
async def start_over(request: AnyRequest, context: InjectedContext, site: InjectedShop) -> Redirect:
    """A newcomer again."""
    visitor = site.visitors.of(request.cookies.get(COOKIE)).name
    await context.ask(partial(site.shop.start_over, visitor))
    return _back(visitor)


def offers(shop: CampingShop, shopper: Shopper, found: Recommendation) -> Sequence[Offer]:
    """The list as it is shown; the most popular goods, if the recommender failed, have no reasons."""
    went, titles = shopper.moves(found), {name: good.title for name, good in shop.goods.items()}
    bare = [ItemReasons(name, titles[name], 0.0, (), ()) for name in found.object_ids]
    return [
        Offer(
            position=result.position,
            good=shop.goods[bar.object_id],
            picture=picture_of(shop.goods[bar.object_id]),
            stars=shop.stars(bar.object_id),
            went=went[bar.object_id],
            bar=bar,
        )
        for result, bar in zip(found.ranking, reason_bars(found.reasons or bare), strict=True)
    ]


def picture_of(good: Good) -> str:
    """Where the picture of a good is; its colour follows from its name.

    >>> from rankloop.demo.goods import goods
    >>> picture_of(goods()[0])
    '/pictures/tent_blue_solid_large.svg'
    """
    colours = list(SHADES)
    return picture_path(DRAWN_AS.get(good.kind, good.kind), colours[crc32(good.id.encode()) % len(colours)])


def _back(visitor: str, **more: str) -> Redirect:
    cookie = Cookie(key=COOKIE, value=visitor, path="/", httponly=True, samesite="strict")
    return Redirect(PATH, status_code=303, query_params=more, cookies=[cookie])
