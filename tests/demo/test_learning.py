"""The demo learns: from visitors with a hidden taste, and from your own clicks."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest

from rankloop.demo.documentation import TASTES
from rankloop.demo.product_scene import TASTES as PLAIN_TASTES
from rankloop.demo.rows import rows
from rankloop.demo.scene import Scene
from rankloop.demo.shop import Demo
from rankloop.demo.simulated_visitors import GRADE, Crowd
from rankloop.demo.visitor_report import FitChart, Verdict
from rankloop.errors import RequestError, SettingError
from rankloop.service import RankingService
from rankloop.service.reports.traffic import overview
from rankloop.service.store import MemoryStore
from rankloop.types import Query
from tests.support.waiting import wait_until


class Clock:
    """Time that passes by a second with every look at it."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        self.now += 1.0
        return self.now


def service() -> RankingService:
    ids = (f"list-{number}" for number in range(10**6))
    return RankingService(MemoryStore(), clock=Clock(), ids=ids.__next__)


@pytest.mark.parametrize("taste", TASTES)
def test_lists_come_to_fit_a_taste_that_nobody_told(docs: Scene, taste: str) -> None:
    mine = service()
    mine.create(docs.ranker, docs.settings)
    crowd = Crowd.of(mine, docs.ranker, docs.corpus, TASTES[taste], searches=docs.searches)
    visits = list(crowd.visits(400, seed=1))
    own_order = np.mean([GRADE(np.arange(len(topic.hits)), topic.grades) for topic in crowd.topics])
    first, last = (np.mean([visit.fit for visit in part]) for part in (visits[:20], visits[-100:]))
    assert own_order < 0.6  # BM25 alone does not meet the taste
    assert first < last
    assert last > own_order + 0.2
    shown = [each.at for each in mine.store.impressions(docs.ranker)]
    early = overview(mine.store, docs.ranker, since=0, until=shown[100])
    late = overview(mine.store, docs.ranker, since=shown[300], until=shown[-1] + 1)
    assert (early.settled or 0) + 0.03 < (late.settled or 0)


def test_a_seed_is_a_crowd(docs: Scene) -> None:
    def fits(seed: int) -> list[float]:
        mine = service()
        mine.create(docs.ranker, docs.settings)
        crowd = Crowd.of(mine, docs.ranker, docs.corpus, TASTES["short"], searches=docs.searches)
        return [visit.fit for visit in crowd.visits(30, seed=seed)]

    assert fits(1) == fits(1) != fits(2)


def test_ten_clicks_of_yours_move_a_result_up(docs: Scene) -> None:
    demo = Demo(service(), docs)
    demo.service.set_mode(docs.ranker, "exploit")  # what was learned, without luck
    found = demo.search("read csv file", visitor="me")
    assert found is not None
    wanted = found.response.object_ids[7]
    for _ in range(10):
        learned = demo.click(found.response.query_id, wanted, visitor="me")
        found = demo.search("read csv file", visitor="me")
        assert found is not None
    assert found.response.object_ids.index(wanted) < 3
    assert demo.model.lists == 10
    above, below = wanted, found.response.object_ids[-1]
    why = demo.service.explain(found.response.query_id, above, below)
    assert why.above == wanted
    assert sum(why.contributions.values()) == pytest.approx(why.gap)
    assert why.gap > 0
    assert learned.pairs == 30 * 29 // 2


def test_a_click_is_told_as_a_lesson(docs: Scene) -> None:
    demo = Demo(service(), docs)
    found = demo.search("thread pool", visitor="me")
    assert found is not None
    learned = demo.click(found.response.query_id, found.response.object_ids[7], visitor="me")
    assert learned.moves  # the sixth result is like the one it is compared with: that would be too small
    assert {move.feature for move in learned.moves} <= set(demo.service.schema(docs.ranker))
    sizes = [abs(move.change) for move in learned.moves]
    assert sizes == sorted(sizes, reverse=True)


def test_a_click_on_what_was_not_shown_is_refused(docs: Scene) -> None:
    demo = Demo(service(), docs)
    found = demo.search("thread pool", visitor="me")
    assert found is not None
    with pytest.raises(RequestError, match="was not in that list"):
        demo.click(found.response.query_id, "json.loads", visitor="me")
    assert demo.model.lists == 0


