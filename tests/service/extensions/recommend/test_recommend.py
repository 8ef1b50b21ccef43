"""Recommended lists: whose candidates they are, in which order, for whom, and what is refused."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankloop.candidate import Candidate
from rankloop.errors import DataError, RequestError
from rankloop.recommend import IALS, FittedRecommender, UserProfile
from rankloop.service import HistoryError, RecommendRequest, UserEvent
from rankloop.service.extensions.recommend.recommender_candidates import FEATURES
from rankloop.service.http import HttpSettings
from rankloop.service.service_facade import ServiceFacade
from rankloop.service.store import open_temporary_store
from rankloop.types import FloatArray
from tests.service.extensions.recommend.shop import CATALOGUE, KINDS, REVIEWS, ROWS, fitted, saved
from tests.support.serving import Live, alive

EXACT = [name for name in KINDS if name not in ("bprmf", "mter")]
ITEMS = st.lists(st.sampled_from(CATALOGUE.items), max_size=8, unique=True)


def service_of(name: str = "fact") -> ServiceFacade:
    return ServiceFacade(open_temporary_store(), recommenders={"shop": saved(name)})


@pytest.fixture(scope="module")
def services() -> dict[str, ServiceFacade]:
    return {name: service_of(name) for name in KINDS}


@settings(max_examples=60, deadline=None)
@given(
    name=st.sampled_from(EXACT),
    user=st.sampled_from(["", "a stranger", "user 3", "user 77"]),
    items=ITEMS,
    exclude=st.lists(st.sampled_from([*CATALOGUE.items, "gone"]), max_size=30),
    n=st.integers(1, 130),
)
def test_candidates_are_the_best_that_are_neither_known_nor_excluded(
    services: dict[str, ServiceFacade], name: str, user: str, items: list[str], exclude: list[str], n: int
) -> None:
    """By a slow reference: all items, sorted by their score."""
    service, model = services[name], fitted(name)
    request = RecommendRequest(ranker="shop", user=user, items=items, exclude=exclude, n_candidates=n)
    answer = service.recommend(request)
    known = user in CATALOGUE.users
    past = [int(item) for item in model.past(CATALOGUE.users.index(user))] if known else []
    own = list(dict.fromkeys([*past, *(ROWS[each] for each in items)]))
    profile = (
        model.profile_user(CATALOGUE.users.index(user))
        if known and not items
        else model.profile_newcomer(own)
    )
    scores = model.score_profile(profile)
    free = [row for row in range(len(scores)) if row not in own and CATALOGUE.items[row] not in exclude]
    expected = sorted(free, key=lambda row: (-scores[row], row))[:n]
    shown = service.audit(answer.query_id).impression
    assert list(shown.object_ids) == [CATALOGUE.items[row] for row in expected]
    assert answer.recommender is not None
    assert answer.recommender.person == ("user" if known else "newcomer")
    assert (answer.recommender.items, answer.recommender.candidates) == (len(own), len(expected))
    features = dict(zip(service.schema("shop"), shown.features.T, strict=True))
    assert tuple(features) == FEATURES
    assert features["recommender_score"] == pytest.approx(scores[expected])
    assert (features["popularity"] == np.bincount(REVIEWS.item, minlength=120)[expected]).all()
    reasons = {each.object_id: each for each in answer.reasons}
    assert list(reasons) == answer.object_ids
    for row, object_id in zip(expected, shown.object_ids, strict=True):
        if object_id in reasons:
            parts, at = reasons[object_id].parts, expected.index(row)
            assert sum(part.amount for part in parts) == pytest.approx(scores[row], abs=1e-12)
            for kind, column in (("rule", "from_rules"), ("past item", "from_past_items")):
                total = sum(part.amount for part in parts if part.kind == kind)
                assert features[column][at] == pytest.approx(total, abs=1e-12)
    assert service.reasons(answer.query_id).reasons == answer.reasons
    assert service.replay(answer.query_id).identical


@pytest.fixture(scope="module")
def live() -> Iterator[Live]:
    recommenders = {name: saved(name) for name in ("fact", "bprmf", "ials")}
    with alive(ServiceFacade(open_temporary_store(), recommenders=recommenders)) as found:
        yield found


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"ranker": "shoes"}, "no recommender feeds a ranker 'shoes'"),
    (
        {"ranker": "fact", "items": ["item 3", "nothing"]},
        "none of the 120 items of the recommender is 'nothing'",
    ),
    ({"ranker": "fact", "items": "item 3"}, "items: Expected a list"),
    ({"ranker": "fact", "answers": {"feature:nothing": "much"}}, "'feature:nothing' was not asked"),
    ({"ranker": "fact", "answers": {"feature:fit": "perhaps"}}, "answers.feature:fit: Expected one of "),
    ({"ranker": "ials", "answers": {"feature:fit": "much"}}, "an interview needs a tree of questions"),
    ({"ranker": "fact", "exclude": list(CATALOGUE.items)}, "nothing is left to recommend"),
    ({"ranker": "fact", "n_candidates": 0}, "n_candidates: Expected a whole number from 1 to 10,000"),
    ({"ranker": "fact", "k": 0}, "k: Expected a whole number from 1 to 10,000"),
    ({"ranker": "fact", "user": "x" * 201}, "user: Expected a text of up to 200 characters"),
    ({"ranker": "fact", "items": ["\0"]}, "items must not hold null characters"),
    ({"ranker": "fact", "persona": "anna"}, "Expected a field of the body, found 'persona'"),
]


@pytest.mark.parametrize(("body", "sentence"), WRONG, ids=[sentence for _, sentence in WRONG])
def test_nonsense_is_refused_with_a_sentence_and_changes_nothing(
    live: Live, body: dict[str, Any], sentence: str
) -> None:
    before = live.context.service.store.list_changed_rankers(after=0)
    answer = live["rank"].post("/v1/recommend", json=body)
    assert answer.status_code == 400
    assert sentence in answer.json()["error"]
    assert live.context.service.store.list_changed_rankers(after=0) == before


def asked(live: Live, answers: dict[str, str]) -> Any:
    return live["rank"].post("/v1/interview", json={"ranker": "fact", "answers": answers}).json()


def test_answers_beyond_the_tree_are_refused(live: Live) -> None:
    answers: dict[str, str] = {}
    while question := asked(live, answers)["question"]:
        answers[question["question"]] = "much"
    for route in ("/v1/recommend", "/v1/interview"):
        longer = {"ranker": "fact", "answers": answers | {"feature:weightlessness": "much"}}
        refused = live["rank"].post(route, json=longer)
        assert refused.status_code == 400
        assert f"after {len(answers)} answer" in refused.json()["error"]
        assert "the interview is over" in refused.json()["error"]


def test_a_model_without_parts_recommends_and_says_that_it_cannot_say_why(live: Live) -> None:
    answer = live["rank"].post("/v1/recommend", json={"ranker": "bprmf", "user": "user 3"}).json()
    assert len(answer["ranking"]) == 10
    assert answer["reasons"] == []
    assert "no exact parts" in answer["without_reasons"]
    refused = live["rank"].get(f"/v1/reasons/{answer['query_id']}")
    assert refused.status_code == 400
    assert refused.json()["error"] == answer["without_reasons"]
    told = {each["ranker"]: each for each in live["admin"].get("/v1/recommenders").json()}
    can = {name: (each["exact"], each["newcomers"], each["interviews"]) for name, each in told.items()}
    assert can == {"fact": (True, True, True), "ials": (True, True, False), "bprmf": (False, False, False)}


@pytest.mark.parametrize("name", ["bprmf", "mter"])
@pytest.mark.parametrize(("user", "items"), [("a stranger", []), ("user 3", ["item 1"])])
def test_whom_a_model_cannot_place_gets_the_most_popular_items(
    name: str, user: str, items: list[str]
) -> None:
    service = service_of(name)
    answer = service.recommend(RecommendRequest(ranker="shop", user=user, items=items, n_candidates=40))
    past = set(fitted(name).past(3).tolist()) if user == "user 3" else set()
    gone = past | {ROWS[each] for each in items}
    counts = np.bincount(REVIEWS.item, minlength=120)
    popular = [row for row in np.argsort(-counts, kind="stable").tolist() if row not in gone]
    shown = service.audit(answer.query_id).impression
    assert list(shown.object_ids) == [CATALOGUE.items[row] for row in popular[:40]]
    assert len(answer.ranking) == 10
    assert answer.provenance.fallback is None
    assert (answer.recommender, answer.reasons) == (None, ())
    assert "knows only users it has learned from" in (answer.without_reasons or "")
    assert service.replay(answer.query_id).identical


def test_an_id_of_the_callers_own_is_used_once(live: Live) -> None:
    body = {"ranker": "fact", "query_id": "mine", "k": 3}
    assert live["rank"].post("/v1/recommend", json=body).json()["query_id"] == "mine"
    live["admin"].get("/v1/audit/mine")  # which waits until it is written
    again = live["rank"].post("/v1/recommend", json=body)
    assert (again.status_code, "before: ids must be unique" in again.json()["error"]) == (400, True)


def test_recommendations_are_counted_by_whom_they_are_for(live: Live) -> None:
    def counted() -> list[float]:
        return [
            live.metric("rankloop_recommendations_total", ranker="ials", person=person)
            for person in ("user", "newcomer", "nobody")
        ]

    before = counted()
    for user in ("user 1", "user 2", "a stranger"):
        live["rank"].post("/v1/recommend", json={"ranker": "ials", "user": user})
    assert (np.array(counted()) - before).tolist() == [2, 1, 0]


# when the recommender fails


class Failing(IALS):
    """A recommender that fails, or takes its time."""

    takes: ClassVar[float] = 0.0

    def score_profile(self, profile: UserProfile) -> FloatArray:
        time.sleep(self.takes)
        raise ZeroDivisionError("anna@example.com bought item 7")


class Slow(Failing):
    """One that never comes back in time."""

    takes: ClassVar[float] = 0.5


@pytest.mark.parametrize(
    ("kind", "deadline", "reason"), [(Failing, 30.0, "ZeroDivisionError"), (Slow, 0.05, "deadline")]
)
def test_the_most_popular_items_are_shown_when_the_recommender_fails(
    kind: type[IALS], deadline: float, reason: str
) -> None:
    model = kind(d=2).fit(REVIEWS, np.random.default_rng(0))
    service = ServiceFacade(
        open_temporary_store(), recommenders={"shop": FittedRecommender(model, CATALOGUE, "digest")}
    )
    popular = np.argsort(-np.bincount(REVIEWS.item, minlength=120), kind="stable")
    names = [CATALOGUE.items[row] for row in popular]
    with alive(service, HttpSettings(deadline=deadline)) as live:
        body = {"ranker": "shop", "items": names[:2], "exclude": names[3:4], "k": 3}
        answer = live["rank"].post("/v1/recommend", json=body).json()
        assert [each["object_id"] for each in answer["ranking"]] == [names[2], names[4], names[5]]
        known = {CATALOGUE.items[row] for row in model.past(3)}
        theirs = live["rank"].post("/v1/recommend", json={"ranker": "shop", "user": "user 3"}).json()
        expected = [name for name in names if name not in known][:10]
        assert [each["object_id"] for each in theirs["ranking"]] == expected
        assert answer["provenance"]["fallback"].startswith(reason)
        assert "anna@example.com" not in str(answer)  # the text of an error may hold anything
        assert answer["recommender"] is None
        assert answer["reasons"] == []
        assert answer["without_reasons"].startswith("these are the most popular items")
        assert live.metric("rankloop_recommendations_total", ranker="shop", person="nobody") == 2
        refused = live["rank"].get(f"/v1/reasons/{answer['query_id']}")
        assert (refused.status_code, "the most popular" in refused.json()["error"]) == (404, True)
    service.record([UserEvent(answer["query_id"], names[4])])
    service.flush("shop")
    assert service.model("shop").lists == 0
    assert service.replay(answer["query_id"]).identical


def test_lists_of_the_callers_own_candidates_have_no_reasons() -> None:
    service = service_of()
    shown = service.rank([Candidate("a"), Candidate("b")], ranker="shop")
    with pytest.raises(HistoryError, match="its candidates were the caller's own"):
        service.reasons(shown.query_id)
    with pytest.raises(HistoryError, match="no list is kept"):
        service.reasons("never shown")


def test_a_file_that_is_no_recommender_is_refused_before_anything_begins(tmp_path: Any) -> None:
    store = open_temporary_store()
    with pytest.raises(DataError, match="found nothing; make one with"):
        ServiceFacade(store, recommenders={"shop": tmp_path / "none.npz"})
    assert not store.list_rankers()
    with pytest.raises(RequestError, match="no recommender feeds a ranker 'shop': there is none"):
        ServiceFacade(store).interview("shop")


def test_who_says_no_name_is_nobody_also_if_a_review_has_none() -> None:
    nameless = replace(CATALOGUE, users=("", *CATALOGUE.users[1:]))
    service = ServiceFacade(
        open_temporary_store(), recommenders={"shop": FittedRecommender(fitted("ials"), nameless, "d")}
    )
    found = service.recommend(RecommendRequest(ranker="shop"))
    assert found.recommender is not None
    assert (found.recommender.person, found.recommender.items) == ("newcomer", 0)
    assert (
        len(
            service.fall_back_recommendation(
                RecommendRequest(ranker="shop", k=120, n_candidates=120), "slow"
            ).response.ranking
        )
        == 120
    )
