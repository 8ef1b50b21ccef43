"""Trials: a ranker against something else, live; who is in which arm, what is learned, and who is better."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from msgspec import structs

from rankloop.candidate import Candidate
from rankloop.errors import RequestError, SettingError
from rankloop.naming import write_name
from rankloop.policies import MGD, PDGD, PairRank
from rankloop.policies.policy_names import read_policy
from rankloop.service import (
    GuardrailSettings,
    HistoryError,
    RankerSettings,
    RankRequest,
    TrialSettings,
    UserEvent,
    columns,
)
from rankloop.service.core.settings_record import read_settings
from rankloop.service.extensions.fair.settings import FairSettings
from rankloop.service.extensions.trial.part import TrialPart
from rankloop.service.extensions.trial.report import rules_of, trials_of
from rankloop.service.extensions.trial.trial_sessions import sequence_of, sessions_of
from rankloop.service.extensions.trial.trial_state import Trial
from rankloop.service.service_facade import ServiceFacade
from rankloop.service.store import Event, ImpressionHead, SqliteStore, Store, open_temporary_store
from rankloop.service.store.log_archive import export_log, import_log
from tests.support.life import Clock, best_of, make, some_candidates
from tests.support.limits import keep_snapshots_every
from tests.support.own_policies import Remembering

frequent_snapshots = keep_snapshots_every(1)

SHORT = {"outcome_seconds": 10.0, "session_seconds": 10.0}


def shop(store: Store, clock: Clock | None = None, **settings: object) -> ServiceFacade:
    service = make(store, clock)
    service.create("shop", RankerSettings(window=10, **settings))  # type: ignore[arg-type]
    return service


def visit(service: ServiceFacade, clock: Clock, visits: int, *, seed: int = 0, k: int = 4) -> list[str]:
    """Sessions of two lists each, whose users click what they like best; the ids of the lists."""
    rng, lists = np.random.default_rng(seed), []
    for number in range(visits):
        for words in ("tea", "coffee"):
            candidates = some_candidates(rng)
            shown = service.rank(
                candidates, ranker="shop", k=k, session_id=f"s{seed}-{number}", user_query=words
            )
            best = best_of(shown, candidates) if rng.random() < 0.7 else rng.choice(shown.object_ids)
            if rng.random() < 0.9:
                service.record([UserEvent(shown.query_id, str(best))])
            lists.append(shown.query_id)
            clock.now += 1
        clock.now += 5
    clock.now += 60
    return lists


ARMS = {
    "the caller's order": TrialSettings(share=0.4, **SHORT),  # type: ignore[arg-type]
    "another ranker": TrialSettings(share=0.4, ranker="other", **SHORT),  # type: ignore[arg-type]
    "another policy": TrialSettings(policy="PDGD()", **SHORT),  # type: ignore[arg-type]
    "team draft": TrialSettings(kind="interleave", **SHORT),  # type: ignore[arg-type]
    "team draft, another ranker": TrialSettings(kind="interleave", ranker="other", **SHORT),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("settings", ARMS.values(), ids=ARMS)
def test_every_list_of_a_trial_is_made_again_to_the_byte(tmp_path: Path, settings: TrialSettings) -> None:
    clock = Clock()
    with SqliteStore(tmp_path / "log.db") as store:
        service = shop(store, clock)
        service.create("other", RankerSettings(policy=PDGD(), window=10))
        rng = np.random.default_rng(9)
        shown = service.rank(some_candidates(rng, names=("price", "bm25", "new")), ranker="other")
        service.record([UserEvent(shown.query_id, shown.object_ids[3])])
        service.flush("other")
        visit(service, clock, 4)
        service.start_trial("shop", settings)
        lists = visit(service, clock, 12, seed=1)
        service.rank([Candidate("x", {"late": 1.0}), Candidate("y")], ranker="shop")  # one more feature
        lists += visit(service, clock, 2, seed=2)
        assert all(service.replay(each).identical for each in lists)
        told = service.trial("shop")
        assert told is not None
        service.close()
    with SqliteStore(tmp_path / "log.db") as store:  # another process, later
        again = make(store, clock, prefix="r")
        assert all(again.replay(each).identical for each in lists)
        assert again.trial("shop") == told
        assert again.replay(visit(again, clock, 1, seed=3)[0]).identical
        export_log(store, tmp_path / "log.jsonl")
    with SqliteStore(tmp_path / "copy.db") as copy:
        import_log(tmp_path / "log.jsonl", copy)
        imported = make(copy, clock)
        assert all(imported.replay(each).identical for each in lists)
        changed = copy.find_impression(lists[0])
        assert changed is not None
        assert "trial" in changed.parts


def test_sessions_stay_in_their_arm_and_arm_b_sees_the_callers_order(store: Store) -> None:
    clock = Clock()
    service = shop(store, clock)
    visit(service, clock, 10)
    number = service.start_trial("shop", ARMS["the caller's order"])
    visit(service, clock, 40, seed=1)
    arms: dict[str, set[str]] = {}
    for shown in store.read_impressions("shop", after=number):
        arms.setdefault(shown.session_id, set()).add(shown.parts["trial"].arm)
        if shown.parts["trial"].arm == "B":
            assert shown.shown == list(shown.object_ids[:4])
            assert shown.teaches
            assert shown.explored == 0
    assert {len(arm) for arm in arms.values()} == {1}
    assert 8 <= sum(arm == {"B"} for arm in arms.values()) <= 24  # 16 of 40 are expected
    told = service.trial("shop")
    assert told is not None
    assert told.sessions == {"A": sum(arm == {"A"} for arm in arms.values()), "B": 40 - told.sessions["A"]}
    assert (told.lists, told.waiting) == (80, 0)


@pytest.mark.parametrize("kind", ["holdout", "interleave"])
def test_a_policy_learns_from_other_arms_only_if_its_evidence_is_about_documents(kind: str) -> None:
    learned = {}
    for policy in (PairRank(), MGD()):
        store, clock = open_temporary_store(), Clock()
        service = shop(store, clock, policy=policy)
        service.start_trial("shop", TrialSettings(kind=kind, share=0.5, **SHORT))  # type: ignore[arg-type]
        visit(service, clock, 20)
        service.flush("shop")
        lists = list(store.read_impressions("shop"))
        taught = sum(each.teaches for each in lists)
        clicked = {each.query_id for each in store.read_events("shop") if each.verdict == "accepted"}
        assert service.model("shop").lists == sum(each.teaches and each.query_id in clicked for each in lists)
        learned[type(policy).__name__] = taught
        relearned = service.relearn("shop", service.settings("shop"))
        assert all(
            np.array_equal(value, service.model("shop").policy.state()[name])
            for name, value in relearned.policy.state().items()
        )
    assert learned["PairRank"] == 40
    assert learned["MGD"] < 36  # those of arm A, and lists that happen to be the same


def test_what_is_learned_from_arm_b_is_what_shadow_mode_learns_from_it() -> None:
    """A list in the caller's order teaches the same, whoever decided to show it."""
    states = []
    for trial in (True, False):
        store, clock = open_temporary_store(), Clock()
        service = shop(store, clock)
        if trial:
            service.start_trial("shop", TrialSettings(share=0.99, **SHORT))  # type: ignore[arg-type]
        else:
            service.set_mode("shop", "shadow")
        visit(service, clock, 5)
        service.flush("shop")
        arms = {each.parts["trial"].arm for each in store.read_impressions("shop") if "trial" in each.parts}
        assert arms <= {"B"}
        states.append(service.model("shop").policy.state())
    assert all(np.array_equal(value, states[1][name]) for name, value in states[0].items())


