"""The demo learns: from visitors with a hidden taste, and from your own clicks."""

from __future__ import annotations

import time

import numpy as np
import pytest

from rankloop.demo.corpus import Corpus
from rankloop.demo.crowd import GRADE, Crowd
from rankloop.demo.demo import RANKER, SETTINGS, THUMBS, Demo
from rankloop.demo.taste import TASTES
from rankloop.service import RankingService, RequestError
from rankloop.service.operations.traffic import overview
from rankloop.store import MemoryStore
from rankloop.types import Query, SettingError


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
def test_lists_come_to_fit_a_taste_that_nobody_told(corpus: Corpus, taste: str) -> None:
    mine = service()
    mine.create(RANKER, SETTINGS)
    crowd = Crowd.of(mine, RANKER, corpus, TASTES[taste])
    visits = list(crowd.visits(400, seed=1))
    own_order = np.mean([GRADE(np.arange(len(topic.hits)), topic.grades) for topic in crowd.topics])
    first, last = (np.mean([visit.fit for visit in part]) for part in (visits[:20], visits[-100:]))
    assert own_order < 0.6  # BM25 alone does not meet the taste
    assert first < last
    assert last > own_order + 0.2
    shown = [each.at for each in mine.store.impressions(RANKER)]
    early = overview(mine.store, RANKER, since=0, until=shown[100])
    late = overview(mine.store, RANKER, since=shown[300], until=shown[-1] + 1)
    assert (early.settled or 0) + 0.03 < (late.settled or 0)


def test_a_seed_is_a_crowd(corpus: Corpus) -> None:
    def fits(seed: int) -> list[float]:
        mine = service()
        mine.create(RANKER, SETTINGS)
        return [visit.fit for visit in Crowd.of(mine, RANKER, corpus, TASTES["short"]).visits(30, seed=seed)]

    assert fits(1) == fits(1) != fits(2)


def test_ten_clicks_of_yours_move_a_result_up(corpus: Corpus) -> None:
    demo = Demo(service(), corpus)
    demo.service.set_mode(RANKER, "exploit")  # what was learned, without luck
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


def test_a_click_is_told_as_a_lesson(corpus: Corpus) -> None:
    demo = Demo(service(), corpus)
    found = demo.search("thread pool", visitor="me")
    assert found is not None
    learned = demo.click(found.response.query_id, found.response.object_ids[7], visitor="me")
    assert learned.moves  # the sixth result is like the one it is compared with: that would be too small
    assert {move.feature for move in learned.moves} <= set(demo.service.schema(RANKER))
    sizes = [abs(move.change) for move in learned.moves]
    assert sizes == sorted(sizes, reverse=True)


def test_a_click_on_what_was_not_shown_is_refused(corpus: Corpus) -> None:
    demo = Demo(service(), corpus)
    found = demo.search("thread pool", visitor="me")
    assert found is not None
    with pytest.raises(RequestError, match="was not in that list"):
        demo.click(found.response.query_id, "json.loads", visitor="me")
    assert demo.model.lists == 0


def test_thumbs_are_learned_together_and_the_last_one_counts(corpus: Corpus) -> None:
    demo = Demo(service(), corpus)
    found = demo.search("read csv file", visitor="me", ranker=THUMBS)
    assert found is not None
    query, names = found.response.query_id, found.response.object_ids
    for name, up in ((names[7], False), (names[7], True), (names[8], True), (names[0], False)):
        demo.thumb(query, name, up=up, visitor="me")
    assert demo.thumbs(query) == {names[7]: True, names[8]: True, names[0]: False}
    assert demo.same_list(query).response == found.response
    assert demo.learn_thumbs(query).moves
    assert (demo.service.model(THUMBS).lists, demo.model.lists) == (1, 0)
    again = demo.search("read csv file", visitor="me", ranker=THUMBS)
    assert again is not None
    now = again.response.object_ids
    policy, features = demo.service.model(THUMBS).ready(demo.service.audit(query).impression.features)
    liked, others = policy.score(Query("", features[[7, 8]])), policy.score(Query("", features[[0]]))
    assert liked.mean() > others.mean()
    for report, refused in (
        (lambda: demo.thumb(query, names[1], up=True, visitor="me"), "takes no more thumbs, search again"),
        (lambda: demo.thumb(again.response.query_id, "json.loads", up=True, visitor="me"), "was not in"),
        (lambda: demo.click(again.response.query_id, now[0], visitor="me"), "that list is of the ranker"),
    ):
        with pytest.raises(RequestError, match=refused):
            report()
    demo.start_over()
    assert demo.service.model(THUMBS).lists == 0


def test_visitors_come_and_can_be_forgotten(corpus: Corpus) -> None:
    demo = Demo(RankingService(MemoryStore()), corpus)
    demo.invite(40, "classes")
    while demo.progress.running:
        time.sleep(0.01)
    assert (demo.progress.done, demo.progress.trouble, len(demo.visits)) == (40, "", 40)
    assert demo.progress.lesson is not None
    assert demo.progress.lesson.moves
    assert demo.model.lists > 20
    demo.start_over()
    assert (demo.model.lists, len(demo.visits)) == (0, 0)


def test_only_known_tastes_and_sensible_numbers(corpus: Corpus) -> None:
    demo = Demo(service(), corpus)
    with pytest.raises(SettingError, match="no taste is called"):
        demo.invite(10, "sour")
    for number in (0, 10**9):
        with pytest.raises(RequestError, match="visitors"):
            demo.invite(number, "short")


def test_a_demo_goes_on_where_it_ended(corpus: Corpus) -> None:
    store = MemoryStore()
    first = Demo(RankingService(store), corpus)
    found = first.search("json parser", visitor="me")
    assert found is not None
    first.click(found.response.query_id, found.response.object_ids[0], visitor="me")
    assert Demo(RankingService(store), corpus).model.lists == 1
