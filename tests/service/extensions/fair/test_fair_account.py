"""Lists that are held to an exposure account: what they give, what they cost, and that they come back."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from rankloop.candidate import Candidate
from rankloop.exposure import PAGE, merge_fairly
from rankloop.policies import MGD, PDGD, PairRank, Policy
from rankloop.service import FairSettings, GuardrailSettings, RankerSettings, RankRequest, UserEvent, columns
from rankloop.service.core.configuration import Configuration
from rankloop.service.core.lists.list_draft import ListDraft
from rankloop.service.core.lists.list_inputs import prepare_inputs
from rankloop.service.core.lists.list_seeds import generator
from rankloop.service.core.lists.replay import make_again, replay
from rankloop.service.core.model import Model
from rankloop.service.core.scaling import WithinQuery
from rankloop.service.core.view import View
from rankloop.service.extensions.fair.fair_account import (
    FairAccount,
    GroupAccounts,
    Merge,
    cap_change,
    merge_around_pins,
    stays_within,
)
from rankloop.service.extensions.fair.part import FairPart
from rankloop.service.service_facade import ServiceFacade
from rankloop.service.store import Store, open_temporary_store
from tests.support.fairness import VIEW, account_by_hand, account_in_memory, account_in_store, of_sellers
from tests.support.life import Clock, best_of, make, some_candidates

FAIR = FairSettings(shares="equal", tolerance=2.0)
SELLERS = ("a", "b")
NEAR, FIXED = GuardrailSettings(max_displacement=1), GuardrailSettings(max_displacement=0)


def live(service: ServiceFacade, clock: Clock, rounds: int, **options: Any) -> list[str]:
    """Lists for two sellers of very different size, and clicks; their ids."""
    rng, found = np.random.default_rng(5), []
    for number in range(rounds):
        candidates = of_sellers(rng, options.get("sellers", ("a", "a", "a", "b")), 20)
        shown = service.rank(candidates, ranker="shop", k=options.get("k", 5), session_id=f"s{number}")
        service.record([UserEvent(shown.query_id, best_of(shown, candidates))])
        clock.now += 20.0
        found.append(shown.query_id)
    return found


@pytest.mark.parametrize("policy", [PairRank(), PairRank(exploration="random"), PDGD(), MGD()])
def test_the_account_stays_within_its_tolerance_and_is_the_sum_of_the_log(
    store: Store, policy: Policy
) -> None:
    clock = Clock()
    service = make(store, clock)
    service.create("shop", RankerSettings(policy=policy, fair=FAIR, window=60.0))
    for query_id in live(service, clock, 40):
        shown = service.audit(query_id).impression
        assert shown.parts["fair"].within is True
        assert service.replay(query_id).identical
    found = account_by_hand(store)
    assert max(map(abs, found.values())) <= 2 * VIEW
    assert account_in_memory(service) == account_in_store(service) == found
    assert account_in_memory(make(store, clock)) == found, "another process reads the same"


@pytest.mark.parametrize("mode", ["passthrough", "shadow"])
def test_lists_in_the_callers_order_are_counted_and_not_held(store: Store, mode: Any) -> None:
    clock = Clock()
    service = make(store, clock)
    service.create("shop", RankerSettings(fair=structs.replace(FAIR, cap=5.0)), mode=mode)
    for query_id in live(service, clock, 20):
        shown = service.audit(query_id).impression
        assert shown.order.tolist() == [0, 1, 2, 3, 4]
        assert shown.parts["fair"].within is None
        assert service.replay(query_id).identical
    found = account_by_hand(store)
    assert found == account_in_memory(service) == account_in_store(service)
    assert max(found.values()) == 5 * VIEW, "what would be beyond the most lapses"


def test_a_fallback_is_counted_and_made_again(store: Store) -> None:
    service = make(store)
    service.create("shop", RankerSettings(fair=FAIR))
    found = service.ranker("shop")
    found._view = replace(found.view, model=replace(found.view.model, policy=None))  # type: ignore[arg-type]
    shown = service.rank(of_sellers(np.random.default_rng(1), SELLERS), ranker="shop")
    assert shown.provenance.fallback is not None
    assert service.replay(shown.query_id).identical
    assert account_by_hand(store) == account_in_memory(service)
    assert any(account_by_hand(store).values())


def test_a_group_that_has_too_little_is_due_no_more_than_it_can_get(store: Store) -> None:
    service = make(store)
    service.create("shop", RankerSettings(fair=FAIR))
    few = [Candidate(f"d{row}", {"price": float(row)}, group="b" if row == 7 else "a") for row in range(8)]
    for _ in range(12):
        assert service.rank(few, ranker="shop", k=8).provenance.within is True
    settle(store)
    assert account_by_hand(store)["b"] >= -2 * VIEW


def test_one_group_changes_nothing_and_without_groups_nothing_is_there_to_share() -> None:
    def shown(fair: FairSettings | None, group: str) -> list[dict[str, Any]]:
        service = make(open_temporary_store())
        service.create("shop", RankerSettings(fair=fair))
        rng, found = np.random.default_rng(2), []
        for _ in range(5):
            candidates = [replace(each, group=group) for each in some_candidates(rng)]
            ranked = service.rank(candidates, ranker="shop", k=5)
            found.append(json.loads(ranked.to_bytes()))
            service.record([UserEvent(ranked.query_id, ranked.object_ids[1])])
            service.flush("shop")
        return found

    for plain, fair in zip(shown(None, "a"), shown(FAIR, "a"), strict=True):
        assert "fairness_cost" not in plain["provenance"]
        assert "within" not in plain["provenance"]
        assert fair["provenance"].pop("fairness_cost") == 0
        assert fair["provenance"].pop("within") is True
        assert plain == fair
    assert shown(FAIR, "") == shown(FAIR, "a")


@pytest.mark.parametrize("rules", [{"fair": FAIR}, {"guardrails": NEAR}, {"guardrails": FIXED}, {}])
def test_a_pair_is_explored_if_it_is_shown_as_it_was_drawn_and_against_the_scores(
    rules: dict[str, Any],
) -> None:
    """Pairs that only the merge or a guardrail put there cost nothing of what is tried."""
    clock = Clock()
    service = make(open_temporary_store(), clock)
    service.create("shop", RankerSettings(window=1e6, **rules))
    live(service, clock, 15)
    history, tried = service.ranker("shop").history, list[int]()
    for shown in service.lists("shop", last=99):
        draft = make_again(shown, history).draft
        assert draft.draw is not None
        drawn = draft.draw.order.tolist()
        rank = {row: place for place, row in enumerate(drawn)}
        scores, gaps = draft.inputs.scores, []
        for above, below in itertools.combinations(shown.order.tolist(), 2):
            against = scores[above] < scores[below] or (scores[above] == scores[below] and above > below)
            if against and rank.get(above, len(drawn)) < rank.get(below, len(drawn)):
                gaps.append(scores[below] - scores[above])
        assert shown.explored == len(gaps)
        assert shown.cost == pytest.approx(np.tanh(np.array(gaps) / 2).sum())
        tried.append(len(gaps))
    assert any(tried) == (rules.get("guardrails") is not FIXED)


def test_somebody_who_reloads_all_day_leaves_the_account_within_the_most(store: Store) -> None:
    service = make(store, Clock())
    service.create("shop", RankerSettings(fair=structs.replace(FAIR, cap=10.0)), mode="frozen")
    candidates = of_sellers(np.random.default_rng(0), ("a", "a", "b"), 12)
    for _ in range(60):
        shown = service.rank(candidates, ranker="shop", k=5, session_id="s", user_query="again")
        assert service.replay(shown.query_id).identical
    found = account_by_hand(store)
    assert max(map(abs, found.values())) <= 10 * VIEW
    assert account_in_memory(service) == account_in_store(service) == found


@pytest.mark.parametrize("mode", ["explore", "exploit", "frozen"])
@pytest.mark.parametrize("policy", [PairRank(), PDGD()])
@pytest.mark.parametrize("pins", [{}, {17: 2}, {17: 2, 3: 10, 5: 13}, {17: 11}, {17: 1, 3: 11, 5: 12}])
def test_a_reload_gives_the_same_list_and_the_next_page_continues_it(
    policy: Policy, mode: Any, pins: dict[int, int]
) -> None:
    clock = Clock()
    service = make(open_temporary_store(), clock)
    service.create("shop", RankerSettings(policy=policy, fair=FairSettings(shares="equal", tolerance=1)))
    live(service, clock, 10, k=10)
    service.set_mode("shop", mode)
    mine = of_sellers(np.random.default_rng(3), ("a", "a", "b"), 40, pins)
    who: dict[str, Any] = {"ranker": "shop", "session_id": "me", "user_query": "mugs"}
    first = service.rank(mine, k=10, **who)
    for number in range(8):  # others come in between, and the account goes on
        other = of_sellers(np.random.default_rng(number), SELLERS, 30)
        service.rank(other, k=10, ranker="shop", session_id=f"other {number}")
        assert service.rank(mine, k=10, **who).object_ids == first.object_ids
        assert service.rank(mine, k=20, **who).object_ids[:10] == first.object_ids
    assert all(service.replay(each.query_id).identical for each in service.lists("shop", last=99))
    clock.now += service.settings("shop").window + 1
    assert service.audit(service.rank(mine, k=10, **who).query_id).impression.parts["fair"].ahead == tuple(
        account_before(service, name) for name in dict.fromkeys(each.group for each in mine)
    ), "after the window, the account is that of the day"


def account_before(service: ServiceFacade, group: str) -> int:
    """The account before the last list."""
    told: FairPart = service.lists("shop", last=1)[0].parts["fair"]
    row = told.groups.index(group)
    change = told.granted[row] - told.due[row] - told.lapsed[row]
    return account_in_memory(service)[group] - change


def test_guardrails_come_after_the_merge_and_what_they_undo_stays_in_the_account(store: Store) -> None:
    clock = Clock()
    service = make(store, clock)
    rules = RankerSettings(
        fair=structs.replace(FAIR, tolerance=0.5), guardrails=GuardrailSettings(max_displacement=1)
    )
    service.create("shop", rules, mode="exploit")
    rng = np.random.default_rng(0)
    for _ in range(15):
        plain = enumerate(some_candidates(rng))
        candidates = [replace(each, group="a" if row < 5 else "b") for row, each in plain]
        shown = service.rank(candidates, ranker="shop", k=4)
        found = service.audit(shown.query_id).impression
        assert all(abs(row - index) <= 1 for index, row in enumerate(found.order.tolist()))
        assert service.replay(shown.query_id).identical
    assert shown.provenance.within is False
    assert account_by_hand(store)["a"] > 10 * VIEW
    assert account_by_hand(store) == account_in_memory(service)


def test_what_was_lost_leaves_the_account() -> None:
    store = open_temporary_store()
    service = make(store)
    service.create("shop", RankerSettings(fair=FAIR))
    candidates = of_sellers(np.random.default_rng(0), SELLERS)
    service.rank(candidates, ranker="shop")
    before = account_in_memory(service)
    store._writer.execute("PRAGMA query_only = ON")  # as if the disk were full
    service.rank(candidates, ranker="shop")
    assert service.health().rankers["shop"].unlogged == 1
    assert account_in_memory(service) == before == account_by_hand(store)


def test_a_replay_notices_a_wrong_cap() -> None:
    """What is capped follows from the account of the moment, which the part keeps for a reload."""
    service = make(open_temporary_store(), Clock())
    service.create("shop", RankerSettings(fair=structs.replace(FAIR, cap=2.0)), mode="frozen")
    candidates = of_sellers(np.random.default_rng(0), ("a", "a", "b"), 12)
    for _ in range(30):
        service.rank(candidates, ranker="shop", k=5, session_id="s", user_query="again")
    lists, history = service.lists("shop", last=99), service.ranker("shop").history
    assert any(each.parts["fair"].current for each in lists), "the account went on between reloads"
    capped = [each for each in lists if any(each.parts["fair"].lapsed)]
    assert capped
    for shown in capped[:3]:
        assert replay(shown, history).identical
        less = structs.replace(shown.parts["fair"], lapsed=(0,) * len(shown.parts["fair"].lapsed))
        assert not replay(replace(shown, parts={**shown.parts, "fair": less}), history).identical


def test_a_list_that_was_never_shown_was_never_counted(store: Store) -> None:
    service = make(store)
    service.create("shop", RankerSettings(fair=FAIR))
    candidates = of_sellers(np.random.default_rng(0), SELLERS)
    service.rank(candidates, ranker="shop", query_id="one")
    service.audit("one")
    made = service.prepare(RankRequest(ranker="shop", candidates=columns(candidates)))
    assert account_in_memory(service) == account_by_hand(store)
    service.publish(made)
    service.audit(made.response.query_id)
    assert account_in_memory(service) == account_by_hand(store)


def test_lists_of_other_processes_are_taken_in_with_a_tick(store: Store) -> None:
    one = make(store, prefix="x")
    one.create("shop", RankerSettings(fair=FAIR))
    other = make(store, prefix="y")
    rng = np.random.default_rng(0)
    for service in (one, other, other, one):
        shown = service.rank(of_sellers(rng, SELLERS), ranker="shop")
        service.audit(shown.query_id)
    for service in (one, other):
        service.tick()
        settle(store)
        assert account_in_memory(service) == account_by_hand(store)


def settle(store: Store) -> None:
    """Whatever was submitted is done."""
    store.submit(lambda transaction: transaction.list_rankers()).result()
    store.submit(lambda transaction: transaction.list_rankers()).result()


@given(st.integers(0, 10**6), st.integers(1, 3), st.integers(1, 25))
def test_a_list_that_stays_is_the_one_that_the_merge_keeps_to(seed: int, m: int, k: int) -> None:
    rng = np.random.default_rng(seed)
    candidates = of_sellers(rng, ("a", "b", "c")[:m], 30)
    request = RankRequest(candidates=columns(candidates), k=k)
    ahead = {name: int(rng.integers(-3, 3) * VIEW) for name in "abc"}
    account = FairAccount(settings=FAIR, number=1, ahead=ahead, current=ahead).for_request(request)
    view = View(configuration=Configuration(), model=Model(version=0, policy=PDGD(), scale=WithinQuery()))
    inputs = prepare_inputs(view, request, rng.random((30, 2)), query_id="q", seed=seed)
    drawn = rng.permutation(30).tolist()
    draft = ListDraft(inputs=inputs, rows=drawn[:k], source="policy")
    found = merge_around_pins(account, draft, drawn)
    if stays_within(account, draft):
        assert merge_pages(account, drawn, k, seed) == drawn[:k]
    elif k > PAGE:
        assert found.order == merge_pages(account, drawn, k, seed)
    assert found.order == merge_around_pins(account, draft, drawn).order


def merge_pages(account: GroupAccounts, drawn: list[int], k: int, seed: int) -> list[int]:
    """The list that is merged page by page, each kept as it was drawn where it is within the tolerance."""
    order = np.argsort(drawn)
    found = merge_fairly(
        np.array(drawn),
        account.codes,
        order[:, None] < order,
        account.rule({}, k),
        rng=generator(seed ^ 1),
        keep=True,
    )
    rows: list[int] = found.order.tolist()
    return rows


changes = st.lists(st.integers(-50, 50), min_size=1, max_size=5)


@given(changes, st.lists(st.integers(-60, 60), min_size=6, max_size=6), st.integers(1, 60))
def test_a_change_is_limited_so_that_no_account_goes_farther_out(
    changed: list[int], ahead: list[int], most: int
) -> None:
    change = [*changed, -sum(changed)]
    found = cap_change(change, ahead[: len(change)], most)
    assert sum(found) == 0
    for more, counted, before in zip(change, found, ahead, strict=False):
        assert abs(counted) <= abs(more)
        assert counted * more >= 0
        assert abs(before + counted) <= max(most, abs(before))
    inside = all(abs(a + b) <= most and abs(a) <= most for a, b in zip(change, ahead, strict=False))
    assert not inside or found == change, "what stays within the most counts in full"


@given(st.permutations(range(7)), st.integers(1, 7), st.permutations(range(7)))
def test_swapped_pairs_are_those_that_stood_otherwise(drawn: list[int], k: int, shown: list[int]) -> None:
    order = shown[:k]
    brute = sum(
        1
        for index, lower in enumerate(order)
        for upper in drawn[: drawn.index(lower)]
        if upper not in order[:index]
    )
    assert Merge(drawn=drawn, order=order, violated=0).swapped_pairs == brute
