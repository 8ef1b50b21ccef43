"""Two sellers: a taste prefers one of them unknowingly, and a switch sees to it that both are seen."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from rankloop.candidate import Candidate
from rankloop.demo.scene import Scene
from rankloop.demo.sellers import AMBER, FAIR, SELLERS, seen
from rankloop.demo.shop import Demo
from rankloop.demo.shop_pages import demo_routes
from rankloop.demo.simulated_visitors import SHOWN, Crowd, candidates_of
from rankloop.service.service_facade import ServiceFacade
from rankloop.service.store import open_temporary_store
from tests.support.serving import Live, alive


def service() -> ServiceFacade:
    ids = (f"list-{number}" for number in range(10**6))
    return ServiceFacade(open_temporary_store(), ids=ids.__next__)


def fit(demo: Demo, taste: str, visits: int, seed: int) -> float:
    """How well the last half of the lists that visitors saw fits their taste."""
    scene = demo.scene
    crowd = Crowd.of(demo.service, scene.ranker, scene.corpus, scene.tastes[taste], searches=scene.searches)
    fits = [visit.fit for visit in crowd.visits(visits, seed=seed)]
    return float(np.mean(fits[visits // 2 :]))


def test_a_taste_shows_one_seller_until_exposure_is_shared(wares: Scene) -> None:
    demo, taste, liked = Demo(service(), wares), "cheap", AMBER
    assert not demo.fair
    alone = fit(demo, taste, 200, seed=1)
    before = {each.seller: each for each in demo.seen()}
    assert before[liked].looks > before[liked].candidates + 0.2
    learned = demo.model.lists
    demo.share_exposure(True)
    assert demo.fair
    assert demo.model.lists == learned
    shared = fit(demo, taste, 100, seed=2)
    for each in seen(demo.service.lists(demo.scene.ranker, last=100)):
        assert each.looks == pytest.approx(each.candidates, abs=0.03)
    assert all(abs(ahead) <= FAIR.tolerance for ahead in demo.ahead().values())
    assert sum(demo.ahead().values()) == pytest.approx(0)
    assert shared < alone  # and that is what it costs
    demo.start_over()
    assert demo.fair  # it is a setting, nothing learned
    demo.share_exposure(False)
    assert not demo.fair
    assert demo.ahead() == {}


def test_sellers_change_nothing_unless_exposure_is_shared(wares: Scene) -> None:
    """The first minutes are those of a demo without them."""

    def orders(*, sellers: bool) -> list[tuple[str, ...]]:
        mine = service()
        mine.create(wares.ranker, wares.settings)
        found = [candidates_of(wares.corpus.search(text)) for text in ("mug", "lamp", "umbrella")]
        if not sellers:
            found = [[Candidate(each.object_id, each.features) for each in some] for some in found]
        lists = [
            mine.rank(some, ranker=wares.ranker, k=SHOWN, session_id=f"s{n}")
            for n in range(3)
            for some in found
        ]
        return [tuple(each.object_ids) for each in lists]

    assert orders(sellers=True) == orders(sellers=False)


def test_both_sellers_have_something_to_sell(wares: Scene) -> None:
    for text in ("mug", "backpack", "lamp", "umbrella"):
        assert {hit.entry.seller for hit in wares.corpus.search(text)} == set(SELLERS)


@pytest.fixture
def live(wares: Scene) -> Iterator[tuple[Live, Demo]]:
    demo = Demo(service(), wares)
    with alive(demo.service, routes=demo_routes(demo)) as found:
        yield found, demo


def test_the_page_has_the_switch(live: tuple[Live, Demo]) -> None:
    client, demo = live[0]["nobody"], live[1]
    page = client.get("/", params={"q": "umbrella"}).text
    assert "fair exposure is off" in page
    answer = client.post("/fair", data={"fair": "on", "q": "umbrella"})
    assert (answer.status_code, answer.headers["location"]) == (303, "/?q=umbrella")
    client.get("/", params={"q": "umbrella"})
    page = client.get("/", params={"q": "umbrella"}).text
    assert "fair exposure is on" in page
    assert page.count('class="badge seller"') == SHOWN
    assert all(f'id="seen-{seller}"' in page for seller in SELLERS)
    assert 'id="ahead-2"' in page
    assert "This ranker does not share exposure" not in client.get("/exposure?ranker=default").text
    for nonsense in ({}, {"fair": "maybe"}):
        assert client.post("/fair", data=nonsense).status_code == 400
    assert demo.fair
    assert (
        client.post("/fair", data={"fair": "off"}, headers={"Origin": "https://a.example"}).status_code == 403
    )
    assert client.post("/fair", data={"fair": "off"}).status_code == 303
    assert not demo.fair