CHANGES: dict[str, Callable[[ServiceFacade], object]] = {
    "the settings were changed": lambda service: service.configure("shop", RankerSettings(window=11)),
    "the mode was changed to exploit": lambda service: service.set_mode("shop", "exploit"),
    "the model was rolled back": lambda service: service.rollback("shop", to=1),
    "events were forgotten": lambda service: service.forget(
        "shop", [next(each.event_id for each in service.store.read_events("shop"))]
    ),
    "enough": lambda service: service.stop_trial("shop", service.trials("shop")[0].trial, reason="enough"),
}


@pytest.mark.parametrize("reason", CHANGES)
def test_whatever_changes_an_arm_ends_the_trial_and_says_so(store: Store, reason: str) -> None:
    clock = Clock()
    service = shop(store, clock)
    visit(service, clock, 3)
    number = service.start_trial("shop")
    service.set_mode("shop", "explore")  # as before: nothing changes
    visit(service, clock, 3, seed=1)
    found = service.trial("shop")
    assert found is not None
    assert found.runs
    CHANGES[reason](service)
    for each in (service, make(store, clock)):  # a process that reads the log agrees
        (told,) = each.trials("shop")
        assert (told.trial, told.runs, told.reason) == (number, False, reason)
        assert told.ended is not None
        assert each.ranker("shop").view.trial is None
    shown = service.rank([Candidate("a"), Candidate("b")], ranker="shop")
    assert shown.provenance.trial is None
    assert service.start_trial("shop") > number


