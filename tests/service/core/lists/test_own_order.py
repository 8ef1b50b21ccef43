"""Lists start from the caller's own order, under any policy that can, and replay to the bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rankloop.candidate import Candidate
from rankloop.errors import SettingError
from rankloop.policies import PairRank
from rankloop.policies.policy_names import read_policy
from rankloop.service import RankerSettings, UserEvent
from rankloop.service.reports.pair_explanation import OWN_ORDER
from rankloop.service.service_facade import ServiceFacade
from rankloop.service.store import Store, open_temporary_store
from tests.support.life import Clock, make

N = 200


def shelf(seed: int, pins: dict[int, int] | None = None) -> list[Candidate]:
    """Candidates `0`, `1`, ... in the caller's order; pins by row."""
    rng = np.random.default_rng(seed)
    return [
        Candidate(str(row), {"price": rng.random(), "age": rng.random()}, pinned_at=(pins or {}).get(row))
        for row in range(N)
    ]


def kept(service: ServiceFacade, ranker: str = "shop", visitors: int = 10) -> float:
    """Share of the caller's first ten that visitors see."""
    lists = [
        service.rank(shelf(seed), ranker=ranker, session_id=f"{ranker} {seed}") for seed in range(visitors)
    ]
    return float(np.mean([int(name) < 10 for shown in lists for name in shown.object_ids]))


def test_a_new_ranker_shows_the_callers_list_and_goes_on_from_there(store: Store) -> None:
    clock = Clock()
    service = make(store, clock)
    service.create("shop")
    assert kept(service) > 0.9
    for seed in range(100):  # users like what is old, wherever it stands
        shown = service.rank(shelf(seed), ranker="shop", session_id=f"visitor {seed}")
        age = {each.object_id: each.features["age"] or 0.0 for each in shelf(seed)}
        service.record([UserEvent(shown.query_id, max(shown.object_ids, key=age.__getitem__))])
        service.flush("shop")
        assert service.replay(shown.query_id).identical
    assert kept(service) < 0.6
    why = service.explain(shown.query_id, *shown.object_ids[:2])
    assert OWN_ORDER in why.contributions
    assert why.exact
    assert sum(why.contributions.values()) == pytest.approx(why.gap, abs=1e-5)


@pytest.mark.parametrize("mode", ["explore", "exploit", "frozen", "shadow"])
def test_pins_stand_where_they_must_and_the_rest_is_in_the_callers_order(mode: Any) -> None:
    service = make(open_temporary_store())
    service.create("shop", RankerSettings(policy=PairRank(caller_order=100.0)), mode=mode)
    shown = service.rank(shelf(1, {50: 2, 0: 5}), ranker="shop")
    assert shown.object_ids == ["1", "50", "2", "3", "0", "4", "5", "6", "7", "8"]
    service.record([UserEvent(shown.query_id, "3")])
    service.flush("shop")
    assert service.health().rankers["shop"].refused == 0


@pytest.mark.parametrize("name", ["pdgd", "ranknet", "olranknet", "pepairrank", "dbgd"])
def test_another_policy_starts_from_the_callers_order_too(name: str) -> None:
    service = make(open_temporary_store())
    service.create("shop")
    service.configure("shop", service.settings_from({"policy": name}))
    service.set_mode("shop", "exploit")
    assert kept(service) == 1.0


def test_what_was_said_of_trust_is_kept() -> None:
    service = make(open_temporary_store())
    service.create("old", RankerSettings(policy=PairRank()))
    again = service.settings_from(service.settings("old").to_json() | {"window": 60.0})
    policy = read_policy(again.policy)
    assert isinstance(policy, PairRank)
    assert policy.caller_order is None  # a ranker from before keeps what it had
    with pytest.raises(SettingError, match="caller_order must be 'good', 'decent', 'poor', 'unknown'"):
        service.settings_from({"policy": "PairRank(caller_order='much')"})
    with pytest.raises(SettingError, match="Random has no setting 'caller_order'"):
        service.settings_from({"policy": "Random(caller_order='good')"})
    assert service.settings_from({"policy": "Random()"}).policy == "Random()"
