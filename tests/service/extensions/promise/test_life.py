"""A promise of clicks: it holds in simulated lives, for the worst policies too, and is a fold of the log."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from msgspec import structs

from rankloop.candidate import Candidate
from rankloop.errors import SettingError
from rankloop.evaluation import ClickAccount
from rankloop.policies import PairRank, Policy, policy_names
from rankloop.service import PromiseSettings, RankerSettings, RankResponse, TrialSettings, UserEvent
from rankloop.service.core.configuration import Configuration
from rankloop.service.extensions.promise.fold_part import SearchFold
from rankloop.service.extensions.promise.live_state import SearchBudget
from rankloop.service.extensions.promise.part import PromisePart
from rankloop.service.extensions.promise.report import find_standing
from rankloop.service.http.service_metrics import Metrics
from rankloop.service.service_facade import ServiceFacade
from rankloop.service.store import Event, Person, SqliteStore, Store, open_temporary_store
from rankloop.types import Feedback, FloatArray, Query, Ranking
from tests.support.faults import settle
from tests.support.internals import small
from tests.support.life import Clock, best_of, make, some_candidates
from tests.support.limits import keep_snapshots_every
from tests.support.plain import plain_fold

frequent_snapshots = keep_snapshots_every(5)

PROMISE = PromiseSettings(share=0.9, confidence=0.95, allowed_loss=10)
WINDOW = 5.0

# what the learned lists get in search number t, if the caller's order gets `own`, and so many are ahead
POLICIES: dict[str, Callable[[int, float, float], float]] = {
    "worse": lambda t, own, ahead: 0.0,
    "a little worse": lambda t, own, ahead: 0.75 * own,
    "good, then worse": lambda t, own, ahead: min(1.3 * own, 1.0) if t < 300 else 0.0,
    "worse whenever something was earned": lambda t, own, ahead: 0.0 if ahead > 0 else own,
}


class Believing(PromiseSettings, frozen=True, kw_only=True):
    """A promise that takes estimates for the truth."""

    @property
    def account(self) -> ClickAccount:
        return BelievingAccount(share=self.share, chance=1 - self.confidence, own=self.comparison_share)


class BelievingAccount(ClickAccount):
    def after(self, arm: Any, *, clicked: bool) -> Any:
        found = super().after(arm, clicked=clicked)
        return replace(found, lower=found.ahead)


def life(
    settings: PromiseSettings, policy: Callable[[int, float, float], float], seed: int, n: int = 500
) -> tuple[float, ClickAccount, list[str]]:
    """By how much the promise was behind at worst, in clicks that were expected; the account, and the arms.

    Everything but lists and disk is the service's own: the budget in memory, the fold, searches that end
    after five others began, and a log that is three searches late.
    """
    rng, book, searches = np.random.default_rng(seed), SearchBudget("promise"), SearchFold(1, settings)
    ahead = worst = 0.0
    late: list[tuple[str, PromisePart, float, bool]] = []
    arms: list[str] = []
    for t in range(n):
        own = 0.7 + 0.25 * np.sin(t / 60 + seed)  # the visitors change
        learned = policy(t, own, ahead)
        told = book.assign(1, settings, f"{seed} q{t}", (), at=float(t), window=WINDOW)
        shown = {"held": own, "owned": own, "learned": learned}[told.arm]
        free = settings.comparison_share * own + (1 - settings.comparison_share) * learned
        ahead += (own if told.arm == "held" else free) - settings.share * own
        worst = min(worst, ahead)
        arms.append(told.arm)
        late.append((f"{seed} q{t}", told, float(t), rng.random() < shown))
        if len(late) > 3:
            query_id, told, at, clicked = late.pop(0)
            searches.close(at, bool)
            searches.shown(query_id, told, at + WINDOW)
            if clicked:
                searches.note(clicked_at(query_id, at))
            book.take_in(searches.value(), [query_id])
    return worst, searches.account, arms


def clicked_at(query_id: str, at: float) -> Event:
    return Event(
        at=at,
        ranker="",
        event_id="",
        query_id=query_id,
        object_id="",
        action="click",
        verdict="accepted",
        position=1,
    )


def test_the_promise_holds_in_two_hundred_lives_and_the_budget_is_used(
    record_property: Callable[[str, object], None],
) -> None:
    lives = [(name, seed) for seed in range(50) for name in POLICIES]
    found = [life(PROMISE, POLICIES[name], seed)[0] for name, seed in lives]
    held = np.mean([worst >= -PROMISE.allowed_loss for worst in found])
    record_property("kept, and the worst", f"{held:.1%} of {len(found)}, {min(found):.1f} clicks")
    assert held >= PROMISE.confidence
    assert np.quantile(found, 0.15) < -0.5 * PROMISE.allowed_loss  # the budget is there to be used


def test_without_a_bound_the_promise_would_be_broken() -> None:
    believing = Believing(**PROMISE.to_json())
    found = [life(believing, POLICIES["a little worse"], seed, n=1000)[0] for seed in range(40)]
    broken = np.mean([worst < -PROMISE.allowed_loss for worst in found])
    assert broken > 1 - PROMISE.confidence


def test_a_policy_that_loses_clicks_is_held_and_a_good_one_is_let_go() -> None:
    worse, better = (
        [life(PROMISE, policy, seed, n=3000)[2] for seed in range(2)]
        for policy in (POLICIES["worse"], lambda t, own, ahead: min(1.4 * own, 1.0))
    )
    assert all(arms.count("learned") < 0.1 * len(arms) for arms in worse)
    let_go = [len(arms) - arms[::-1].index("held") for arms in better]  # after the last one that was held
    assert all(searches < 2500 for searches in let_go)


# in the service


@dataclass(kw_only=True, eq=False)
class Reversed(Policy):
    """The caller's order from its end, whatever is clicked."""

    def score(self, query: Any) -> FloatArray:
        return np.arange(float(query.n_docs if isinstance(query, Query) else len(query)))

    def rank(self, query: Query, *, k: int, rng: np.random.Generator) -> Ranking:
        return Ranking(query, np.arange(query.n_docs)[::-1][:k].copy())

    def learn(self, feedback: Feedback) -> None:
        pass


