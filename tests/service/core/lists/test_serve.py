"""Lists: what is shown, when it stays the same, and what is refused."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankloop.candidate import Candidate
from rankloop.errors import RequestError, SettingError
from rankloop.policies import PDGD, RankNet
from rankloop.service import RankerSettings, RankResponse, UserEvent
from rankloop.service.core.lists.candidate_columns import Candidates
from rankloop.service.service_facade import ServiceFacade
from rankloop.service.store import Store, StoreError, open_temporary_store, write
from rankloop.types import FloatArray, Query
from tests.support.life import Clock, live, make, some_candidates


def shop(store: Store, **rules: Any) -> ServiceFacade:
    service = make(store)
    service.create("shop", RankerSettings(**rules))
    return service


def test_a_list_has_the_best_of_what_was_learned_on_top(store: Store) -> None:
    clock = Clock()
    service = make(store, clock)
    service.create("shop", RankerSettings(window=60.0))
    live(service, clock, rounds=80)
    service.set_mode("shop", "exploit")
    good, bad = {"bm25": 1.0, "age": 0.0}, {"bm25": 0.0, "age": 1.0}
    shown = service.rank([Candidate("bad", bad), Candidate("good", good)], ranker="shop")
    assert shown.object_ids == ["good", "bad"]
    assert shown.ranking[0].score > shown.ranking[1].score
    assert shown.ranking[0].settled is True
    assert shown.provenance.policy == "PairRank"
    assert shown.provenance.model == service.model("shop").version


def test_k_limits_the_list(store: Store) -> None:
    service = shop(store)
    candidates = some_candidates(np.random.default_rng(0), n=8)
    assert len(service.rank(candidates, ranker="shop", k=3).ranking) == 3
    assert len(service.rank(candidates, ranker="shop", k=10**30).ranking) == 8
    assert [each.position for each in service.rank(candidates, ranker="shop", k=2).ranking] == [1, 2]


def test_a_session_sees_the_same_list_again(store: Store) -> None:
    service = shop(store)
    candidates = some_candidates(np.random.default_rng(0))

    def ask(session: str, k: int = 10) -> RankResponse:
        return service.rank(candidates, ranker="shop", user_query="shoes", session_id=session, k=k)

    first, again = ask("s1"), ask("s1")
    assert again.object_ids == first.object_ids
    assert again.query_id != first.query_id
    assert ask("s1", k=5).object_ids == first.object_ids[:5]
    assert any(ask(f"s{number}").object_ids != first.object_ids for number in range(2, 9))
    asked = service.rank(candidates, session_id="s1", ranker="shop", user_query="boots")
    assert asked.provenance.seed != first.provenance.seed


def test_a_client_stands_in_for_a_session(store: Store) -> None:
    service = shop(store)
    candidates = some_candidates(np.random.default_rng(0))
    one, other = (service.rank(candidates, ranker="shop", client_id="c") for _ in range(2))
    assert one.object_ids == other.object_ids
    seeds = {service.rank(candidates, ranker="shop").provenance.seed for _ in range(5)}
    assert len(seeds) == 5, "who is nobody gets new luck each time"


def test_features_come_in_any_order_and_may_be_missing(store: Store) -> None:
    service = shop(store)
    one = [Candidate("a", {"x": 1, "y": 2}), Candidate("b", {"y": 0, "x": None})]
    shown = service.rank(one, ranker="shop")
    kept = service.audit(shown.query_id).impression
    assert service.schema("shop") == ["x", "y"]
    assert np.array_equal(kept.features, [[1.0, 2.0], [np.nan, 0.0]], equal_nan=True)
    service.rank([Candidate("a", {"z": True, "x": float(np.float32(0.5))}), Candidate("b")], ranker="shop")
    assert service.schema("shop") == ["x", "y", "z"]


def test_candidates_without_features_can_be_ranked(store: Store) -> None:
    service = shop(store)
    shown = service.rank([Candidate("a"), Candidate("b")], ranker="shop")
    service.record([UserEvent(shown.query_id, "a")])
    service.flush("shop")
    assert sorted(service.rank([Candidate("a"), Candidate("b")], ranker="shop").object_ids) == ["a", "b"]
    assert service.health().ok


BAD: list[tuple[Any, str]] = [
    ({"candidates": []}, "at least one candidate, found none"),
    ({"candidates": [Candidate(str(n)) for n in range(1001)]}, "found 1001"),
    ({"candidates": [Candidate("a"), Candidate("a")]}, "object_id must be there once, found 'a' twice"),
    ({"candidates": ["a"]}, "must be Candidate objects"),
    ({"candidates": [Candidate("a", {"x": math.nan})]}, "'a': feature 'x' must be a number.*found nan"),
    ({"candidates": [Candidate("a", {"x": math.inf})]}, "found inf"),
    ({"candidates": [Candidate("a", {"x": 10**400})]}, "found 1000"),
    ({"candidates": [Candidate("a", {"x": 1e101})]}, r"found 1e\+101"),
    ({"candidates": [Candidate("a", {"x": "7"})]}, "found '7'"),  # type: ignore[dict-item]
    ({"candidates": [Candidate("a", {"x": [1]})]}, r"found \[1\]"),  # type: ignore[dict-item]
    ({"candidates": [Candidate("a", {"x": 1j})]}, "found 1j"),  # type: ignore[dict-item]
    ({"candidates": [Candidate("a", {"": 1})]}, "a feature's name"),
    ({"candidates": [Candidate("a", {7: 1})]}, "a feature's name"),  # type: ignore[dict-item]
    ({"candidates": [Candidate("a", {"x" * 201: 1})]}, "a feature's name"),
    ({"candidates": [Candidate("a", {str(n): 1 for n in range(300)})]}, "may have 256"),
    ({"candidates": [Candidate("a", pinned_at=2)]}, "position of 1 to 1, found 2"),
    ({"candidates": [Candidate(n, pinned_at=1) for n in "ab"]}, "pinned_at must be there once"),
    ({"candidates": [Candidate("a", {"\ud800": 1})]}, "halves of characters"),
    ({"user_query": "\0"}, "null characters"),
    ({"k": 0}, "k must be"),
    ({"k": 2.5}, "k must be"),
    ({"k": True}, "k must be"),
    ({"query_id": ""}, "query_id must be"),
    ({"user_query": "x" * 2001}, "user_query must be"),
    ({"session_id": 7}, "session_id must be"),
    ({"ranker": "nobody"}, "no ranker is called 'nobody'"),
]


@pytest.mark.parametrize(("changes", "reason"), BAD, ids=[reason for _, reason in BAD])
def test_what_cannot_be_ranked_is_refused_and_changes_nothing(changes: Any, reason: str) -> None:
    store = open_temporary_store()
    service = shop(store)
    before = store.list_changed_rankers(after=0)
    with pytest.raises(RequestError, match=reason):
        service.rank(**{"candidates": [Candidate("a", {"new": 1.0})], "ranker": "shop"} | changes)
    assert store.list_changed_rankers(after=0) == before
    assert service.schema("shop") == []


@pytest.mark.parametrize(
    "make_it",
    [
        lambda: Candidate(""),
        lambda: Candidate(7),  # type: ignore[arg-type]
        lambda: Candidate("a", [1.0]),  # type: ignore[arg-type]
        lambda: Candidate("\ud800"),
        lambda: Candidate("a", pinned_at=0),
        lambda: Candidate("a", pinned_at=1.5),  # type: ignore[arg-type]
        lambda: Candidate("a", pinned_at=True),
        lambda: Candidate("a", group=None),  # type: ignore[arg-type]
    ],
)
def test_impossible_candidates_are_refused(make_it: Any) -> None:
    with pytest.raises(RequestError):
        make_it()


def test_an_id_is_used_once(store: Store) -> None:
    service = shop(store)
    service.rank([Candidate("a")], ranker="shop", query_id="mine")
    service.flush("shop")  # whatever was submitted is written
    with pytest.raises(RequestError, match="ids must be unique"):
        service.rank([Candidate("a")], ranker="shop", query_id="mine")


class Broken(PDGD):
    """A policy that cannot score."""

    def score(self, query: Query) -> FloatArray:
        raise ZeroDivisionError("anna@example.com is out of order")


def test_a_broken_policy_falls_back_to_the_callers_order(store: Store) -> None:
    service = make(store, policies=[Broken])
    service.create("shop", RankerSettings(policy=Broken()))
    candidates = [Candidate("a"), Candidate("b", pinned_at=1), Candidate("c")]
    shown = service.rank(candidates, ranker="shop")
    assert shown.object_ids == ["b", "a", "c"]
    assert shown.provenance.fallback == "ZeroDivisionError: the list could not be made"
    assert b"anna" not in shown.to_bytes()
    assert "anna" not in service.audit(shown.query_id).impression.fallback
    service.record([UserEvent(shown.query_id, "c")])
    service.flush("shop")
    assert service.model("shop").lists == 0
    assert service.replay(shown.query_id).identical


def test_a_store_in_trouble_does_not_stop_the_lists() -> None:
    store = open_temporary_store()
    service = shop(store)
    service.rank([Candidate("a")], ranker="shop")
    write(store, lambda _: None)
    store._writer.execute("PRAGMA query_only = ON")  # as if the disk were full
    assert service.rank([Candidate("a")], ranker="shop").object_ids == ["a"]
    with pytest.raises(StoreError, match="nothing could be written"):
        write(store, lambda _: None)
    assert service.health().rankers["shop"].unlogged == 1
    assert not service.health().ok


def test_any_text_that_is_one_can_be_a_name(store: Store) -> None:
    service = shop(store)
    for name in ("ü", "日本", "\n\t", "'; DROP TABLE events; --", "😀", "\u202e"):
        shown = service.rank([Candidate(name, {name: 1.0})], ranker="shop", user_query=name, session_id=name)
        assert service.record([UserEvent(shown.query_id, name, event_id=name)])[0].verdict == "accepted"
        assert service.audit(shown.query_id).impression.shown == [name]
        assert service.replay(shown.query_id).identical


def test_an_unknown_ranker_is_answered_with_the_nearest(store: Store) -> None:
    service = shop(store)
    with pytest.raises(RequestError, match="did you mean 'shop'"):
        service.rank([Candidate("a")], ranker="shpo")
    with pytest.raises(RequestError, match="none was created yet"):
        make(open_temporary_store()).rank([Candidate("a")])


def test_a_ranker_is_created_once(store: Store) -> None:
    service = shop(store)
    service.create("shop")
    service.create("shop", RankerSettings())
    assert service.rankers() == ["shop"]
    with pytest.raises(SettingError, match="with other settings: use configure"):
        service.create("shop", RankerSettings(window=1.0))


NUMBERS = st.one_of(st.none(), st.booleans(), st.integers(-(10**30), 10**30), st.floats(-1e100, 1e100))


@given(st.lists(st.dictionaries(st.sampled_from("abcde"), NUMBERS), min_size=1, max_size=6), st.data())
def test_any_finite_features_can_be_ranked_and_learned(
    rows: list[dict[str, Any]], data: st.DataObject
) -> None:
    scaling = data.draw(st.sampled_from(["query", "running"]))
    service = shop(open_temporary_store(), policy=RankNet(learning_rate=1.0), scaling=scaling)
    candidates = [Candidate(str(number), row) for number, row in enumerate(rows)]
    for _ in range(2):
        shown = service.rank(candidates, ranker="shop")
        assert sorted(shown.object_ids) == sorted(each.object_id for each in candidates)
        assert shown.provenance.fallback is None
        service.record([UserEvent(shown.query_id, shown.object_ids[-1])])
        service.flush("shop")
        assert np.isfinite(service.model("shop").policy.state()["parameters"]).all()


def test_features_that_always_come_in_one_order_find_their_columns_when_others_join() -> None:
    """Names that were looked up once are not again: until the schema has grown."""
    service = ServiceFacade(open_temporary_store())
    service.create("shop")
    names, values = ("price", "age"), np.array([[3.0, 1.0], [5.0, 2.0]])
    usual = Candidates(object_ids=["a", "b"], names=names, values=values)
    wider = Candidates(object_ids=["a"], names=("size", "price"), values=np.array([[7.0, 4.0]]))
    shown = [service.rank(table, ranker="shop") for table in (usual, usual, wider, usual)]
    kept = [service.audit(each.query_id).impression.features for each in shown]
    assert [each.shape for each in kept] == [(2, 2), (2, 2), (1, 3), (2, 3)]
    np.testing.assert_array_equal(kept[1], values)
    np.testing.assert_array_equal(kept[2], [[4.0, np.nan, 7.0]])
    np.testing.assert_array_equal(kept[3], [[3.0, 1.0, np.nan], [5.0, 2.0, np.nan]])


def test_policies_meet_the_precision_of_simulations() -> None:
    service = ServiceFacade(open_temporary_store())
    service.create("shop")
    _, features = service.model("shop").ready(np.array([[0.1, 5.0], [0.3, np.nan]]))
    assert features.dtype == np.float32
