"""The demo learns: from visitors with a hidden taste, and from your own clicks."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest

from rankloop.demo.product_scene import TASTES
from rankloop.demo.rows import rows
from rankloop.demo.scene import Scene
from rankloop.demo.shop import Demo
from rankloop.demo.simulated_visitors import Crowd
from rankloop.demo.visitor_report import FitChart, Verdict
from rankloop.errors import RequestError, SettingError
from rankloop.service.service_facade import ServiceFacade
from rankloop.service.store import open_temporary_store
from tests.support.waiting import wait_until


class Clock:
    """Time that passes by a second with every look at it."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        self.now += 1.0
        return self.now


def service() -> ServiceFacade:
    ids = (f"list-{number}" for number in range(10**6))
    return ServiceFacade(open_temporary_store(), clock=Clock(), ids=ids.__next__)


def test_a_seed_is_a_crowd(wares: Scene) -> None:
    def fits(seed: int) -> list[float]:
        mine = service()
        mine.create(wares.ranker, wares.settings)
        crowd = Crowd.of(mine, wares.ranker, wares.corpus, TASTES["blue"], searches=wares.searches)
        return [visit.fit for visit in crowd.visits(30, seed=seed)]

    assert fits(1) == fits(1) != fits(2)


def test_ten_clicks_of_yours_move_a_result_up(wares: Scene) -> None:
    demo = Demo(service(), wares)
    demo.service.set_mode(wares.ranker, "exploit")  # what was learned, without luck
    found = demo.search("mug", visitor="me")
    assert found is not None
    wanted = found.response.object_ids[7]
    for _ in range(10):
        learned = demo.click(found.response.query_id, wanted, visitor="me")
        found = demo.search("mug", visitor="me")
        assert found is not None
    assert found.response.object_ids.index(wanted) < 3
    assert demo.model.lists == 10
    above, below = wanted, found.response.object_ids[-1]
    why = demo.service.explain(found.response.query_id, above, below)
    assert why.above == wanted
    assert sum(why.contributions.values()) == pytest.approx(why.gap)
    assert why.gap > 0
    assert learned.pairs == 36 * 35 // 2


def test_a_click_is_told_as_a_lesson(wares: Scene) -> None:
    demo = Demo(service(), wares)
    found = demo.search("lamp", visitor="me")
    assert found is not None
    learned = demo.click(found.response.query_id, found.response.object_ids[7], visitor="me")
    assert learned.moves  # the sixth result is like the one it is compared with: that would be too small
    assert {move.feature for move in learned.moves} <= set(demo.service.schema(wares.ranker))
    sizes = [abs(move.change) for move in learned.moves]
    assert sizes == sorted(sizes, reverse=True)


def test_a_click_on_what_was_not_shown_is_refused(wares: Scene) -> None:
    demo = Demo(service(), wares)
    found = demo.search("lamp", visitor="me")
    assert found is not None
    with pytest.raises(RequestError, match="was not in that list"):
        demo.click(found.response.query_id, "mug-nowhere", visitor="me")
    assert demo.model.lists == 0


def test_visitors_come_and_can_be_forgotten(wares: Scene) -> None:
    demo = Demo(ServiceFacade(open_temporary_store()), wares)
    demo.invite(40, "blue")
    wait_until(lambda: not demo.progress.running)
    assert (demo.progress.done, demo.progress.trouble, len(demo.visits)) == (40, "", 40)
    assert demo.progress.lesson is not None
    assert demo.progress.lesson.moves
    assert demo.model.lists > 20
    demo.start_over()
    assert (demo.model.lists, len(demo.visits)) == (0, 0)


def test_only_known_tastes_and_sensible_numbers(wares: Scene) -> None:
    demo = Demo(service(), wares)
    with pytest.raises(SettingError, match="no taste is called"):
        demo.invite(10, "sour")
    for number in (0, 10**9):
        with pytest.raises(RequestError, match="visitors"):
            demo.invite(number, "blue")


def test_a_demo_goes_on_where_it_ended(wares: Scene) -> None:
    store = open_temporary_store()
    first = Demo(ServiceFacade(store), wares)
    found = first.search("backpack", visitor="me")
    assert found is not None
    first.click(found.response.query_id, found.response.object_ids[0], visitor="me")
    assert Demo(ServiceFacade(store), wares).model.lists == 1