FRUIT = [Candidate(name, {"ripe": float(number)}) for number, name in enumerate("abcdef")]


def begun(store: Store, clock: Clock, policy: Policy | None = None, **settings: Any) -> ServiceFacade:
    service = make(store, clock, policies=[Reversed])
    chosen = PairRank(caller_order="decent") if policy is None else policy
    rules = RankerSettings(policy=chosen, window=WINDOW, promise=PROMISE)
    service.create("shop", structs.replace(rules, **settings))
    return service


def visit(service: ServiceFacade, clock: Clock, rng: np.random.Generator, **asked: Any) -> RankResponse:
    """Somebody who likes the first of the caller's results, sometimes."""
    shown = service.rank(FRUIT, ranker="shop", k=3, **asked)
    if "a" in shown.object_ids and rng.random() < 0.6:
        service.record([UserEvent(shown.query_id, "a")])
    clock.now += 1.0
    service.tick()
    return shown


def account(service: ServiceFacade) -> dict[str, Any]:
    """The account and the open searches, by the fold of the whole log and by what is served with."""
    settle(service.store)
    service.tick()
    found = service.ranker("shop")
    folds = plain_fold(service), found.fold
    anew, here = (each.extension_parts["promise"].snapshot().body for each in folds)
    assert anew == here
    return dict(here)


def test_a_reversed_order_is_held_and_every_list_can_be_made_again() -> None:
    clock, rng = Clock(), np.random.default_rng(0)
    service = begun(open_temporary_store(), clock, Reversed())
    lists = [visit(service, clock, rng) for _ in range(300)]
    arms = Counter(each.provenance.promise for each in lists)
    assert arms["learned"] < 40 < arms["held"]
    for each in lists:
        mine = each.provenance.promise != "learned"
        assert (each.object_ids == ["a", "b", "c"]) == mine
        assert service.replay(each.query_id).identical
    report = service.health().rankers["shop"].promise
    assert report is not None
    assert report.searches + report.pending == 300
    assert report.learned_rate == 0.0
    assert 0.5 < report.spent <= 1.0
    assert "the next search keeps it" in report.sentence
    text = Metrics(service).text().decode()
    assert f'rankloop_promise_spent{{ranker="shop"}} {report.spent}' in text
    assert f'rankloop_promise_searches{{ranker="shop",arm="held"}} {report.held}' in text
    first = next(each for each in lists if each.provenance.promise == "held")
    assert "in your own order, for the promise" in service.explain(first.query_id, "a", "b").sentence


