"""Pages of recommendation: the numbers are those of the API, and what cannot be said is said."""

from __future__ import annotations

import re
from html import unescape

import pytest

from rankloop.candidate import Candidate
from rankloop.service import RecommendRequest
from rankloop.service.service_facade import ServiceFacade
from rankloop.service.store import open_temporary_store
from tests.service.extensions.recommend.shop import saved
from tests.support.looking import signed_in, watched


def amounts(page: str) -> list[float]:
    return [float(each) for each in re.findall(r'<td class="right"><data value="([^"]+)"', page)]


def test_the_page_of_a_list_has_the_parts_that_the_api_gives() -> None:
    with (
        ServiceFacade(open_temporary_store(), recommenders={"shop": saved()}) as service,
        watched(service) as live,
    ):
        shown = service.recommend(RecommendRequest(ranker="shop", items=["item 3", "item 5"], k=4))
        page = signed_in(live).get(f"/query/{shown.query_id}").text
        told = live["rank"].get(f"/v1/reasons/{shown.query_id}").json()["reasons"]
        wanted = [value for each in told for value in (*(p["amount"] for p in each["parts"]), each["score"])]
        assert amounts(page) == wanted
        for each in told:
            for sentence in each["sentences"]:
                assert sentence in unescape(page)
        service.create("plain")
        plain = service.rank([Candidate("a", {"x": 1.0}), Candidate("b", {"x": 0.0})], ranker="plain")
        assert 'id="reasons"' not in signed_in(live).get(f"/query/{plain.query_id}").text


def test_a_recommender_that_is_gone_is_named_and_a_way_back_is_shown() -> None:
    store = open_temporary_store()
    with ServiceFacade(store, recommenders={"shop": saved()}) as service:
        shown = service.recommend(RecommendRequest(ranker="shop", k=4))
    with ServiceFacade(store) as service, watched(service) as live:
        operator = signed_in(live)
        page = unescape(operator.get(f"/query/{shown.query_id}").text)
        assert "was chosen by the recommender digest of fact 0" in page
        assert "start the service with the former file" in page
        assert "rankloop serve --recommender shop=shop.npz" in operator.get("/recommend").text


@pytest.mark.parametrize(
    ("kind", "query", "told"),
    [
        ("fact", "", "For a newcomer with 0 past items"),
        ("fact", "?answer=much:feature:nothing", "was not asked"),
        ("fact", "?answer=perhaps:x", "an answer is much, little or skip"),
        ("fact", "?items=nothing", "none of the 120 items"),
        ("fact", "?user=user+3&items=item+5", "For a user with"),
        ("ials", "?items=item+3", "For a newcomer with 1 past items"),
        ("bprmf", "", "knows only users it has learned from"),
        ("bprmf", "?user=user+3", "BPRMF cannot say why"),
        ("most-popular", "", "what everybody likes"),
    ],
)
def test_an_operator_sees_what_anyone_would_get_or_why_not(kind: str, query: str, told: str) -> None:
    with (
        ServiceFacade(open_temporary_store(), recommenders={"shop": saved(kind)}) as service,
        watched(service) as live,
    ):
        assert live["nobody"].get("/recommend").status_code == 303  # to sign in
        page = signed_in(live).get(f"/recommend{query}")
        assert page.status_code == 200
        assert told in unescape(page.text)
        assert list(service.lists("shop")) == []  # nobody was shown anything