@pytest.mark.parametrize("taste", ["blue", "cheap", "rated", "new"])
def test_the_shop_is_never_worse_on_average_than_plain_search(wares: Scene, taste: str) -> None:
    """From the first list on, and in the end what visitors like is on top."""
    gained: list[float] = []
    for seed in range(3):
        mine = service()
        mine.create(wares.ranker, wares.settings)
        crowd = Crowd.of(mine, wares.ranker, wares.corpus, TASTES[taste], searches=wares.searches)
        visits = list(crowd.visits(100 if seed == 0 else 20, seed=seed))
        gained += [visit.fit - visit.own for visit in visits[:20]]
        if seed == 0:
            verdict, chart = Verdict.of(visits[-40:]), FitChart.of(visits)
            assert verdict is not None
            assert chart is not None
            assert (verdict.word, verdict.fit > 0.5) == ("better", True)
            assert verdict.first < verdict.plain
            assert chart.learned[-1] > chart.plain[-1]
    assert np.mean(gained) > -0.001


def test_lists_start_as_plain_search_and_a_click_lifts_what_is_like_it(wares: Scene) -> None:
    demo = Demo(service(), wares)
    found = demo.search("umbrella", visitor="me")
    assert found is not None
    plain = list(found.hits)
    rows = [plain.index(name) for name in found.response.object_ids]
    turned = sum(upper > lower for upper, lower in combinations(rows, 2))
    assert turned <= 6  # by luck, as nothing was learned
    assert rows[0] == 0
    before = demo.reasons(found)
    assert all(not each.speaks_for(wares.words) for each in before.values())  # nothing was learned
    wanted = found.response.object_ids[6]
    colour = found.hits[wanted].features
    (worn,) = [name for name in ("red", "yellow", "green", "blue", "purple", "pink") if colour[name]]
    lesson = demo.click(found.response.query_id, wanted, visitor="me")
    assert f"{worn} counts more now" in [move.said(wares.words) for move in lesson.moves]
    again = demo.search("umbrella", visitor="me")
    assert again is not None
    assert again.response.object_ids.index(wanted) < 6
    assert worn in demo.reasons(again)[wanted].speaks_for(wares.words)


def test_a_first_click_never_lowers_what_was_clicked(wares: Scene) -> None:
    went = []
    for text, position in product(wares.examples[:4], (2, 4, 6, 8, 10)):
        demo = Demo(service(), wares)
        found = demo.search(text, visitor="me")
        assert found is not None
        wanted = found.response.object_ids[position - 1]
        demo.click(found.response.query_id, wanted, visitor="me")
        again = demo.search(text, visitor="me")
        assert again is not None
        went.append(position - 1 - again.response.object_ids.index(wanted))
    assert min(went) >= 0
    assert np.mean(went) > 0.5  # positions: so it is to be seen


def test_whatever_moved_by_what_was_learned_says_for_what(wares: Scene) -> None:
    demo = Demo(service(), wares)
    blue = TASTES["blue"]
    list(Crowd.of(demo.service, wares.ranker, wares.corpus, blue, searches=wares.searches).visits(60, seed=1))
    found = demo.search("mug", visitor="me")
    assert found is not None
    shown = rows(demo, found, demo.reasons(found))
    assert any(row.up for row in shown)
    for row in shown:
        lead, told, _ = row.because
        assert told
        assert lead == ("against it:" if row.up < 0 and row.speaks_against else "for")


def test_reasons_add_up_to_the_scores(wares: Scene) -> None:
    demo = Demo(service(), wares)
    crowd = Crowd.of(demo.service, wares.ranker, wares.corpus, TASTES["cheap"], searches=wares.searches)
    list(crowd.visits(40, seed=1))
    found = demo.search("lamp", visitor="me")
    assert found is not None
    told = demo.reasons(found)
    totals = [sum(told[name].parts.values()) + told[name].own for name in found.response.object_ids]
    scores = [result.score for result in found.response.ranking]
    assert np.ptp(np.array(totals) - scores) == pytest.approx(0, abs=1e-4)  # both but for the average