def test_the_account_is_the_same_after_a_restart_a_retention_and_in_another_process(tmp_path: Path) -> None:
    clock, rng = Clock(), np.random.default_rng(1)
    with SqliteStore(tmp_path / "log.db") as store, SqliteStore(tmp_path / "log.db") as theirs:
        service = begun(store, clock)
        for _ in range(60):
            visit(service, clock, rng)
        told, standing = account(service), find_standing(service.ranker("shop"))
        other = make(theirs, clock, prefix="theirs")
        assert account(other) == told
        assert find_standing(other.ranker("shop")) == standing
        visit(other, clock, rng)
        told = account(service)
        assert account(other) == told
        assert service.retain("shop", since=clock.now - 20).entries > 0
        assert account(service) == told
        assert account(make(store, clock, prefix="again")) == told
        service.configure(
            "shop", structs.replace(service.settings("shop"), policy=PairRank(), window=6.0), relearn=False
        )
        assert account(service)["account"] == told["account"]  # the promise is the same
        service.configure(
            "shop", structs.replace(service.settings("shop"), promise=PromiseSettings(share=0.5))
        )
        assert account(service)["account"]["held"] == 0  # another promise begins


def test_forgotten_clicks_are_no_clicks_and_a_flush_ends_searches() -> None:
    clock, rng = Clock(), np.random.default_rng(2)
    service = begun(open_temporary_store(), clock)
    shown = [visit(service, clock, rng) for _ in range(20)]
    service.flush("shop")
    before = account(service)
    assert before["searches"] == []
    clicks = sum(before["account"][name] for name in ("own_clicks", "learned_clicks"))
    events = [event.event_id for event in service.store.read_events("shop")]
    assert clicks == len(events) > 0
    service.forget("shop", events[:1])
    after = account(service)["account"]
    assert sum(after[name] for name in ("own_clicks", "learned_clicks")) == clicks - 1
    assert all(service.replay(each.query_id).identical for each in shown)


def test_a_search_stays_in_its_arm_and_counts_once() -> None:
    clock = Clock()
    service = begun(open_temporary_store(), clock, promise=structs.replace(PROMISE, allowed_loss=1000))
    arms = []
    for person in range(20):
        lists = [
            service.rank(FRUIT, ranker="shop", k=k, session_id=f"s{person}", user_query="red")
            for k in (2, 2, 4)
        ]
        arms.append({each.provenance.promise for each in lists})
        service.record([UserEvent(each.query_id, each.object_ids[0]) for each in lists[1:]])
    assert all(len(each) == 1 for each in arms)
    assert len(set.union(*arms)) == 2
    clock.now += WINDOW
    told = account(service)["account"]
    assert (told["held"], told["owned"] + told["learned"]) == (0, 20)
    assert told["own_clicks"] + told["learned_clicks"] == 20
    again = {
        service.rank(FRUIT, ranker="shop", session_id=f"s{n}", user_query="red").query_id for n in range(20)
    }
    coins = {each.parts["promise"].search for each in service.lists("shop", last=20)}
    assert coins == again  # later, a new search begins


def test_no_more_lists_are_free_than_the_budget_has_room_for() -> None:
    service = begun(open_temporary_store(), Clock(), promise=structs.replace(PROMISE, allowed_loss=3.0))
    arms = [service.rank(FRUIT, ranker="shop").provenance.promise for _ in range(30)]
    assert sum(arm != "held" for arm in arms) == int(3.0 / (PROMISE.share - PROMISE.comparison_share))
    report = service.health().rankers["shop"].promise
    assert report is not None
    assert (report.free, report.pending) == (False, 30)