def test_stars_are_learned_together_and_the_last_ones_count(docs: Scene) -> None:
    demo = Demo(service(), docs)
    found = demo.search("read csv file", visitor="me", rated=True)
    assert found is not None
    query, names = found.response.query_id, found.response.object_ids
    for name, stars in ((names[7], 2), (names[7], 5), (names[8], 5), (names[0], 1)):
        demo.star(query, name, stars, visitor="me")
    assert demo.stars(query) == {names[7]: 5, names[8]: 5, names[0]: 1}
    assert demo.same_list(query).response == found.response
    assert demo.learn_stars(query).moves
    assert (demo.service.model(docs.rated).lists, demo.model.lists) == (1, 0)
    again = demo.search("read csv file", visitor="me", rated=True)
    assert again is not None
    now = again.response.object_ids
    policy, features = demo.service.model(docs.rated).ready(demo.service.audit(query).impression.features)
    liked, others = policy.score(Query("", features[[7, 8]])), policy.score(Query("", features[[0]]))
    assert liked.mean() > others.mean()
    for report, refused in (
        (lambda: demo.star(query, names[1], 4, visitor="me"), "takes no more stars, search again"),
        (lambda: demo.star(again.response.query_id, "json.loads", 4, visitor="me"), "was not in"),
        (lambda: demo.star(again.response.query_id, now[0], 6, visitor="me"), "1 to 5 stars"),
        (lambda: demo.click(again.response.query_id, now[0], visitor="me"), "that list is of the ranker"),
    ):
        with pytest.raises(RequestError, match=refused):
            report()
    demo.start_over()
    assert demo.service.model(docs.rated).lists == 0


def test_visitors_come_and_can_be_forgotten(docs: Scene) -> None:
    demo = Demo(RankingService(MemoryStore()), docs)
    demo.invite(40, "classes")
    wait_until(lambda: not demo.progress.running)
    assert (demo.progress.done, demo.progress.trouble, len(demo.visits)) == (40, "", 40)
    assert demo.progress.lesson is not None
    assert demo.progress.lesson.moves
    assert demo.model.lists > 20
    demo.start_over()
    assert (demo.model.lists, len(demo.visits)) == (0, 0)


def test_only_known_tastes_and_sensible_numbers(docs: Scene) -> None:
    demo = Demo(service(), docs)
    with pytest.raises(SettingError, match="no taste is called"):
        demo.invite(10, "sour")
    for number in (0, 10**9):
        with pytest.raises(RequestError, match="visitors"):
            demo.invite(number, "short")


def test_a_demo_goes_on_where_it_ended(docs: Scene) -> None:
    store = MemoryStore()
    first = Demo(RankingService(store), docs)
    found = first.search("json parser", visitor="me")
    assert found is not None
    first.click(found.response.query_id, found.response.object_ids[0], visitor="me")
    assert Demo(RankingService(store), docs).model.lists == 1


@pytest.mark.parametrize("taste", ["blue", "cheap", "rated", "new"])
def test_the_shop_is_never_worse_on_average_than_plain_search(wares: Scene, taste: str) -> None:
    """From the first list on, and in the end what visitors like is on top."""
    gained: list[float] = []
    for seed in range(3):
        mine = service()
        mine.create(wares.ranker, wares.settings)
        crowd = Crowd.of(mine, wares.ranker, wares.corpus, PLAIN_TASTES[taste], searches=wares.searches)
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
    assert turned <= (wares.settings.max_explored_pairs or 0)
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


@pytest.mark.parametrize("scene", ["wares", "docs"])
def test_a_first_click_never_lowers_what_was_clicked(scene: str, request: pytest.FixtureRequest) -> None:
    place: Scene = request.getfixturevalue(scene)
    went = []
    for text, position in product(place.examples[:4], (2, 4, 6, 8, 10)):
        demo = Demo(service(), place)
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
    blue = PLAIN_TASTES["blue"]
    list(Crowd.of(demo.service, wares.ranker, wares.corpus, blue, searches=wares.searches).visits(60, seed=1))
    found = demo.search("mug", visitor="me")
    assert found is not None
    shown = rows(demo, found, demo.reasons(found), {})
    assert any(row.up for row in shown)
    for row in shown:
        lead, told, _ = row.because
        assert told
        assert lead == ("against it:" if row.up < 0 and row.speaks_against else "for")


def test_reasons_add_up_to_the_scores(wares: Scene) -> None:
    demo = Demo(service(), wares)
    crowd = Crowd.of(demo.service, wares.ranker, wares.corpus, PLAIN_TASTES["cheap"], searches=wares.searches)
    list(crowd.visits(40, seed=1))
    found = demo.search("lamp", visitor="me")
    assert found is not None
    told = demo.reasons(found)
    totals = [sum(told[name].parts.values()) + told[name].own for name in found.response.object_ids]
    scores = [result.score for result in found.response.ranking]
    assert np.ptp(np.array(totals) - scores) == pytest.approx(0, abs=1e-4)  # both but for the average