def test_the_better_arm_is_found_and_the_numbers_are_those_of_a_slow_count() -> None:
    store, clock = open_temporary_store(), Clock()
    service = shop(store, clock, policy=PDGD(learning_rate=1.0))
    visit(service, clock, 100, k=2)
    service.set_mode("shop", "exploit")
    number = service.start_trial("shop", TrialSettings(kind="interleave", **SHORT))  # type: ignore[arg-type]
    visit(service, clock, 150, seed=1, k=4)
    told = service.stop_trial("shop", number)
    assert told.verdict == "A better"
    wins = {"A": 0, "B": 0}
    sums: dict[str, float] = {}
    for shown in store.read_impressions("shop", after=number):
        for event in store.find_events(query_id=shown.query_id):
            a, b = (each[shown.shown.index(event.object_id)] for each in shown.parts["trial"].owners)
            sums[shown.session_id] = sums.get(shown.session_id, 0.0) + a - b
    for total in sums.values():
        wins["A"] += total > 0
        wins["B"] += total < 0
    assert (told.outcomes[0].a, told.outcomes[0].b) == (wins["A"], wins["B"])
    assert told.outcomes[0].estimate == wins["A"] / (wins["A"] + wins["B"])
    assert 0.5 < told.outcomes[0].lower < told.outcomes[0].estimate < told.outcomes[0].upper
    assert [each.outcome for each in told.outcomes] == ["clicked"]
    assert told.points[-1].lower == told.outcomes[0].lower


def test_a_trial_is_counted_alone_and_as_far_as_its_lists_go(monkeypatch: pytest.MonkeyPatch) -> None:
    """What comes long after a trial costs its report nothing."""
    clock, read, counted = Clock(), [], [0]
    service = shop(open_temporary_store(), clock)
    first = service.start_trial("shop", ARMS["the caller's order"])
    visit(service, clock, 5)
    told = service.stop_trial("shop", first)
    service.start_trial("shop", ARMS["team draft"])
    visit(service, clock, 30, seed=1)
    lists, events = service.store.read_parts, service.store.read_events

    def spied_lists(extension: str, ranker: str, *, after: int) -> Any:
        read.append((extension, after))
        return lists(extension, ranker, after=after)

    def spied_events(*given: Any, **options: Any) -> Any:
        for event in events(*given, **options):
            counted[0] += 1
            yield event

    monkeypatch.setattr(service.store, "read_parts", spied_lists)
    monkeypatch.setattr(service.store, "read_events", spied_events)
    found = service.find_trial("shop", first)
    assert read == [("trial", first)]
    assert counted[0] <= 11, "ten lists, each with a click at most, and the first event that is too late"
    assert (found.trial, found.lists, found.runs) == (first, 10, False)
    assert told.trial == first
    with pytest.raises(HistoryError, match="had no trial 4711"):
        service.find_trial("shop", 4711)


