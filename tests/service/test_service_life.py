"""A whole life of a service, with everything that can go wrong: the model is the fold of its log, always.

Every policy lives some lives that are drawn at random, and are the same each time. With `RANKLOOP_SLOW=1` in
the environment there are many and longer ones, and one that fails is made as short as possible.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test
from msgspec import structs

from rankloop.candidate import Candidate
from rankloop.errors import RequestError
from rankloop.policies import PDGD, GradedItemPolicy, Policy
from rankloop.policies.policy_names import read_policy
from rankloop.scorers import MLP
from rankloop.service import (
    GradeSettings,
    GuardrailSettings,
    HistoryError,
    RankerSettings,
    RankResponse,
    UserEvent,
)
from rankloop.service.service_facade import ServiceFacade
from rankloop.service.store import SqliteStore
from tests.support.faults import FaultyStore, attempt, settle
from tests.support.internals import catch_up, copied, every_policy, folded_anew
from tests.support.life import Clock, Ids, same, state
from tests.support.limits import OpenLists, keep_snapshots_every

frequent_snapshots = keep_snapshots_every(3)

SLOW = bool(os.environ.get("RANKLOOP_SLOW"))
QUICK_LIVES = settings(max_examples=14, stateful_step_count=30, phases=[Phase.generate])
LONG_LIVES = settings(max_examples=150, stateful_step_count=50)
LIVES = settings(
    LONG_LIVES if SLOW else QUICK_LIVES,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    print_blob=False,
)
MEMORY = Path("/dev/shm")  # where there is such a thing, hundreds of lives need not wait for a disk

POLICIES = [
    replace(each, top_grade=5.0) if isinstance(each, GradedItemPolicy) else each  # of every ranker's scale
    for each in (*every_policy(), PDGD(learning_rate=0.1, scorer=MLP(4)))
]
RANKERS = ("shop", "other")
NAMES = ("age", "bm25", "clicks", "price", "stars")
MODES = ("explore", "exploit", "frozen", "passthrough", "shadow")
STEPS = (1.0, 30.0, 100.0)
JUMPS = (3600.0, -3600.0, 40.0, -40.0)


def fitted(rules: RankerSettings) -> RankerSettings:
    """The same rules, under which the policy accepts the highest grade there is."""
    policy: Any = read_policy(rules.policy)
    if not hasattr(policy, "top_grade"):
        return rules
    return rules.with_policy(replace(policy, top_grade=rules.grade_scale.highest))


rankers = st.sampled_from(RANKERS)
some_grades = st.builds(
    GradeSettings,
    weights=st.just({"star": 1.0, "click": 0.5, "flag": -3.0}),
    highest=st.sampled_from([1.0, 5.0]),
    unrated=st.sampled_from(["zero", "unknown"]),
)
some_rules = st.builds(
    RankerSettings,
    policy=st.sampled_from(POLICIES),
    scaling=st.sampled_from(["query", "running"]),
    window=st.sampled_from([20.0, 50.0, 80.0]),
    learn_late=st.booleans(),
    guardrails=st.sampled_from([None, None, GuardrailSettings(max_displacement=2)]),
    grades=st.none() | some_grades,
).map(fitted)
ratings = st.sampled_from([("star", 0.0), ("star", 2.5), ("star", 5.0), ("star", None), ("flag", None)])


class ServiceLife(RuleBasedStateMachine):
    """Two rankers in one file, to which anything may happen."""

    policy: Policy  # of the first ranker, at first

    def __init__(self) -> None:
        super().__init__()
        where = MEMORY if MEMORY.is_dir() else None
        self.folder = Path(tempfile.mkdtemp(prefix="rankloop-life-", dir=where))
        self.clock, self.ids, self.files, self.ratings = Clock(), Ids(), Ids("log"), Ids("rating")
        self.rng = np.random.default_rng(0)
        self.lists: list[RankResponse] = []  # that were written down
        self.unsure: list[RankResponse] = []  # that perhaps were not
        self.replayable = 0  # the number of the first list after the last time that some were discarded
        self.versions: dict[str, list[int]] = {name: [] for name in RANKERS}
        self.steps = 0
        self.path = self.folder / self.files()
        self.open()

    def open(self) -> None:
        self.store = FaultyStore(self.path)
        self.service = ServiceFacade(self.store, clock=self.clock, ids=self.ids)

    @initialize(most_open=st.sampled_from([2, 100]))
    def limit(self, most_open: int) -> None:
        self.most_open = OpenLists(most_open)

    @initialize(rules=some_rules, others=some_rules)
    def begin(self, rules: RankerSettings, others: RankerSettings) -> None:
        self.service.create("shop", fitted(rules.with_policy(self.policy)))
        self.service.create("other", others)

    # lists and clicks

    def candidates(self, n: int, names: Sequence[str], pin: int) -> list[Candidate]:
        values = self.rng.random((n, len(names))).tolist()
        features = [dict(zip(names, row, strict=True)) for row in values]
        pins = {pin % n: 1 + (pin // n) % n} if pin else {}
        return [Candidate(f"d{row}", each, pins.get(row)) for row, each in enumerate(features)]

    @rule(ranker=rankers, n=st.integers(1, 6), names=st.sets(st.sampled_from(NAMES)), pin=st.integers(0, 9))
    def show(self, ranker: str, n: int, names: set[str], pin: int) -> None:
        shown = self.service.rank(self.candidates(n, sorted(names), pin), ranker=ranker, k=4)
        settle(self.store)
        assert shown.provenance.fallback is None, shown.provenance.fallback
        self.lists.append(shown)

    @rule(ranker=rankers, n=st.integers(2, 6))
    def show_without_features(self, ranker: str, n: int) -> None:
        self.show(ranker, n, set(), 0)

    @rule(
        ranker=rankers,
        names=st.sets(st.sampled_from(NAMES)),
        positions=st.lists(st.integers(1, 4), min_size=1, max_size=4),
        pause=st.sampled_from(STEPS),
    )
    def be_used(self, ranker: str, names: set[str], positions: list[int], pause: float) -> None:
        """Some lists are shown and clicked, one after the other, and in between time passes."""
        for position in positions:
            self.show(ranker, 5, names, 0)
            self.click(1, position, False)
            self.grade(1, position + 1, ("star", float(position)), False)
            self.wait(pause, True)

    @rule(back=st.integers(1, 5), position=st.integers(1, 4), twice=st.booleans())
    def click(self, back: int, position: int, twice: bool) -> None:
        if len(self.lists) >= back:
            shown = self.lists[-back]
            event = UserEvent(shown.query_id, shown.object_ids[(position - 1) % len(shown.object_ids)])
            self.service.record([event, event] if twice else [event])

    @rule(back=st.integers(1, 5), position=st.integers(1, 4), said=ratings, twice=st.booleans())
    def grade(self, back: int, position: int, said: tuple[str, float | None], twice: bool) -> None:
        """Also a second time, and after the list is closed; ignored where grades say nothing."""
        if len(self.lists) >= back:
            shown, (action, value) = self.lists[-back], said
            result = shown.object_ids[(position - 1) % len(shown.object_ids)]
            event = UserEvent(shown.query_id, result, action, self.ratings(), value=value)
            self.service.record([event, event] if twice else [event])

    @rule(back=st.integers(1, 3))
    def click_in_the_dark(self, back: int) -> None:
        unsure = self.unsure[-back].query_id if len(self.unsure) >= back else "never shown"
        verdicts = {each.verdict for each in self.service.record([UserEvent(unsure, "d0")])}
        assert verdicts <= {"accepted", "orphan", "late", "not_shown", "duplicate"}

    # time

    @rule(seconds=st.sampled_from(STEPS), ticks=st.booleans())
    def wait(self, seconds: float, ticks: bool) -> None:
        self.clock.now += seconds
        if ticks:
            self.service.tick()

    @rule(seconds=st.sampled_from(JUMPS))
    def the_clock_jumps(self, seconds: float) -> None:
        self.clock.now += seconds

    # decisions

    @rule(ranker=rankers)
    def flush(self, ranker: str) -> None:
        self.service.flush(ranker)

    @rule(ranker=rankers, mode=st.sampled_from(MODES))
    def change_mode(self, ranker: str, mode: Any) -> None:
        self.service.set_mode(ranker, mode)

    @rule(ranker=rankers, rules=some_rules, again=st.booleans())
    def configure(self, ranker: str, rules: RankerSettings, again: bool) -> None:
        with_reason(partial(self.service.configure, ranker, rules, relearn=again))

    @rule(ranker=rankers, seconds=st.sampled_from([5.0, 20.0, 80.0]), late=st.booleans())
    def change_window(self, ranker: str, seconds: float, late: bool) -> None:
        rules = structs.replace(self.service.settings(ranker), window=seconds, learn_late=late)
        with_reason(partial(self.service.configure, ranker, rules))

    @rule(ranker=rankers, which=st.integers(0, 20))
    def roll_back(self, ranker: str, which: int) -> None:
        versions = self.versions[ranker]
        if versions:
            with_reason(partial(self.service.rollback, ranker, to=versions[which % len(versions)]))

    @rule(ranker=rankers, which=st.integers(0, 20))
    def forget(self, ranker: str, which: int) -> None:
        events = [event.event_id for event in self.store.read_events(ranker) if event.event_id]
        if events:
            with_reason(partial(self.service.forget, ranker, [events[which % len(events)]]))

    @rule(ranker=rankers, age=st.sampled_from([0.0, 10.0, 60.0]))
    def retain(self, ranker: str, age: float) -> None:
        with_reason(partial(self.service.retain, ranker, since=self.clock.now - age))
        self.replayable = len(self.lists)

    # faults

    @rule(ranker=rankers, which=st.integers(0, 4), reads=st.integers(1, 3))
    def a_list_cannot_be_read(self, ranker: str, which: int, reads: int) -> None:
        self.store.faults.reads = reads
        attempt(self.acts(ranker)[which])
        self.store.faults.reads = 0

    @rule(ranker=rankers, which=st.integers(0, 6))
    def a_commit_fails(self, ranker: str, which: int) -> None:
        settle(self.store)
        self.store.faults.commits = 1
        attempt(self.acts(ranker)[which])
        self.store.faults.commits = 0
        settle(self.store)

    def acts(self, ranker: str) -> Sequence[Callable[[], object]]:
        """What can be done to a ranker while the store is in trouble."""
        return (
            lambda: self.service.flush(ranker),
            self.service.tick,
            lambda: self.click(1, 2, False),
            lambda: self.service.configure(ranker, self.service.settings(ranker), relearn=True),
            lambda: self.service.set_mode(ranker, "explore"),
            lambda: self.service.retain(ranker, since=self.clock.now - 100.0),
            lambda: self.show_unsurely(ranker),
        )

    def show_unsurely(self, ranker: str) -> None:
        name = f"new{len(self.unsure)}"
        self.unsure.append(self.service.rank(self.candidates(3, ("age", name), 0), ranker=ranker))

    # the end of a process

    @rule()
    def restart(self) -> None:
        self.service.close()
        self.store.close()
        self.open()

    @rule()
    def be_killed(self) -> None:
        """What is on the disk at this moment is all that the next process has."""
        settle(self.store)
        crashed, self.path = self.store, copied(self.path, self.folder / self.files())
        self.open()
        crashed.close()

    # what must hold

    @invariant()
    def every_way_to_the_model_leads_to_the_same(self) -> None:
        self.steps += 1
        if self.steps % 4 == 0:
            self.compare()

    def compare(self) -> None:
        for name in self.service.rankers():
            catch_up(self.service, name)
            model, here = self.service.model(name), state(self.service, name)
            version, lists, anew = folded_anew(self.service, name)
            assert same(anew, here), "the fold of what is kept of the log, without any snapshot"
            assert (version, lists) == (model.version, model.lists)
            if model.version not in self.versions[name]:
                self.versions[name].append(model.version)
        settle(self.store)
        with SqliteStore(copied(self.path, self.folder / self.files())) as store:
            second = ServiceFacade(store, clock=self.clock, ids=self.ids)
            for name in self.service.rankers():
                assert second.model(name).version == self.service.model(name).version
                assert same(state(second, name), state(self.service, name)), "the fold from a snapshot"
                assert second.mode(name) == self.service.mode(name)
                assert second.schema(name) == self.service.schema(name)
        for shown in self.lists[self.replayable :][-2:]:
            assert self.service.replay(shown.query_id).identical

    def teardown(self) -> None:
        try:
            self.compare()
            self.service.health()
        finally:
            self.store.close()
            shutil.rmtree(self.folder)
            if hasattr(self, "most_open"):
                self.most_open.undo()


def with_reason(act: Callable[[], object]) -> None:
    """Do what may be refused: because it was discarded, is of another kind, or a job is not done."""
    with contextlib.suppress(RequestError, HistoryError):
        act()


@pytest.mark.parametrize(
    ("number", "policy"),
    list(enumerate(POLICIES)),
    ids=[f"{n}-{type(each).__name__}" for n, each in enumerate(POLICIES)],
)
def test_whatever_happens_the_model_is_the_fold_of_its_log(number: int, policy: Policy) -> None:
    lives = seed(number)(type("Life", (ServiceLife,), {"policy": policy}))
    with np.errstate(invalid="ignore"):  # BLAS may say so of finite numbers, now and then
        run_state_machine_as_test(lives, settings=LIVES)
