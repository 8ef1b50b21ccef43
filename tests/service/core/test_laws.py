"""Whatever happens, in whatever order: the model is the fold of its log."""

from __future__ import annotations

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from rankloop.candidate import Candidate
from rankloop.policies import PDGD, PairRank, Posterior
from rankloop.service import GuardrailSettings, RankerSettings, RankResponse, UserEvent
from rankloop.service.core.ranker_settings import MODES, Mode
from rankloop.service.service_facade import ServiceFacade
from rankloop.service.store import open_temporary_store
from rankloop.types import State
from tests.support.life import Clock, Ids, same, some_candidates, state
from tests.support.limits import OpenLists, keep_snapshots_every
from tests.support.plain import plain_fold

frequent_snapshots = keep_snapshots_every(3)

RULES = (
    RankerSettings(window=50.0),
    RankerSettings(window=80.0, policy=PairRank(certainty=Posterior(0.8)), learn_late=True),
    RankerSettings(window=20.0, policy=PDGD()),
    RankerSettings(window=50.0, scaling="running", guardrails=GuardrailSettings(max_displacement=2)),
)


class Life(RuleBasedStateMachine):
    """A ranker to which anything may happen."""

    @initialize(rules=st.sampled_from(RULES), most_open=st.sampled_from([2, 100]))
    def begin(self, rules: RankerSettings, most_open: int) -> None:
        self.most_open = OpenLists(most_open)
        self.store, self.clock, self.ids = open_temporary_store(), Clock(), Ids()
        self.rng = np.random.default_rng(0)
        self.lists: list[RankResponse] = []
        self.states: dict[int, State] = {}
        self.service = self.open()
        self.service.create("shop", rules)

    def open(self) -> ServiceFacade:
        return ServiceFacade(self.store, clock=self.clock, ids=self.ids)

    @rule(n=st.integers(1, 6), new=st.booleans())
    def show(self, n: int, new: bool) -> None:
        candidates = some_candidates(self.rng, n)
        if new:
            name = f"f{len(self.lists) % 3}"
            candidates = [Candidate(e.object_id, {**e.features, name: self.rng.random()}) for e in candidates]
        self.lists.append(self.service.rank(candidates, ranker="shop", k=4))
        assert self.lists[-1].provenance.fallback is None

    @rule(back=st.integers(1, 4), index=st.integers(0, 3))
    def click(self, back: int, index: int) -> None:
        if len(self.lists) >= back:
            shown = self.lists[-back]
            name = shown.object_ids[index % len(shown.object_ids)]
            self.service.record([UserEvent(shown.query_id, name)])

    @rule(seconds=st.sampled_from([1.0, 30.0, 100.0]))
    def wait(self, seconds: float) -> None:
        self.clock.now += seconds

    @rule()
    def tick(self) -> None:
        self.service.tick()

    @rule()
    def flush(self) -> None:
        self.service.flush("shop")

    @rule(mode=st.sampled_from(MODES))
    def change_mode(self, mode: Mode) -> None:
        self.service.set_mode("shop", mode)

    @rule(rules=st.sampled_from(RULES), again=st.booleans())
    def configure(self, rules: RankerSettings, again: bool) -> None:
        self.service.configure("shop", rules, relearn=again)

    @rule(which=st.integers(0, 20))
    def roll_back(self, which: int) -> None:
        head = self.service.model("shop")
        past = [
            model
            for version in self.states
            if head.policy.continues((model := self.service.ranker("shop").history.model(version)).policy)
            and type(model.scale) is type(head.scale)
            and model.retired == head.retired
        ]
        if past:
            self.service.rollback("shop", to=past[which % len(past)].version)

    @rule(which=st.integers(0, 20))
    def forget(self, which: int) -> None:
        events = [event.event_id for event in self.store.read_events("shop")]
        if events:
            self.service.forget("shop", [events[which % len(events)]])

    @rule(which=st.integers(0, 20))
    def retire(self, which: int) -> None:
        names = self.service.schema("shop")
        if len(names) > 1:
            self.service.retire_features("shop", [names[which % len(names)]])

    @rule()
    def restart(self) -> None:
        self.service = self.open()

    @rule(which=st.integers(0, 20))
    def replay(self, which: int) -> None:
        if self.lists:
            shown = self.lists[which % len(self.lists)]
            assert self.service.replay(shown.query_id).response.to_bytes() == shown.to_bytes()

    @invariant()
    def every_way_to_the_model_leads_to_the_same(self) -> None:
        if not hasattr(self, "service"):
            return
        self.service.ranker("shop").catch_up()
        here = state(self.service)
        fold = plain_fold(self.service).learned
        assert same({**fold.policy.state(), **_scale(fold.scale.state())}, here), "the fold from the start"
        assert same(state(self.open()), here), "the fold from the last snapshot"
        assert fold.version == self.service.model("shop").version
        assert self.service.health().rankers["shop"].refused == 0
        self.states.setdefault(fold.version, here)
        assert same(self.states[fold.version], here), "a version never changes"

    def teardown(self) -> None:
        if hasattr(self, "service"):
            history = self.service.ranker("shop").history
            for version, expected in self.states.items():
                model = history.model(version)
                assert same({**model.policy.state(), **_scale(model.scale.state())}, expected)
            self.most_open.undo()


def _scale(moments: State) -> State:
    return {f"scale.{name}": value for name, value in moments.items()}


TestLife = Life.TestCase
TestLife.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)
