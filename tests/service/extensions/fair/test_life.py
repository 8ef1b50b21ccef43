"""A whole life of a service that shares exposure: its account is the sum of its log, whatever happens.

The life of `test_service_life`, with sellers: modes, pins, guardrails, fallbacks, rollbacks, forgetting,
retention, faults of the store, restarts and crashes.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import seed
from hypothesis import strategies as st
from hypothesis.stateful import initialize, rule, run_state_machine_as_test
from msgspec import structs

from rankloop.candidate import Candidate
from rankloop.policies import MGD, PDGD, PairRank, Policy
from rankloop.service import FairSettings, GuardrailSettings, RankerSettings, RankRequest, columns
from rankloop.service.service_facade import ServiceFacade
from rankloop.service.store import SqliteStore
from tests.service.test_service_life import LIVES, NAMES, ServiceLife, rankers, with_reason
from tests.support.fairness import account_by_hand, account_in_memory, account_in_store
from tests.support.faults import settle
from tests.support.internals import copied
from tests.support.limits import keep_snapshots_every

frequent_snapshots = keep_snapshots_every(3)

SELLERS = ("a", "b", "")

some_fairness = st.builds(
    FairSettings,
    shares=st.sampled_from(["equal", "candidates"]),
    at_least=st.sampled_from([{}, {"b": 0.4}]),
    tolerance=st.sampled_from([0.2, 1.0]),
    cap=st.sampled_from([1.5, 50.0]),
)
some_rules = st.builds(
    RankerSettings,
    policy=st.sampled_from([PairRank(), PDGD(), PairRank(exploration="random")]),
    window=st.sampled_from([20.0, 80.0]),
    guardrails=st.sampled_from([None, None, GuardrailSettings(max_displacement=1)]),
    fair=st.none() | some_fairness,
)


class FairLife(ServiceLife):
    """Two rankers whose candidates belong to sellers."""

    @initialize(rules=some_rules, fair=some_fairness, others=some_rules)
    def begin(self, rules: RankerSettings, fair: FairSettings, others: RankerSettings) -> None:
        self.service.create("shop", structs.replace(rules, policy=self.policy, fair=fair))
        self.service.create("other", others)

    def candidates(self, n: int, names: object, pin: int) -> list[Candidate]:
        found = super().candidates(n, names, pin)  # type: ignore[arg-type]
        sellers = self.rng.choice(np.array(SELLERS), n).tolist()
        return [replace(each, group=name) for each, name in zip(found, sellers, strict=True)]

    @rule(ranker=rankers, rules=some_rules, again=st.booleans())
    def configure(self, ranker: str, rules: RankerSettings, again: bool) -> None:
        with_reason(partial(self.service.configure, ranker, rules, relearn=again))

    @rule(ranker=rankers, n=st.integers(2, 8), names=st.sets(st.sampled_from(NAMES)), pin=st.integers(0, 9))
    def reload(self, ranker: str, n: int, names: set[str], pin: int) -> None:
        """A session asks twice, and then for the next page; somebody else comes in between."""
        mine = self.candidates(n, sorted(names), pin)
        who: dict[str, Any] = {"ranker": ranker, "session_id": self.ids(), "user_query": "again"}
        for k in (3, 3, n):
            self.lists.append(self.service.rank(mine, k=k, **who))
            self.show(ranker, 5, names, 0)
        first, second = self.lists[-6], self.lists[-4]
        if first.provenance.model == second.provenance.model:
            assert first.object_ids == second.object_ids

    @rule(ranker=rankers, reason=st.sampled_from(["deadline: late", "busy: much"]))
    def fall_back(self, ranker: str, reason: str) -> None:
        request = RankRequest(ranker=ranker, candidates=columns(self.candidates(5, ("age",), 0)), k=3)
        made = self.service.fall_back(request, reason)
        self.service.publish(made)
        settle(self.store)
        self.lists.append(made.response)

    def compare(self) -> None:
        super().compare()
        for name in self.service.rankers():
            self.check_account(self.service, name)
        with SqliteStore(copied(self.path, self.folder / self.files())) as store:
            second = ServiceFacade(store, clock=self.clock, ids=self.ids)
            for name in second.rankers():
                self.check_account(second, name)
                assert account_in_memory(second, name) == account_in_memory(self.service, name)

    def check_account(self, service: ServiceFacade, name: str) -> None:
        number = service.ranker(name).view.configuration.extension_states["fair"]
        assert bool(number) == (service.settings(name).of(FairSettings) is not None)
        if number:
            found = account_by_hand(service.store, name, number)
            assert account_in_store(service, name) == found, "the store's sums"
            assert account_in_memory(service, name) == found, "what the next list is held to"
            assert sum(found.values()) == 0

    def teardown(self) -> None:
        try:
            for shown in self.lists[self.replayable :]:
                assert self.service.replay(shown.query_id).identical
        finally:
            super().teardown()


@pytest.mark.parametrize(("number", "policy"), list(enumerate([PairRank(), PDGD(), MGD()])))
def test_whatever_happens_the_account_is_the_sum_of_the_log(number: int, policy: Policy) -> None:
    lives = seed(number)(type("Life", (FairLife,), {"policy": policy}))
    with np.errstate(invalid="ignore"):  # BLAS may say so of finite numbers, now and then
        run_state_machine_as_test(lives, settings=LIVES)
