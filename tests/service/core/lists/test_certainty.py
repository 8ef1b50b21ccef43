"""What is said of certainty is the model's probability, and other than what is tried out."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from scipy.special import ndtr

from rankloop.checks import small_world
from rankloop.lab.users import PresetUser
from rankloop.policies import PDGD, OlRankNet, PairRank, PePairRank, Policy
from rankloop.scorers import MLP
from rankloop.service import RankerSettings
from rankloop.service.core.lists.order_certainty import grade_of
from rankloop.service.core.lists.replay import replay
from rankloop.service.service_facade import ServiceFacade
from rankloop.service.store import open_temporary_store
from rankloop.types import Query
from tests.support.life import Clock, live, make, some_candidates


def trained(policy: Policy, rounds: int = 60) -> ServiceFacade:
    clock = Clock()
    service = make(open_temporary_store(), clock)
    service.create("shop", RankerSettings(policy=policy, window=60.0))
    live(service, clock, rounds=rounds)
    service.flush("shop")
    return service


def test_probabilities_are_those_of_a_normal_posterior() -> None:
    """Against a slow reference, pair by pair."""
    service = trained(PairRank(caller_order="decent"))
    policy = service.model("shop").policy
    assert isinstance(policy, PairRank)
    query = Query("q", np.random.default_rng(0).random((8, 4)), caller_scores=-np.arange(8.0))
    rows = np.array([6, 1, 3])
    found = policy.order_probabilities(query, rows)
    assert found is not None
    seen, scores = policy.layout.columns(query), policy.score(query)
    for i, j in combinations(range(3), 2):
        apart = seen[rows[i]] - seen[rows[j]]
        width = np.sqrt(apart @ policy.curvature @ apart)
        assert found[i, j] == pytest.approx(ndtr((scores[rows[i]] - scores[rows[j]]) / width), abs=1e-9)
        assert found[i, j] + found[j, i] == pytest.approx(1.0)


@pytest.mark.parametrize("mode", ["explore", "exploit", "frozen", "shadow"])
def test_a_result_has_the_grade_of_its_least_sure_pair(mode: str) -> None:
    service = trained(PairRank())
    service.set_mode("shop", mode)  # type: ignore[arg-type]
    shown = service.rank(some_candidates(np.random.default_rng(9)), ranker="shop", k=6)
    picture = service.settled(shown.query_id)
    assert picture.probabilities is not None
    assert picture.open is not None
    for index, result in enumerate(shown.ranking):
        told = [p for other, p in enumerate(picture.probabilities[index]) if other != index]
        least = min(max(p, 1 - p) for p in told)
        assert result.probability is not None
        assert result.probability == pytest.approx(least, abs=1e-4)
        assert result.certainty == grade_of(result.probability)
        assert result.settled == (result.certainty == "settled")
        assert result.open == any(picture.open[index])
        why = [service.explain(shown.query_id, result.object_id, other) for other in shown.object_ids[:index]]
        assert [each.certainty for each in why] == [picture_grade(picture, index, i) for i in range(index)]


def picture_grade(picture: object, one: int, other: int) -> str:
    return str(picture.grades[one][other])  # type: ignore[attr-defined]


def test_what_is_not_tried_out_may_be_a_mere_leaning() -> None:
    service = trained(PairRank(), rounds=10)
    shown = service.rank(some_candidates(np.random.default_rng(9)), ranker="shop", k=8)
    picture = service.settled(shown.query_id)
    assert picture.grades is not None
    assert picture.open is not None
    kept = [picture.grades[i][j] for i, j in combinations(range(8), 2) if not picture.open[i][j]]
    assert "leaning" in kept
    assert picture.settled_pairs == 0
    assert service.audit(shown.query_id).impression.settled == 0


@pytest.mark.parametrize("policy", [PePairRank(), OlRankNet(scorer=MLP(8)), PDGD()])
def test_policies_that_keep_no_probabilities_say_none(policy: Policy) -> None:
    service = trained(policy, rounds=20)
    shown = service.rank(some_candidates(np.random.default_rng(9)), ranker="shop")
    for result in shown.ranking:
        assert (result.settled, result.certainty, result.probability) == (None, None, None)
        assert (result.open is None) == isinstance(policy, PDGD)
    assert service.audit(shown.query_id).impression.settled is None


def test_settled_orders_are_right_where_the_model_can_be() -> None:
    """Of the pairs that are called settled at most one in twenty is wrong, in a world of linear grades."""
    right = settled = 0
    world, user = small_world(queries=60), PresetUser("informational").for_grades(3)
    for seed in range(3):
        policy, rng = PairRank(), np.random.default_rng(seed)
        for number in range(400):
            judged = world[number % 60]
            shown = policy.rank(judged.query, k=10, rng=rng)
            policy.learn(user.respond(shown, judged.relevance, rng))
        for judged in world:
            found = policy.order_probabilities(judged.query, np.arange(12))
            assert found is not None
            sure = (found >= 0.95) & (judged.relevance[:, None] != judged.relevance)
            settled += int(sure.sum())
            right += int((sure & (judged.relevance[:, None] > judged.relevance)).sum())
    assert settled > 500
    assert right > 0.95 * settled


def test_a_replay_is_compared_by_the_digest_of_its_answer() -> None:
    service = trained(PairRank())
    shown = service.rank(some_candidates(np.random.default_rng(9)), ranker="shop")
    logged, history = service.audit(shown.query_id).impression, service.ranker("shop").history
    assert replay(logged, history).identical
    assert not replay(replace(logged, digest=b"x" * 16), history).identical