def test_outcomes_of_a_holdout_by_hand() -> None:
    """Values are summed and cut, clicks that are too late do not count, and nothing is counted too early."""
    store, clock = open_temporary_store(), Clock(0.0)
    service = shop(store, clock)
    settings = TrialSettings(action="buy", max_value=50, outcome_seconds=20, session_seconds=5)
    number = service.start_trial("shop", settings)
    candidates = [Candidate(name) for name in "abcd"]

    def rank(session: str) -> tuple[str, list[str]]:
        shown = service.rank(candidates, ranker="shop", session_id=session)
        return shown.query_id, shown.object_ids

    (one, names), (two, _) = rank("anna"), rank("ben")
    service.record([UserEvent(one, names[1]), UserEvent(one, names[2], "buy", value=30)])
    service.record([UserEvent(one, names[1], "buy", value=40)])  # 70 in all: cut to 50
    clock.now = 4.0
    second, names = rank("anna")
    clock.now = 5.5
    third, names = rank("anna")  # more than 5 seconds after the first: it does not count
    service.record([UserEvent(third, names[0])])
    clock.now = 20.5
    service.record([UserEvent(two, names[0], "buy", value=9)])  # more than 20 seconds after the list
    trial = Trial.begun(store.read_decisions("shop", kinds=("trial",))[0])

    def sessions(now: float) -> dict[str, list[float]]:
        found = sessions_of(
            trial,
            rules_of(store, "shop", trial),
            [head for head, part, _ in store.read_parts("trial", "shop") if part.trial == number],
            store.read_events("shop"),
            now=now,
        )
        return {name: scores.tolist() for name, scores in found.scores.items()}

    assert sessions(24.9) == {"value": [], "clicked": []}
    assert sessions(25.0) == {
        "value": [25.0, 0.0],  # a mean over two lists
        "clicked": [0.5, 0.0],
    }
    del second


def test_a_fallback_stays_in_its_arm() -> None:
    store, clock = open_temporary_store(), Clock()
    service = shop(store, clock)
    service.start_trial("shop", TrialSettings(kind="interleave"))
    made = service.fall_back(
        RankRequest(ranker="shop", candidates=columns([Candidate("a"), Candidate("b")])), "slow"
    )
    service.publish(made)
    found = service.audit(made.response.query_id).impression
    part: TrialPart = found.parts["trial"]
    assert (part.arm, part.owners, found.fallback) == ("AB", (), "slow")
    assert service.replay(found.query_id).identical


def test_without_arm_b_its_lists_fall_back_and_others_do_not() -> None:
    """Another process does not have the policy of the other ranker."""
    store, clock = open_temporary_store(), Clock()
    service = make(store, clock, policies=[Remembering])
    service.create("shop", RankerSettings(window=10))
    service.create("other", RankerSettings(policy=Remembering()))
    service.start_trial("shop", TrialSettings(share=0.5, ranker="other"))
    poorer = make(store, clock, prefix="p")
    for number in range(12):
        shown = poorer.rank(
            [Candidate("a"), Candidate("b")], ranker="shop", session_id=str(number)
        ).provenance
        assert bool(shown.fallback) == (shown.arm == "B")
        assert not shown.fallback or shown.fallback == "trial: its arm B cannot be built"
    richer = make(store, clock, prefix="r", policies=[Remembering])
    arms = [richer.rank([Candidate("a")], ranker="shop", session_id=str(n)).provenance for n in range(12)]
    assert {each.arm for each in arms} == {"A", "B"}
    assert not any(each.fallback for each in arms)


