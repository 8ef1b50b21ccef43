"""However often the past is redefined: every way to a model gives what the plain fold gives, to the bit."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

from rankloop.candidate import Candidate
from rankloop.errors import RequestError
from rankloop.policies import PDGD, PairRank, Posterior
from rankloop.service import HistoryError, PromiseSettings, RankerSettings
from rankloop.service.core import learned_part
from rankloop.service.core.checkpoint import checkpoint_name
from rankloop.service.core.configuration import Configuration
from rankloop.service.core.extension import Registry
from rankloop.service.core.fold import Fold
from rankloop.service.core.fold_part import FoldPart
from rankloop.service.core.history import History
from rankloop.service.core.past_decisions import END
from rankloop.service.core.ranker_settings import MODES
from rankloop.service.extensions.registry import load_registry
from rankloop.service.operations import jobs
from rankloop.service.store import open_temporary_store, write
from tests.support.life import Clock, live, make, same
from tests.support.limits import keep_snapshots_every
from tests.support.plain import PlainPast

frequent_snapshots = keep_snapshots_every(3)

Step: TypeAlias = tuple[str, int]
BASE = RankerSettings(window=50.0)
RULES = (
    BASE,
    structs.replace(BASE, window=80.0, learn_late=True),
    structs.replace(BASE, policy=PairRank(certainty=Posterior(0.8))),
    structs.replace(BASE, policy=PDGD(), scaling="running"),
    structs.replace(BASE, promise=PromiseSettings(share=0.5)),
)
KINDS = ("live", "forget", "roll_back", "relearn", "configure", "mode", "retire", "lose", "restart")
steps = st.lists(st.tuples(st.sampled_from(KINDS), st.integers(0, 40)), min_size=4, max_size=14)


class Past:
    """A ranker whose past is redefined again and again."""

    def __init__(self) -> None:
        self.store, self.clock = open_temporary_store(), Clock()
        self.service = make(self.store, self.clock)
        self.service.create("shop", BASE)
        self.lives = 0
        self.live(6)

    def live(self, which: int) -> None:
        self.lives += 1
        live(self.service, self.clock, rounds=1 + which % 8, seed=self.lives)

    def forget(self, which: int) -> None:
        events = [each.event_id for each in self.store.read_events("shop")]
        self.service.forget("shop", {events[which % len(events)], events[which * 7 % len(events)]})

    def roll_back(self, which: int) -> None:
        versions = [version for version, _ in self.service.versions("shop")]
        self.service.rollback("shop", to=versions[which % len(versions)])

    def relearn(self, which: int) -> None:
        self.service.configure("shop", RULES[which % len(RULES)], relearn=True)

    def configure(self, which: int) -> None:
        self.service.configure("shop", RULES[which % len(RULES)])

    def mode(self, which: int) -> None:
        self.service.set_mode("shop", MODES[which % len(MODES)])

    def retire(self, which: int) -> None:
        names = self.service.schema("shop")
        if len(names) > 1:
            self.service.retire_features("shop", [names[which % len(names)]])

    def lose(self, which: int) -> None:
        """The oldest snapshots are gone, and what was left of a refold."""
        seqs = [seq for seq, _ in self.store.list_snapshots("shop")]
        write(self.store, lambda job: job.delete_snapshots("shop", before=seqs[which % len(seqs)]))
        write(self.store, lambda job: job.delete_snapshots(checkpoint_name("shop"), before=2**62))

    def restart(self, _: int) -> None:
        self.service = make(self.store, self.clock, prefix=f"life{self.lives}-")

    def do(self, steps: Sequence[Step]) -> None:
        for kind, which in steps:
            with contextlib.suppress(RequestError, HistoryError):  # such as a version of another policy
                getattr(self, kind)(which)


class WithoutParts(Registry):
    """Extensions that decide what they decide, and follow no log."""

    def fold_parts(self, _: Configuration) -> dict[str, FoldPart]:
        return {}


def alike(one: Fold, other: Fold) -> bool:
    """In everything that is kept of a fold, to the bit."""
    mine, theirs = one.snapshot(), other.snapshot()
    return mine.body == theirs.body and mine.seq == theirs.seq and same(mine.arrays, theirs.arrays)


@pytest.mark.parametrize("most_open", [2, 100])
@settings(max_examples=10, deadline=None)
@given(steps=steps)
def test_every_way_to_a_model_gives_what_the_plain_fold_gives(most_open: int, steps: Sequence[Step]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(learned_part, "MAX_OPEN", most_open)
        compare_ways(steps)


def compare_ways(steps: Sequence[Step]) -> None:
    past = Past()
    past.do(steps)
    past.service.ranker("shop").catch_up()
    known, store = past.service.ranker("shop").history.policy_kinds, past.store
    plain = PlainPast("shop", store, load_registry(), known)
    expected = plain.fold()
    assert alike(past.service.ranker("shop").fold, expected), "the learner's"
    assert alike(History("shop", store, load_registry(), known).newest(), expected), "from what was kept"
    assert alike(History("shop", store, load_registry(), known, uses_snapshots=False).newest(), expected), (
        "from the log"
    )
    history = History("shop", store, load_registry(), known)
    rng = np.random.default_rng(len(steps))
    forgotten = frozenset(history.decisions().forgotten(2**62))
    for version, _ in past.service.versions("shop")[:: int(rng.integers(1, 4))]:
        for without in {frozenset[str](), forgotten}:
            found, slow = history.model(version, without=without), plain.model(version, without=without)
            assert (found.version, found.lists, found.width) == (slow.version, slow.lists, slow.width)
            assert same(found.policy.state(), slow.policy.state())
            assert same(found.scale.state(), slow.scale.state())


def test_the_last_of_many_jobs_folds_no_more_entries_than_the_first() -> None:
    """A refold passes the jobs before it once, whatever they were; so that operators can ask for many."""
    past, folded = Past(), list[int]()
    past.live(7)
    for number in range(8):
        past.relearn(number % 2)
        past.forget(3 * number)
        report = past.service.jobs()[0]
        assert report.done
        folded.append(report.folded)
    entries = len(list(past.store.read_entries("shop")))
    assert max(folded) <= entries + jobs.NEAR


@pytest.mark.parametrize("kind", ["forget", "retire"])
@pytest.mark.parametrize("rules", [BASE, RULES[-1]], ids=["plain", "promise"])
def test_lists_whose_window_closes_with_a_redefinition_are_learned_by_it(
    kind: str, rules: RankerSettings
) -> None:
    """A job asks, time passes, and its decision is the first entry after the windows: nothing waits on."""
    past = Past()
    past.service.configure("shop", rules)
    past.live(7)
    past.clock.now += 60.0
    ranker, store = past.service.ranker("shop"), past.store
    first = next(iter(store.read_events("shop"))).event_id
    bodies: dict[str, dict[str, Any]] = {
        "forget": {"events": [first]},
        "retire": {"names": ["age"], "columns": [0]},
    }
    ranker.decide(kind, **bodies[kind])
    ranker.catch_up()
    expected = History(
        "shop", store, load_registry(), ranker.history.policy_kinds, uses_snapshots=False
    ).newest()
    assert not expected.learned.open
    assert alike(ranker.fold, expected)


def test_learning_again_by_other_settings_does_not_depend_on_the_parts_of_extensions() -> None:
    """A promise wants every list, and a list is when an earlier one falls due: also for a rollback to it."""
    past = Past()
    past.service.configure("shop", RULES[-1])
    past.live(7)
    past.clock.now += 60.0
    past.service.rank([Candidate("a", {"age": 1.0}), Candidate("b", {"age": 2.0})], ranker="shop")
    past.service.tick()
    past.service.rollback("shop", to=past.service.model("shop").version)
    past.live(7)
    history, again = past.service.ranker("shop").history, structs.replace(RULES[-1], scaling="running")
    spec = history.spec(END, settings=again)
    found = history.rebuild(spec)
    bare = History("shop", past.store, WithoutParts(load_registry().extensions), history.policy_kinds)
    expected = bare.rebuild(spec)
    assert [*found.extension_parts] == ["promise"]
    assert found.learned.lists > 0
    mine, theirs = found.learned.snapshot(), expected.learned.snapshot()
    assert mine.body == theirs.body
    assert same(mine.arrays, theirs.arrays)


def test_forgetting_what_came_last_folds_only_what_came_since() -> None:
    past = Past()
    for _ in range(12):
        past.live(7)
    newest = [each.event_id for each in past.store.read_events("shop")][-1]
    past.service.forget("shop", [newest])
    known, store = past.service.ranker("shop").history.policy_kinds, past.store
    assert past.service.jobs()[0].folded < len(list(store.read_entries("shop"))) / 4
    assert alike(past.service.ranker("shop").fold, PlainPast("shop", store, load_registry(), known).fold())
