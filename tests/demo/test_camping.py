"""The shop of the demo: its reviews, its newcomers, and its page."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

import httpx
import numpy as np
import pytest

from rankloop.demo.camping_shop import RANKER, CampingShop, Shopper, fitted
from rankloop.demo.goods import FEATURES, goods, sayings
from rankloop.demo.product_reviews import PERSONAS, as_reviews, care, qualities, written
from rankloop.demo.scene import Scene
from rankloop.demo.shop import Demo
from rankloop.demo.shop_pages import demo_routes
from rankloop.errors import RequestError
from rankloop.service.extensions.recommend.reason_bars import reason_bars
from rankloop.service.service_facade import ServiceFacade
from rankloop.service.store import open_temporary_store
from tests.support.serving import Live, alive

QUALITY = qualities(goods())


@pytest.fixture
def shop() -> Iterator[CampingShop]:
    with ServiceFacade(open_temporary_store()) as service:
        yield CampingShop(service)


def test_the_goods_and_what_is_said_of_them_fit_together() -> None:
    assert len({each.id for each in goods()}) == len(goods()) == 72
    assert {feature for feature, _ in sayings()} == set(FEATURES)
    for each in goods():
        assert each.good | each.bad <= set(each.spoken_of) <= set(FEATURES), each
        assert not each.good & each.bad
    spoken_of = {each.id: each.spoken_of for each in goods()}
    for review in written():
        for said in review.said:
            assert said.feature in spoken_of[review.good]
            assert said.word in said.sentence.lower()
            assert "{" not in said.sentence


def test_the_same_reviews_and_the_same_recommender_are_made_at_every_start() -> None:
    assert written() == written()
    fitted.cache_clear()
    first = fitted().digest
    fitted.cache_clear()
    assert fitted().digest == first
    reviews = as_reviews(written())
    assert 500 < len(reviews) < 1000
    assert len(fitted().catalogue.quotes) > 100


def fit(persona: str, names: list[str], chosen: list[str]) -> float:
    """How much of what they could like best someone gets."""
    liking = {each.id: float(value) for each, value in zip(goods(), QUALITY @ care(persona), strict=True)}
    best = sorted((value for name, value in liking.items() if name not in chosen), reverse=True)
    return sum(liking[name] for name in names) / sum(best[: len(names)])


@pytest.mark.parametrize("persona", PERSONAS)
def test_a_newcomer_gets_a_better_list_after_answers_and_after_choices(
    shop: CampingShop, persona: str
) -> None:
    shopper, cares = Shopper(), dict(zip(FEATURES, care(persona), strict=True))
    fits = []
    while (question := shop.interview(shopper).question) is not None:
        fits.append(fit(persona, shop.recommend(shopper, visitor=persona).object_ids, []))
        shop.answer(shopper, question.question, "much" if cares[question.name] >= 0.2 else "little")
    for _ in range(3):
        found = shop.recommend(shopper, visitor=persona)
        fits.append(fit(persona, found.object_ids, shopper.chosen))
        assert not set(shopper.chosen) & set(found.object_ids)
        for reasons in found.reasons:
            assert abs(sum(part.amount for part in reasons.parts) - reasons.score) < 1e-12
        liked = max(found.object_ids, key=lambda name: fit(persona, [name], []))
        shop.choose(shopper, found.query_id, liked, visitor=persona)
    assert fits[-1] > fits[0] + 0.1, fits
    assert shop.service.model(RANKER).lists == 3


def test_what_was_not_asked_or_not_shown_is_refused(shop: CampingShop) -> None:
    shopper = Shopper()
    with pytest.raises(RequestError, match="was not asked"):
        shop.answer(shopper, "feature:colour", "much")
    asked = shop.interview(shopper).question
    assert asked is not None
    with pytest.raises(RequestError, match="much, little or skip"):
        shop.answer(shopper, asked.question, "perhaps")
    found = shop.recommend(shopper, visitor="me")
    with pytest.raises(RequestError, match="was not in that list"):
        shop.choose(shopper, found.query_id, "submarine", visitor="me")
    assert (shopper.answers, shopper.chosen) == ({}, [])


@pytest.fixture
def live(shop: CampingShop, wares: Scene) -> Iterator[Live]:
    demo = Demo(shop.service, wares)
    with alive(shop.service, routes=demo_routes(demo, camping=shop)) as found:
        yield found


def listed(page: httpx.Response) -> list[str]:
    assert page.status_code == 200, page.text
    return re.findall(r'name="object_id" value="([^"]+)"', page.text)


def test_the_page_works_without_scripts(live: Live, shop: CampingShop) -> None:
    visitor = live["nobody"]
    assert 'href="/for-you"' in visitor.get("/").text
    page = visitor.get("/for-you")
    first, question = listed(page), re.search(r'name="question" value="([^"]+)"', page.text)
    assert question
    assert "What everybody likes" in page.text
    sent = {"question": question[1], "answer": "much"}
    assert visitor.post("/for-you/answer", data=sent).status_code == 303
    after = visitor.get("/for-you")
    assert listed(after) != first
    assert f"{question[1].split(':')[1]} means much to you" in after.text
    query_id, good = re.search(r'data-query="([^"]+)"', after.text), listed(after)[2]
    assert query_id
    sent = {"query_id": query_id[1], "object_id": good}
    chosen = visitor.post("/for-you/choose", data=sent)
    assert chosen.headers["location"] == f"/for-you?opened={good}"
    page = visitor.get(chosen.headers["location"])
    assert good not in listed(page)
    assert f"because you chose {shop.goods[good].title}" in page.text
    assert shop.service.model(RANKER).lists == 1
    (event,) = shop.service.audit(query_id[1]).events
    assert (event.object_id, event.verdict, event.position) == (good, "accepted", 3)
    assert visitor.post("/for-you/start-over").status_code == 303
    assert listed(visitor.get("/for-you")) == first
    assert shop.service.model(RANKER).lists == 0


def test_the_page_shows_what_is_popular_if_the_recommender_fails(
    live: Live, shop: CampingShop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(type(fitted().model), "score_profile", lambda *_: 1 / 0)
    page = live["nobody"].get("/for-you")
    assert len(listed(page)) == 8
    assert "these are the most popular items, for nobody in particular" in page.text
    assert "Why this item?" not in page.text


def test_bad_forms_change_nothing_and_other_sites_send_none(live: Live, shop: CampingShop) -> None:
    visitor = live["nobody"]
    visitor.get("/for-you")
    for path, sent in (
        ("/for-you/answer", {"question": "feature:colour", "answer": "much"}),
        ("/for-you/choose", {"query_id": "none", "object_id": "bear"}),
        ("/for-you/choose", {}),
    ):
        assert visitor.post(path, data=sent).status_code in (400, 404)
    evil = visitor.post("/for-you/start-over", headers={"origin": "https://evil.example"})
    assert evil.status_code == 403
    assert shop.service.model(RANKER).lists == 0


def test_the_stacked_bars_have_one_scale_and_the_widths_are_the_amounts(shop: CampingShop) -> None:
    found = shop.recommend(Shopper(chosen=["bear", "tin"]), visitor="me")
    bars = reason_bars(found.reasons)
    scale = {round(s.width / abs(s.amount), 9) for bar in bars for s in bar.segments if abs(s.amount) > 1e-9}
    assert len(scale) == 1
    for bar in bars:
        right = [s for s in bar.segments if s.amount > 0]
        left = [s for s in bar.segments if s.amount < 0]
        assert min(s.x for s in right) == pytest.approx(bar.zero)
        assert max(s.x + s.width for s in bar.segments) <= 100 + 1e-9
        assert min((s.x for s in left), default=0) >= -1e-9
        assert sum(bar.shares.values()) == pytest.approx(1)
        spans = sorted((s.x, s.x + s.width) for s in bar.segments)
        assert all(one[1] <= other[0] + 1e-9 for one, other in pairwise(spans))
    assert np.ptp([bar.zero for bar in bars]) == 0