def test_pinned_results_are_nobodys(store: Store) -> None:
    service = shop(store)
    service.start_trial("shop", TrialSettings(kind="interleave"))
    candidates = [
        Candidate(name, {"x": n}, pinned_at=2 if name == "c" else None) for n, name in enumerate("abcde")
    ]
    shown = service.rank(candidates, ranker="shop", k=3)
    found = service.audit(shown.query_id).impression
    assert [each[1] for each in found.parts["trial"].owners] == [0.0, 0.0]
    assert all(sum(owners) in (0.0, 1.0) for owners in zip(*found.parts["trial"].owners, strict=True))
    assert service.replay(shown.query_id).identical


def test_what_cannot_be_compared_is_refused_and_nothing_changes(store: Store) -> None:
    service = shop(store, fair=FairSettings())
    service.create("strict", RankerSettings(guardrails=GuardrailSettings(max_displacement=1)))
    service.create("off", mode="passthrough")
    before = len(store.read_decisions("shop"))
    refusals: dict[str, tuple[str, TrialSettings]] = {
        "cannot be interleaved": ("shop", TrialSettings(kind="interleave")),
        "under guardrails": ("strict", TrialSettings(kind="interleave")),
        "something else": ("shop", TrialSettings(ranker="shop")),
        "no ranker is called": ("shop", TrialSettings(ranker="nobody")),
        "in mode passthrough": ("off", TrialSettings()),
        "no policy": ("shop", TrialSettings(policy="nobody")),
    }
    for sentence, (ranker, settings) in refusals.items():
        with pytest.raises((RequestError, SettingError), match=sentence):
            service.start_trial(ranker, settings)
    with pytest.raises(RequestError, match="does not run"):
        service.stop_trial("shop", 1)
    assert len(store.read_decisions("shop")) == before
    service.start_trial("shop")
    with pytest.raises(RequestError, match="still runs: stop it first"):
        service.start_trial("shop")


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"kind": "ab"}, "kind: Expected one of holdout, interleave, found"),
        ({"share": 0}, "share: Expected a number from 0.01 to 0.99, found 0: choose a value"),
        ({"max_value": 5.0}, "action: Expected the name of an action beside max_value, found none"),
        ({"action": "buy"}, "max_value: Expected a number above 0 beside the action 'buy', found null"),
        (
            {"ranker": "a", "policy": "PDGD()"},
            "policy: Expected another ranker or another policy, found both",
        ),
        ({"shares": 0.1}, "Expected a setting of trial, found 'shares': did you mean 'share'"),
        ({"outcome_seconds": float("nan")}, "outcome_seconds: Expected a finite number from 0 to 31,622,400"),
    ],
)
def test_settings_of_a_trial_without_a_meaning_are_refused(
    settings: dict[str, object], sentence: str
) -> None:
    with pytest.raises(SettingError, match=sentence):
        read_settings(TrialSettings, settings)


def test_what_was_found_outlives_the_lists(store: Store) -> None:
    clock = Clock()
    service = shop(store, clock)
    service.create("other", RankerSettings(window=10))
    number = service.start_trial("shop", TrialSettings(ranker="other", **SHORT))  # type: ignore[arg-type]
    with pytest.raises(HistoryError, match="runs against 'other' as it was: stop it first"):
        service.retain("other", since=clock.now)
    visit(service, clock, 10)
    told = service.stop_trial("shop", number, reason="enough")
    clock.now += 1000
    visit(service, clock, 3, seed=1)
    assert service.retain("shop", since=clock.now - 60).entries > 0
    (kept,) = service.trials("shop")
    assert (kept.complete, kept.verdict, kept.outcomes) == (False, told.verdict, told.outcomes)
    running = service.start_trial("shop", TrialSettings(**SHORT))  # type: ignore[arg-type]
    visit(service, clock, 3, seed=2)
    service.flush("shop")
    clock.now += 1000
    visit(service, clock, 3, seed=3)
    so_far = service.trials("shop")[0]
    assert so_far.runs
    service.retain("shop", since=clock.now - 60)
    newest = service.trials("shop")[0]
    assert (newest.trial, newest.runs, newest.reason) == (running, False, "lists of its time were discarded")
    assert (newest.complete, newest.outcomes, newest.sessions) == (False, so_far.outcomes, so_far.sessions)
    assert [each.number for each in trials_of(store.read_decisions("shop"))] == [number, running]
    changed = service.start_trial("shop", TrialSettings(**SHORT))  # type: ignore[arg-type]
    visit(service, clock, 6, seed=4)
    clock.now += 1000
    service.configure("shop", structs.replace(service.settings("shop")))  # ends it
    visit(service, clock, 6, seed=5)
    so_far = service.trials("shop")[0]
    service.retain("shop", since=clock.now - 30)
    last = service.trials("shop")[0]
    assert (last.trial, last.reason, last.complete) == (changed, "the settings were changed", False)
    assert last.outcomes == so_far.outcomes


