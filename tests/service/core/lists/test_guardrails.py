"""Guard rails: kept for every list, and known to the learner."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankloop.candidate import Candidate
from rankloop.policies import MGD, PDGD, PairRank, Policy
from rankloop.service import GuardrailSettings, RankerSettings, UserEvent
from rankloop.service.core.feedback import Reaction, lesson
from rankloop.service.core.lists.placement import (
    bound_displacement,
    pairs_shown,
    place_pins,
    reversed_pairs,
    sort_by_score,
)
from rankloop.service.service_facade import ServiceFacade
from rankloop.service.store import Store, open_temporary_store
from tests.support.life import Clock, live, make, same, some_candidates, state

LISTS = st.integers(1, 12).flatmap(lambda n: st.permutations(range(n)))


@given(LISTS, st.integers(0, 12))
def test_nothing_moves_too_far(wanted: list[int], places: int) -> None:
    found = bound_displacement(wanted, places, len(wanted))
    assert sorted(found) == sorted(wanted)
    assert all(abs(place - row) <= places for place, row in enumerate(found))
    if all(abs(place - row) <= places for place, row in enumerate(wanted)):
        assert found == list(wanted)


@given(LISTS, st.integers(0, 12), st.integers(0, 12))
def test_a_bounded_list_is_filled_from_the_top(wanted: list[int], places: int, k: int) -> None:
    waiting, slow = list(wanted), []
    for index in range(min(k, len(wanted))):
        due = index - places
        row = due if due in waiting else next(row for row in waiting if row <= index + places)
        waiting.remove(row)
        slow.append(row)
    assert bound_displacement(wanted, places, k) == slow


@given(LISTS, st.integers(1, 12), st.integers(0, 12))
def test_the_first_results_do_not_depend_on_how_many_are_shown(
    wanted: list[int], k: int, places: int
) -> None:
    assert bound_displacement(wanted, places, k) == bound_displacement(wanted, places, len(wanted))[:k]


def _swapped(shown: Sequence[int], reference: Sequence[int]) -> int:
    """How many pairs stand the other way round: counted one by one."""
    pairs = itertools.combinations(shown, 2)
    return sum(reference.index(upper) > reference.index(lower) for upper, lower in pairs)


@given(LISTS, st.lists(st.integers(0, 3), min_size=12, max_size=12))
def test_explored_is_what_stands_against_the_scores(wanted: list[int], points: list[int]) -> None:
    scores = np.array(points, dtype=np.float64)  # with ties
    wrong = reversed_pairs(*pairs_shown(np.array(wanted)), scores)
    assert np.count_nonzero(wrong) == _swapped(wanted, sort_by_score(scores))


@given(st.integers(1, 9), st.data())
def test_pins_stand_where_they_must(n: int, data: st.DataObject) -> None:
    places = data.draw(st.sets(st.integers(1, n)))
    pins = {place: 100 + place for place in places}
    found = place_pins(range(n - len(pins)), pins, n)
    assert all(found[place - 1] == row for place, row in pins.items())
    assert [row for row in found if row < 100] == list(range(n - len(pins)))


# in lists


def shop(store: Store, clock: Clock | None = None, **rules: Any) -> ServiceFacade:
    service = make(store, clock)
    service.create("shop", RankerSettings(window=60.0, **rules))
    return service


def test_pins_are_respected_and_teach_nothing(store: Store) -> None:
    """A click on a pinned result says nothing; clicks around it teach as if it were not there."""
    service = shop(store)
    free = [Candidate("a", {"x": 1.0}), Candidate("b", {"x": 0.2}), Candidate("c", {"x": 0.0})]
    pinned = Candidate("ad", {"x": 0.5}, pinned_at=2)
    shown = service.rank([*free, pinned], ranker="shop", session_id="s")
    assert shown.object_ids[1] == "ad"
    assert [each.pinned for each in shown.ranking] == [False, True, False, False]
    assert shown.ranking[1].settled is None
    service.record([UserEvent(shown.query_id, "ad")])
    service.flush("shop")
    assert not state(service)["parameters"].any()
    again = service.rank([*free, pinned], ranker="shop", session_id="s")
    last = again.object_ids[-1]
    service.record([UserEvent(again.query_id, last)])
    service.flush("shop")
    impression = service.audit(again.query_id).impression
    taught = lesson(service.ranker("shop").history.model(1), impression, Reaction("clicks", {4: 1.0}))
    assert taught is not None
    assert len(taught.feedback.ranking) == 3
    assert taught.feedback.clicks.tolist() == [False, False, True]
    assert state(service)["parameters"].any()


@pytest.mark.parametrize("policy", [PairRank(), PDGD(), MGD()], ids=lambda each: type(each).__name__)
def test_a_policys_evidence_is_about_the_free_part(policy: Policy) -> None:
    """The list around a pin is the list without it, evidence and all, so learning is exact."""
    rng = np.random.default_rng(0)
    candidates = some_candidates(rng, n=6)
    with_pin = [*candidates[:3], Candidate("pin", candidates[0].features, pinned_at=1), *candidates[3:]]
    found = []
    for each, k in ((candidates, 4), (with_pin, 5)):
        service = shop(open_temporary_store(), policy=policy)
        shown = service.rank(each, ranker="shop", k=k, session_id="s")
        click = "d4" if "d4" in shown.object_ids else shown.object_ids[-1]
        service.record([UserEvent(shown.query_id, click)])
        service.flush("shop")
        found.append((shown.object_ids, state(service)))
    (plain, plain_state), (pinned, pinned_state) = found
    assert pinned == ["pin", *plain]
    assert same(plain_state, pinned_state)


def test_all_pinned_is_a_list_too(store: Store) -> None:
    service = shop(store)
    candidates = [Candidate("a", {"x": 1}, pinned_at=2), Candidate("b", {"x": 2}, pinned_at=1)]
    shown = service.rank(candidates, ranker="shop")
    assert shown.object_ids == ["b", "a"]
    service.record([UserEvent(shown.query_id, "a")])
    service.flush("shop")
    assert service.model("shop").lists == 0
    assert service.replay(shown.query_id).identical


def test_a_pin_below_the_list_is_not_shown(store: Store) -> None:
    service = shop(store)
    candidates = [Candidate("a", pinned_at=3), Candidate("b"), Candidate("c")]
    assert sorted(service.rank(candidates, ranker="shop", k=2).object_ids) == ["b", "c"]


@pytest.mark.parametrize("mode", ["explore", "exploit", "frozen"])
def test_displacement_is_bounded_in_every_mode_that_ranks(store: Store, mode: str) -> None:
    clock = Clock()
    service = shop(store, clock, guardrails=GuardrailSettings(max_displacement=2))
    live(service, clock, rounds=30)
    service.set_mode("shop", mode)  # type: ignore[arg-type]
    for seed in range(10):
        candidates = some_candidates(np.random.default_rng(seed))
        shown = service.rank(candidates, ranker="shop", k=6)
        for result in shown.ranking:
            assert abs(int(result.object_id[1:]) - (result.position - 1)) <= 2


def test_a_list_that_a_guard_changed_is_learned_as_shown(store: Store) -> None:
    service = shop(store, guardrails=GuardrailSettings(max_displacement=0))
    candidates = some_candidates(np.random.default_rng(0), n=4)
    shown = service.rank(candidates, ranker="shop")
    impression = service.audit(shown.query_id).impression
    assert impression.order.tolist() == [0, 1, 2, 3]
    assert impression.teaches
    service.record([UserEvent(shown.query_id, "d3")])
    service.flush("shop")
    assert service.model("shop").lists == 1


def test_a_policy_that_credits_places_learns_only_lists_it_drew(store: Store) -> None:
    service = shop(store, policy=MGD(), guardrails=GuardrailSettings(max_displacement=0))
    taught = [
        service.audit(service.rank(some_candidates(np.random.default_rng(n), n=3), ranker="shop").query_id)
        for n in range(20)
    ]
    for each in taught:
        drawn = each.impression.order.tolist() == [0, 1, 2]
        assert drawn
    assert 0 < sum(each.impression.teaches for each in taught) < 20


def test_one_click_does_not_undo_the_callers_order() -> None:
    """Guardrails bound a list against what is known, and that still is the caller's order after a click."""
    assert after_a_click(RankerSettings(guardrails=GuardrailSettings(max_displacement=3))) < 1
    # where the order is not trusted, the one click is all that is known
    assert (
        after_a_click(
            RankerSettings(policy=PairRank(caller_order=0), guardrails=GuardrailSettings(max_displacement=3))
        )
        > 1.5
    )


def after_a_click(rules: RankerSettings) -> float:
    """How far results stand from where the caller put them, on average, once a single click was learned."""
    service = make(open_temporary_store())
    service.create("shop", rules)
    candidates = some_candidates(np.random.default_rng(0), n=40)
    first = service.rank(candidates, ranker="shop", session_id="a")
    service.record([UserEvent(first.query_id, first.object_ids[4])])
    service.flush("shop")
    again = service.rank(candidates, ranker="shop", session_id="b")
    return float(np.mean([abs(int(name[1:]) - at) for at, name in enumerate(again.object_ids)]))
