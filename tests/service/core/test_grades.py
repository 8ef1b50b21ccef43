"""Grades in service: how events become them, and that only the log decides what is learned."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import cycle
from pathlib import Path

import numpy as np
import pytest
from msgspec import structs

from rankloop.candidate import Candidate
from rankloop.errors import SettingError
from rankloop.policies import PDGD, GradedItemPolicy, ListNet, Policy, ThompsonItems, UCBItems
from rankloop.policies.policy_names import POLICIES
from rankloop.service import GradeSettings, RankerSettings, RankResponse, UserEvent
from rankloop.service.core.grades import Unrated
from rankloop.service.service_facade import ServiceFacade
from rankloop.service.store import SqliteStore, Store, open_temporary_store
from rankloop.service.store.log_archive import export_log, import_log
from rankloop.types import State
from tests.support.internals import folded_anew, small
from tests.support.life import Clock, make, same, some_candidates, state
from tests.support.limits import keep_snapshots_every
from tests.support.own_policies import Noting

frequent_snapshots = keep_snapshots_every(3)


def for_five_stars(kind: type[Policy]) -> Policy:
    policy = small(kind)
    return replace(policy, top_grade=5.0) if isinstance(policy, GradedItemPolicy) else policy


GRADED = [
    Noting(),
    *(for_five_stars(kind) for _, kind in sorted(POLICIES.items()) if "grades" in kind.signals),
]
GRADES = GradeSettings(weights={"star": 1.0, "buy": 2.0, "flag": -9.0}, highest=5.0)
STARS = RankerSettings(policy=Noting(), grades=GRADES, window=1000.0)
LISTS, SHOWN = 12, 5


def serve(store: Store, rules: RankerSettings, clock: Clock | None = None) -> ServiceFacade:
    service = make(store, clock, policies=[Noting])
    service.create("shop", rules)
    return service


def graded(rules: RankerSettings, *said: tuple[int, str, float | None]) -> tuple[list[float], list[bool]]:
    """What the policy is told of a list in which this was done, by position, action and value."""
    service = serve(open_temporary_store(), rules)
    shown = service.rank([Candidate(name, {"x": 1.0}) for name in "abcde"], ranker="shop")
    for number, (position, action, value) in enumerate(said):
        name = shown.object_ids[position - 1]
        event = UserEvent(shown.query_id, name, action, f"e{number}", value=value)
        assert service.record([event])[0].verdict == "accepted"
    service.flush("shop")
    told = state(service)
    return told["grades"].tolist(), told["known"].tolist()


@pytest.mark.parametrize(
    ("said", "implicit", "explicit"),
    [
        ([(2, "star", 4.0)], "040", " 4"),
        ([(2, "star", 4.0), (2, "star", 1.0)], "010", " 1"),  # the last one counts
        ([(2, "star", 1.0), (2, "buy", None)], "030", " 3"),  # others are added
        ([(2, "star", 1.0), (2, "buy", 7.0)], "050", " 5"),  # up to the highest
        ([(3, "star", 4.0), (1, "star", 2.0)], "2040", "2 4"),
        ([(4, "flag", None)], "00000", "   0"),  # a lone thumb down is known
        ([(4, "star", 0.0)], "00000", "   0"),
        ([(1, "star", 5.0), (1, "flag", 1.0)], "00", "0"),
        ([(5, "star", -2.0)], "00000", "    0"),
    ],
)
def test_what_was_done_adds_up_to_grades(
    said: Sequence[tuple[int, str, float | None]], implicit: str, explicit: str
) -> None:
    """Written by position, and a space is unknown; implicitly, one result further than the last is known."""

    def read(text: str) -> tuple[list[float], list[bool]]:
        told = text.ljust(SHOWN)
        return [float(each.strip() or 0) for each in told], [each != " " for each in told]

    assert graded(STARS, *said) == read(implicit)
    assert graded(structs.replace(STARS, grades=structs.replace(GRADES, unrated="unknown")), *said) == read(
        explicit
    )


def test_zeros_and_ones_read_implicitly_teach_what_clicks_teach() -> None:
    def learned(rules: RankerSettings) -> State:
        service = serve(open_temporary_store(), rules)
        rng = np.random.default_rng(0)
        for _ in range(20):
            shown = service.rank(some_candidates(rng), ranker="shop", k=5)
            service.record([UserEvent(shown.query_id, shown.object_ids[int(rng.integers(5))])])
            service.flush("shop")
        return state(service)

    clicks = RankerSettings(policy=Noting())
    assert same(
        learned(clicks), learned(structs.replace(clicks, grades=GradeSettings(weights={"click": 1.0})))
    )


def test_who_learns_from_clicks_goes_on_to_do_so() -> None:
    service = serve(open_temporary_store(), structs.replace(STARS, policy=PDGD()))
    shown = service.rank(some_candidates(np.random.default_rng(0)), ranker="shop")
    service.record([UserEvent(shown.query_id, shown.object_ids[3], "star", value=5.0)])
    service.flush("shop")
    assert service.model("shop").lists == 0
    shown = service.rank(some_candidates(np.random.default_rng(1)), ranker="shop")
    service.record([UserEvent(shown.query_id, shown.object_ids[3])])
    service.flush("shop")
    assert service.model("shop").lists == 1


class Judged(ListNet):
    """A policy that learns from grades alone."""

    signals = ("grades",)  # type: ignore[assignment]  # it takes fewer than what it extends


def test_a_policy_that_needs_grades_is_refused_without_them() -> None:
    service = make(open_temporary_store(), policies=[Judged])
    with pytest.raises(SettingError, match=r"Judged learns from grades.*only clicks: say in grades"):
        service.create("shop", RankerSettings(policy=Judged()))
    service.create("shop", RankerSettings(policy=Judged(), grades=GRADES))


@pytest.mark.parametrize("kind", [ThompsonItems, UCBItems])
def test_a_policy_whose_scale_ends_below_that_of_the_ranker_is_refused(kind: type[Policy]) -> None:
    rules = RankerSettings(policy=kind(), grades=GradeSettings(weights={"star": 1.0}, highest=5.0))
    with pytest.raises(SettingError, match=rf"{kind.__name__} cannot learn.*\(top_grade=5\)"):
        make(open_temporary_store()).create("shop", rules)


def ratings(rng: np.random.Generator) -> list[tuple[int, UserEvent]]:
    """Many, some of the same result, each with the list it is about in place of an id; as they were sent."""
    said = []
    for number in range(6 * LISTS):
        action = ("star", "buy", "flag")[int(rng.choice(3, p=[0.8, 0.1, 0.1]))]
        result, value = int(rng.integers(SHOWN)), float(rng.integers(6))
        event = UserEvent("q", str(result), action, f"e{number}", value=value)
        said.append((int(rng.integers(LISTS)), event))
    return said


def shuffled(said: Sequence[tuple[int, UserEvent]], rng: np.random.Generator) -> list[tuple[int, UserEvent]]:
    """In another order, except that of one action on one result the last one stays the last; some twice."""
    last = {(at, each.object_id, each.action): number for number, (at, each) in enumerate(said)}
    kept = set(last.values())
    early = [each for number, each in enumerate(said) if number not in kept]
    late = [said[number] for number in sorted(kept)]
    first, then = (rng.permutation(len(each)).tolist() for each in (early, late))
    return [*(early[n] for n in first), *(late[n] for n in then), *(late[n] for n in then[::3])]


def about(shown: RankResponse, event: UserEvent) -> UserEvent:
    """A rating of a result of this list."""
    return replace(event, query_id=shown.query_id, object_id=shown.object_ids[int(event.object_id)])


@pytest.mark.parametrize(
    ("policy", "unrated"),
    list(zip(GRADED, cycle(["unknown", "zero"]))),
    ids=lambda each: getattr(each, "name", each),
)
def test_late_repeated_and_shuffled_grades_and_a_restart_leave_the_same_weights(
    tmp_path: Path, policy: Policy, unrated: Unrated
) -> None:
    rules = structs.replace(STARS, policy=policy, grades=structs.replace(GRADES, unrated=unrated))
    said = ratings(np.random.default_rng(1))

    def live(path: Path, events: Sequence[tuple[int, UserEvent]], *, restart: bool) -> State:
        clock = Clock()
        store = SqliteStore(path)
        service = serve(store, rules, clock)
        rng = np.random.default_rng(2)
        lists = []
        for number in range(LISTS):  # the same lists in every life: nothing is learned in between
            shown = service.rank(some_candidates(rng, 7), ranker="shop", k=SHOWN, session_id=str(number))
            lists.append(shown)
            clock.now += 1.0
        for number in range(0, len(events), 9):
            service.record([about(lists[at], event) for at, event in events[number : number + 9]])
            if restart and number % 27 == 0:
                service.close()
                store.close()
                store = SqliteStore(path)
                service = make(store, clock, f"after {number} ", policies=[Noting])
        clock.now += rules.window
        name = lists[0].object_ids[0]
        (late,) = service.record([UserEvent(lists[0].query_id, name, "star", "late", value=5.0)])
        assert late.verdict == "late"
        service.flush("shop")
        found = state(service)
        assert service.health().ok
        assert service.model("shop").lists >= LISTS - 1
        assert same(folded_anew(service)[2], found), "the fold without a snapshot"
        assert service.replay(lists[-1].query_id).identical
        after = service.rank(some_candidates(rng, 7), ranker="shop", k=SHOWN)
        assert after.provenance.fallback is None
        assert service.replay(after.query_id).identical
        assert service.explain(after.query_id, *after.object_ids[:2]).above == after.object_ids[0]
        export_log(store, path.with_suffix(".jsonl"))
        copy = open_temporary_store()
        import_log(path.with_suffix(".jsonl"), copy)
        assert same(state(make(copy, policies=[Noting])), found), "the log as a file"
        store.close()
        return found

    plain = live(tmp_path / "plain.db", said, restart=False)
    other = live(tmp_path / "other.db", shuffled(said, np.random.default_rng(3)), restart=True)
    assert same(plain, other)


def test_a_lone_thumb_down_teaches() -> None:
    service = serve(
        open_temporary_store(), structs.replace(STARS, grades=structs.replace(GRADES, unrated="unknown"))
    )
    scores = []
    for value in (5.0, 0.0):
        shown = service.rank([Candidate("a", {"x": 1.0}), Candidate("b", {"x": 0.0})], ranker="shop")
        assert service.record([UserEvent(shown.query_id, "a", "star", value=value)])[0].verdict == "accepted"
        service.flush("shop")
        scores.append(float(state(service)["parameters"][0]))
    assert service.model("shop").lists == 2
    assert scores[0] > scores[1] > 0


def test_late_grades_teach_on_request() -> None:
    service = serve(
        open_temporary_store(),
        structs.replace(STARS, learn_late=True, grades=structs.replace(GRADES, unrated="unknown")),
    )
    shown = service.rank([Candidate(name, {"x": 1.0}) for name in "ab"], ranker="shop")
    service.flush("shop")
    for value in (4.0, 2.0):
        assert service.record([UserEvent(shown.query_id, "b", "star", value=value)])[0].verdict == "late"
        service.flush("shop")
        assert state(service)["grades"].max() == value
    assert service.model("shop").lists == 2


def test_a_grade_of_a_pinned_result_alone_teaches_nothing() -> None:
    service = serve(open_temporary_store(), STARS)
    shown = service.rank([Candidate("a", {"x": 1.0}, 1), Candidate("b", {"x": 0.0})], ranker="shop")
    service.record([UserEvent(shown.query_id, "a", "star", value=5.0)])
    service.flush("shop")
    assert service.model("shop").lists == 0