@pytest.mark.parametrize("alone", [True, False])
def test_lists_of_deleted_people_and_those_beside_them_are_no_debt_of_the_budget(alone: bool) -> None:
    """They were shown and not folded yet when the people were deleted."""
    clock, store = Clock(), open_temporary_store()
    service = begun(store, clock, promise=structs.replace(PROMISE, allowed_loss=3.0))
    for number in range(30):
        who = "otto" if number % 3 == 0 or alone else f"other-{number}"
        service.rank(FRUIT, ranker="shop", client_id=who, user_query=f"{number}")
    settle(store)
    service.delete_people([Person(client_id="otto")])
    expected = find_standing(make(store, clock).ranker("shop"))
    assert expected is not None
    assert expected.pending == (0 if alone else 20)
    assert find_standing(service.ranker("shop")) == expected


def test_a_list_that_a_snapshot_knows_already_counts_once() -> None:
    """The fold of its entry had failed after the list was counted, and a snapshot was kept before it."""
    searches = SearchFold(7, PROMISE)
    lists = {name: PromisePart(promise=7, arm="learned", search="q1") for name in ("q1", "its next page")}
    for name, told in lists.items():
        searches.shown(name, told, WINDOW)
        kept, searches = searches.snapshot(), SearchFold(7, PROMISE)
        searches.restore(kept, Configuration())
        searches.shown(name, told, WINDOW)
    searches.close(WINDOW, bool)
    assert searches.account.searches == 1


def test_a_trial_may_run_beside_a_promise() -> None:
    clock, rng = Clock(), np.random.default_rng(3)
    service = begun(open_temporary_store(), clock, Reversed())
    service.start_trial("shop", TrialSettings(kind="interleave", session_seconds=1.0))
    lists = [visit(service, clock, rng) for _ in range(40)]
    assert all(each.object_ids == ["a", "b", "c"] for each in lists if each.provenance.promise == "held")
    assert all(service.replay(each.query_id).identical for each in lists)
    assert service.trials("shop")[0].sessions["AB"] > 0


@pytest.mark.parametrize(
    "kind",
    [
        kind
        for kind in policy_names.POLICIES.values()
        if "clicks" in kind.signals and not kind.refused_in_service
    ],
)
def test_every_policy_can_be_served_under_a_promise(kind: type[Policy]) -> None:
    clock, rng = Clock(), np.random.default_rng(4)
    service = begun(
        open_temporary_store(), clock, small(kind), promise=structs.replace(PROMISE, allowed_loss=2.0)
    )
    lists = []
    for _ in range(12):
        candidates = some_candidates(rng)
        lists.append(service.rank(candidates, ranker="shop", k=4))
        service.record([UserEvent(lists[-1].query_id, best_of(lists[-1], candidates))])
        clock.now += 2.0
    assert {each.provenance.promise for each in lists} > {"held"}
    assert all(each.provenance.fallback is None for each in lists)
    assert all(service.replay(each.query_id).identical for each in lists)
    account(service)


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"share": 1.0}, "promise.share: Expected a number above 0 and below 1, found 1.0"),
        ({"share": 0.5, "comparison_share": 0.5}, "comparison_share: Expected less than the share of 0.5"),
        ({"confidence": True}, "promise.confidence: Expected a number above 0 and below 1, found true"),
        ({"allowed_loss": -1}, "promise.allowed_loss: Expected a number from 0 to 1,000,000,000, found -1"),
        ({"shares": 0.9}, "did you mean 'share'"),
    ],
)
def test_a_promise_that_cannot_be_kept_is_refused(settings: dict[str, Any], expected: str) -> None:
    with pytest.raises(SettingError, match=expected):
        make(open_temporary_store()).settings_from({"promise": settings})


def test_a_promise_is_spelled_as_json() -> None:
    rules = make(open_temporary_store()).settings_from({"promise": {"share": 0.9}})
    assert rules.of(PromiseSettings) == PromiseSettings(share=0.9)
    assert rules.to_json()["promise"] == {
        "share": 0.9,
        "confidence": 0.95,
        "comparison_share": 0.3,
        "allowed_loss": 20.0,
    }