def every_list(lists: list[list[int]]) -> list[tuple[float, list[int], list[list[float]]]]:
    """All lists of team draft: chance, order, and owners of each position."""
    found = [(1.0, list[int](), list[list[float]]())]
    for _ in lists[0]:
        longer = []
        for chance, order, owners in found:
            picked = [sum(each[arm] for each in owners) for arm in (0, 1)]
            turns = [arm for arm in (0, 1) if picked[arm] == min(picked)]
            for arm in turns:
                best = next(doc for doc in lists[arm] if doc not in order)
                whose = [float(arm == each) for each in (0, 1)]
                longer.append((chance / len(turns), [*order, best], [*owners, whose]))
        found = longer
    return found


@pytest.mark.parametrize("clicked", [(0,), (1,), (0, 2), (0, 1, 2)])
def test_nobody_is_ahead_on_average_if_people_click_positions_whatever_stands_there(
    clicked: tuple[int, ...],
) -> None:
    """Over all interleaved lists of two rankers: also for values far beyond what they are cut to."""
    settings = TrialSettings(
        kind="interleave",
        action="buy",
        max_value=0.1,
        outcome_seconds=10.0,
        session_seconds=10.0,
    )
    trial, every = Trial(number=1, at=0.0, settings=settings, rules=1), every_list([[0, 1, 2], [1, 2, 0]])
    lists, events = [], []
    for number, (_, order, owners) in enumerate(every, start=1):
        a, b = (tuple(each) for each in zip(*owners, strict=True))
        shown = [f"d{doc}" for doc in order]
        arm = TrialPart(trial=1, arm="AB", owners=(a, b))
        lists += [  # three lists of each session: the mean must not be beyond the bound by rounding
            ImpressionHead(
                seq=3 * number + n,
                at=0.0,
                query_id="",
                client_id="",
                session_id=f"{number}",
                shown=shown,
                parts={"trial": arm},
                ranker="shop",
                teaches=True,
            )
            for n in range(3)
        ]
        events += [
            Event(
                at=1.0,
                ranker="shop",
                event_id="",
                query_id="",
                object_id=shown[row],
                action=action,
                verdict="accepted",
                list_seq=each.seq,
                value=1000.0,
            )
            for each in lists[-3:]
            for row in clicked
            for action in ("click", "buy")
        ]
    found = sessions_of(trial, RankerSettings(), lists, events, now=100.0)
    chances = np.array([chance for chance, _, _ in every])
    assert chances.sum() == pytest.approx(1.0)
    for outcome, scores in found.scores.items():
        assert np.abs(scores).max() > 0.01, outcome
        assert chances @ scores == pytest.approx(0.0, abs=1e-12), outcome
        sequence, _ = sequence_of(trial, found, outcome, 0.95)
        assert len(sequence) == np.count_nonzero(scores) if outcome == "clicked" else len(every)


def test_the_policy_of_arm_b_is_logged_with_every_setting(store: Store) -> None:
    """A default that changes one day must not change what was compared."""
    service = shop(store)
    service.start_trial("shop", TrialSettings(policy="ranknet@paper"))
    (begun,) = store.read_decisions("shop", kinds=("trial",))
    assert begun.body["settings"]["policy"] == write_name(read_policy("ranknet@paper"), defaults=True)
