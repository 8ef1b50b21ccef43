"""Why one result stands above another."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ndtr

from rankloop.candidate import Candidate
from rankloop.errors import RequestError
from rankloop.policies import PDGD, PairRank, PePairRank, Random
from rankloop.service import RankerSettings
from rankloop.service.service_facade import ServiceFacade
from rankloop.service.store import open_temporary_store
from tests.support.life import TASTE, Clock, live, make, some_candidates


def trained(policy: object, rounds: int = 60) -> ServiceFacade:
    clock = Clock()
    service = make(open_temporary_store(), clock)
    service.create("shop", RankerSettings(policy=policy, window=60.0))  # type: ignore[arg-type]
    live(service, clock, rounds=rounds)
    return service


def test_the_contributions_add_up_to_the_gap() -> None:
    service = trained(PairRank())
    shown = service.rank(some_candidates(np.random.default_rng(3)), ranker="shop")
    found = service.explain(shown.query_id, shown.object_ids[0], shown.object_ids[4])
    scores = {each.object_id: each.score for each in shown.ranking}
    assert found.gap == pytest.approx(scores[found.above] - scores[found.below])
    assert sum(found.contributions.values()) == pytest.approx(found.gap)
    assert found.exact
    assert set(found.contributions) == set(TASTE)
    sizes = [abs(value) for value in found.contributions.values()]
    assert sizes == sorted(sizes, reverse=True)


def test_a_contribution_is_weight_times_difference() -> None:
    service = trained(PairRank())
    candidates = [Candidate("a", {"bm25": 9.0, "age": 3.0}), Candidate("b", {"bm25": 1.0, "age": 3.0})]
    shown = service.rank(candidates, ranker="shop")
    found = service.explain(shown.query_id, "a", "b")
    weight = service.model("shop").policy.state()["parameters"][service.schema("shop").index("bm25")]
    sign = 1.0 if found.above == "a" else -1.0
    assert found.contributions == {"bm25": pytest.approx(sign * weight)}  # 1 - 0 once scaled


def test_confidence_is_the_posterior_probability() -> None:
    service = trained(PairRank())
    shown = service.rank(some_candidates(np.random.default_rng(3)), ranker="shop")
    found = service.explain(shown.query_id, *shown.object_ids[:2])
    assert found.width is not None
    assert found.probability is not None
    assert found.probability == pytest.approx(ndtr(found.gap / found.width))
    assert found.open == (0.4 < found.probability < 0.6)
    assert found.settled == (not 0.05 < found.probability < 0.95)
    assert found.explored == (found.gap < 0)


def test_it_is_said_in_words() -> None:
    service = trained(PairRank())
    candidates = [*some_candidates(np.random.default_rng(3)), Candidate("ad", pinned_at=1)]
    shown = service.rank(candidates, ranker="shop", k=9)
    sentences = [
        service.explain(shown.query_id, a, b).sentence
        for a in shown.object_ids
        for b in shown.object_ids
        if a < b
    ]
    assert any("because one of them is pinned" in each for each in sentences)
    assert any("their order is likely" in each for each in sentences)
    assert any("% sure of this order" in each for each in sentences)


def test_policies_without_certainty_say_so() -> None:
    service = trained(PDGD())
    shown = service.rank(some_candidates(np.random.default_rng(3)), ranker="shop")
    found = service.explain(shown.query_id, *shown.object_ids[:2])
    assert (found.width, found.probability, found.settled, found.open) == (None, None, None, None)
    service.set_mode("shop", "exploit")
    shown = service.rank(some_candidates(np.random.default_rng(3)), ranker="shop")
    assert "cannot say how sure it is" in service.explain(shown.query_id, *shown.object_ids[:2]).sentence


def test_policies_with_certain_orders_but_no_width_say_what_they_can() -> None:
    service = trained(PePairRank())
    shown = service.rank(some_candidates(np.random.default_rng(3)), ranker="shop")
    found = service.explain(shown.query_id, *shown.object_ids[:2])
    assert found.open is not None
    assert (found.probability, found.certainty, found.settled) == (None, None, None)


def test_before_anything_was_learned_nothing_is_known() -> None:
    for policy in (PairRank(), Random()):
        service = make(open_temporary_store())
        service.create("shop", RankerSettings(policy=policy))
        shown = service.rank([Candidate("a", {"x": 1.0}), Candidate("b", {"x": 0.0})], ranker="shop")
        found = service.explain(shown.query_id, "a", "b")
        assert (found.gap, found.probability, dict(found.contributions)) == (0.0, None, {})


def test_the_model_of_that_time_is_asked() -> None:
    clock = Clock()
    service = make(open_temporary_store(), clock)
    service.create("shop", RankerSettings(policy=PairRank(), window=60.0))
    first = live(service, clock, rounds=1)[0]
    live(service, clock, rounds=40)
    assert service.explain(first.query_id, *first.object_ids[:2]).gap == 0.0


def test_only_what_was_shown_can_be_compared() -> None:
    service = trained(PairRank(), rounds=3)
    shown = service.rank(some_candidates(np.random.default_rng(3)), ranker="shop")
    with pytest.raises(RequestError, match="'nothing' was not in the list"):
        service.explain(shown.query_id, shown.object_ids[0], "nothing")
    with pytest.raises(RequestError, match="compares two results"):
        service.explain(shown.query_id, shown.object_ids[0], shown.object_ids[0])
