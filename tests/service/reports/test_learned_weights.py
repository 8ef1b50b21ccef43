"""What was learned, in words; and how many clicks the rest will need, against simulation."""

from __future__ import annotations

from html import unescape

import numpy as np
import pytest
from scipy.special import expit, ndtri

from rankloop.candidate import Candidate
from rankloop.learning.logistic import online_newton
from rankloop.policies import Random
from rankloop.service import HistoryError, RankerSettings, UserEvent
from rankloop.service.reports.clicks_needed import clicks_needed
from rankloop.service.service_facade import ServiceFacade
from rankloop.service.store import open_temporary_store
from tests.support.limits import keep_snapshots_every
from tests.support.looking import numbers, signed_in, watched

frequent_snapshots = keep_snapshots_every(20)

RUNS, PATIENCE = 60, 300


def clicks_until_settled(gap: float, width: float, rng: np.random.Generator) -> int:
    """How many clicks between two results it takes the real update, the truth drawn from the belief."""
    truth = gap + width * rng.normal()
    weight, variance = np.array([gap]), np.array([[width**2]])
    for clicks in range(1, PATIENCE):
        pair = np.array([[1.0 if rng.random() < expit(truth) else -1.0]])
        weight, variance = online_newton(weight, variance, pair)
        if abs(weight[0]) >= ndtri(0.95) * np.sqrt(variance[0, 0]):
            return clicks
    return PATIENCE


@pytest.mark.parametrize(("gap", "width"), [(0.3, 0.4), (0.0, 0.4), (0.2, 0.5), (-0.4, 1.0)])
def test_the_clicks_that_a_pair_needs_are_forecast_as_simulation_has_them(gap: float, width: float) -> None:
    rng = np.random.default_rng(4)
    took = np.array([clicks_until_settled(gap, width, rng) for _ in range(RUNS)])
    forecast = clicks_needed(gap, width)
    assert forecast is not None
    assert 0.55 < np.mean(took <= 2 * forecast.median) < 0.9  # the median is right within a factor of two
    assert 0.1 < np.mean(took <= forecast.median / 2) < 0.55
    assert np.mean(took < forecast.low / 2) < 0.1
    assert np.mean(took >= min(forecast.high, PATIENCE)) <= 0.25


def test_a_pair_needs_fewer_clicks_the_clearer_it_is_and_none_when_it_is_settled() -> None:
    found = [clicks_needed(gap, 0.4) for gap in (0.0, 0.2, 0.4, 0.6, 0.7)]
    medians = [each.median for each in found if each is not None]
    assert medians == sorted(medians, reverse=True)
    assert medians[-1] == 0
    assert clicks_needed(0.2, 0.4) == clicks_needed(-0.2, 0.4)


@pytest.fixture(scope="module")
def service() -> ServiceFacade:
    """Visitors who take what is short, and then what is cheap."""
    made, rng = ServiceFacade(open_temporary_store()), np.random.default_rng(0)
    made.create("shop", RankerSettings())
    for number in range(160):
        mugs = [Candidate(f"m{n}", {"title_length": rng.normal(), "price": rng.normal()}) for n in range(6)]
        shown = made.rank(mugs, ranker="shop", user_query=f"mug {number % 3}", session_id=str(number))
        by = {mug.object_id: mug.features for mug in mugs}
        wanted = {"title_length": 1.0, "price": 0.2 if number < 80 else 1.0}
        best = min(shown.object_ids, key=lambda name: sum(w * (by[name][x] or 0) for x, w in wanted.items()))
        made.record([UserEvent(shown.query_id, best)])
        made.flush("shop")
    return made


def test_weights_are_said_in_words_and_changes_by_how_much_they_count(service: ServiceFacade) -> None:
    versions = [number for number, _ in service.versions("shop")]
    early = service.learned("shop", versions[len(versions) // 2 - 1])
    now = service.learned("shop")
    words = {each.feature: each for each in now.weights}
    assert words["title_length"].better == "shorter is better"
    assert words["title_length"].certainty == "settled"
    assert words["price"].better == "cheaper is better"
    assert now.exact
    changes = service.learned_between("shop", early.version).changes
    price = next(each for each in changes if each.feature == "price")
    assert price.after < price.before
    assert price.change == "counts more"  # though the number is lower
    assert all(
        each.change == "counts as before" for each in service.learned_between("shop", now.version).changes
    )


def test_a_query_has_its_clicks_its_order_beside_the_callers_and_what_is_open(
    service: ServiceFacade,
) -> None:
    found = service.query_report("shop", "mug 1")
    assert (found.lists, found.clicked, found.ctr) == (53, 53, 1.0)
    assert sorted(each.own_position for each in found.results) == [1, 2, 3, 4, 5, 6]
    assert sum(each.clicks for each in found.results) == 53
    assert found.settled is not None
    assert found.settled + len(found.unsettled) <= found.pairs + 5
    assert all(each.probability < 0.95 and each.needs for each in found.unsettled)
    picture = service.settled(found.last_query_id)  # of another moment, and the same results
    assert {each.object_id for each in found.results} == set(picture.shown)
    lines = service.frequent_queries("shop")
    assert [line.user_query for line in lines] == ["mug 0", "mug 1", "mug 2"]
    assert lines[1].needed == found.needed
    with pytest.raises(HistoryError, match="is it spelled like that"):
        service.query_report("shop", "a mug that nobody asked for")


def test_the_page_has_the_numbers_of_the_api_and_says_what_a_mode_tries_out(service: ServiceFacade) -> None:
    service.create("coin", RankerSettings(policy=Random()))
    service.set_mode("shop", "passthrough")
    with watched(service) as live:
        api = live["admin"].get("/v1/learned", params={"ranker": "shop"}).json()["learned"]
        report = (
            live["admin"].get("/v1/learned/search", params={"ranker": "shop", "user_query": "mug 1"}).json()
        )
        client = signed_in(live)
        page = unescape(client.get("/learned", params={"ranker": "shop"}).text)
        one = client.get("/learned/search", params={"ranker": "shop", "user_query": "mug 1"}).text
        without = client.get("/learned", params={"ranker": "coin"}).text
        assert client.get("/learned/search", params={"ranker": "shop", "user_query": "no"}).status_code == 404
    said = numbers(page)
    assert [float(said[f"weight-{n}"]) for n in (1, 2, 3)] == [each["weight"] for each in api["weights"]]
    assert "shorter is better" in page
    assert "In mode passthrough nothing is tried out" in page
    assert "either way" not in one
    assert (float(numbers(one)["mrr"]), numbers(one)["lists"]) == (report["mrr"], "53")
    assert "There are no weights to show" in without
