"""Policies that start from the caller's own order: a prior, and nothing else."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from rankloop.caller_order import CallerOrder, parse_order
from rankloop.check_worlds import Make, live_rounds, small_world
from rankloop.lab.baselines import ALL_POLICIES, FairSwapPairRank
from rankloop.learning.click_pairs import preferred_pairs
from rankloop.policies import (
    DBGD,
    MGD,
    NSGD,
    PDGD,
    CallerOrderPolicy,
    EpsilonGreedy,
    FairExpPairRank,
    OlLambdaRank,
    OlRankNet,
    P2NeurRank,
    PairRank,
    PairwiseLogistic,
    PePairRank,
    Race,
    RankNet,
)
from rankloop.query_set import QuerySet
from rankloop.scorers import MLP
from rankloop.types import Feedback, FloatArray, Query, cache_columns, log_ranks

SMALL = MLP((8,))
KINDS: dict[str, Make] = {
    "PairRank": PairRank,
    "PePairRank": PePairRank,
    "FairExpPairRank": FairExpPairRank,
    "FairSwapPairRank": FairSwapPairRank,
    "Race": partial(Race, racers=2),
    "RankNet": RankNet,
    "EpsilonGreedy": EpsilonGreedy,
    "PDGD": PDGD,
    "DBGD": DBGD,
    "MGD": MGD,
    "NSGD": NSGD,
    "OlRankNet": partial(OlRankNet, scorer=SMALL),
    "OlLambdaRank": partial(OlLambdaRank, scorer=SMALL),
    "P2NeurRank": partial(P2NeurRank, scorer=SMALL),
}
each_kind = pytest.mark.parametrize("make", KINDS.values(), ids=KINDS.keys())


def in_order(n: int) -> FloatArray:
    return -np.arange(float(n))


def with_order(world: QuerySet, scores: FloatArray) -> QuerySet:
    return replace(world, caller_scores=scores)


def test_all_that_can_start_from_an_order_are_here() -> None:
    here = {type(make()) for make in KINDS.values()}
    assert {kind for kind in ALL_POLICIES.values() if issubclass(kind, CallerOrderPolicy)} == here


@each_kind
def test_what_a_policy_sees_of_a_query_is_laid_out_once(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    kept: list[Query] = []

    def keep(query: Query, value: tuple[object, FloatArray]) -> None:
        kept.append(query)
        cache_columns(query, value)

    monkeypatch.setattr("rankloop.caller_order.cache_columns", keep)
    policy, world = replace(make(), caller_order="decent"), small_world()  # type: ignore[call-arg]
    log = live_rounds(policy, with_order(world, np.random.default_rng(0).random(240)), rounds=5)
    assert [id(query) for query in kept] == [id(feedback.ranking.query) for feedback in log]


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=20), st.randoms(use_true_random=False))
def test_only_the_order_of_caller_scores_counts(scores: list[float], luck: object) -> None:
    base = np.array(scores)
    ranks = np.array([1 + (base > score).sum() + ((base == score).sum() - 1) / 2 for score in base])
    np.testing.assert_allclose(log_ranks(base), -np.log2(1 + ranks))
    assert np.array_equal(log_ranks(base), log_ranks(np.arctan(base / 1e6)))
    rows = np.array(sorted(range(len(base)), key=lambda row: hash((row, str(luck)))))[: len(base) // 2 + 1]
    part = Query("q", np.zeros((len(base), 1)), caller_scores=base).take(rows)
    assert part.caller_log_ranks is not None
    np.testing.assert_array_equal(part.caller_log_ranks, log_ranks(base)[rows])


def test_a_set_of_queries_gives_each_its_own_ranks_one_by_one_and_together() -> None:
    world = small_world(queries=3)
    based = with_order(world, np.random.default_rng(0).random(len(world.features)))
    parts = [judged.query.caller_log_ranks for judged in based]
    assert based.as_one_query().caller_log_ranks is not None
    np.testing.assert_array_equal(based.as_one_query().caller_log_ranks, np.concatenate(parts))  # type: ignore[arg-type]
    policy = PairRank(caller_order="decent")
    live_rounds(policy, based, rounds=10)
    np.testing.assert_allclose(
        policy.score(based.as_one_query()), np.concatenate([policy.score(judged.query) for judged in based])
    )


@each_kind
@pytest.mark.parametrize("caller_order", [None, 0])
def test_without_it_nobody_looks_at_the_order(make: Make, caller_order: float | None) -> None:
    world = small_world()
    based = with_order(world, np.random.default_rng(0).random(len(world.features)))
    plain, other = make(), replace(make(), caller_order=caller_order)  # type: ignore[call-arg]
    logs = live_rounds(plain, world, rounds=15), live_rounds(other, based, rounds=15)
    for one, two in zip(*logs, strict=True):
        assert one.ranking.order.tolist() == two.ranking.order.tolist()
    for name, value in plain.state().items():
        assert value.tobytes() == other.state()[name].tobytes(), name


@each_kind
def test_before_any_click_the_scores_are_those_of_the_order(make: Make) -> None:
    policy = replace(make(), caller_order="good")  # type: ignore[call-arg]
    rng = np.random.default_rng(3)
    query = Query("q", rng.random((30, 6)), caller_scores=rng.permutation(30).astype(float))
    wanted = np.argsort(-query.caller_scores).tolist()  # type: ignore[operator]
    assert np.argsort(-policy.score(query)).tolist() == wanted
    nameless = Query("q", np.empty((30, 0)), caller_scores=query.caller_scores)
    assert np.argsort(-policy.score(nameless)).tolist() == wanted
    for each in (query, nameless):
        tops = [set(policy.rank(each, k=10, rng=rng).order.tolist()) for _ in range(20)]
        kept = np.mean([len(top & set(wanted[:10])) / 10 for top in tops])
        assert kept > (0.55 if isinstance(policy, PDGD) else 0.25 if isinstance(policy, MGD) else 0.85)


@each_kind
def test_a_query_without_an_order_is_ranked_by_its_features(make: Make) -> None:
    policy, world = replace(make(), caller_order="decent"), small_world(queries=60)  # type: ignore[call-arg]
    for number in range(300):
        judged = world[number % 60]
        base = np.random.default_rng(number).random(12) if number % 2 else None
        query = Query(judged.query.id, judged.query.features, groups=judged.query.groups, caller_scores=base)
        shown = policy.rank(query, k=12, rng=np.random.default_rng(number))
        policy.learn(Feedback(shown, judged.relevance[shown.order] > 1))
    judged = world[0]
    assert np.isfinite(policy.score(judged.query)).all()


@pytest.mark.parametrize("caller_order", ["decent", "unknown", 3.0])
@pytest.mark.parametrize("kind", [PairRank, PePairRank])
def test_the_exact_fit_is_the_most_probable_one_under_the_prior(
    kind: type[PairwiseLogistic], caller_order: CallerOrder
) -> None:
    """Against a slow reference: the weight of the order is normal around its mean, all others around 0."""
    prior = parse_order(caller_order)
    assert prior is not None
    policy = kind(caller_order=caller_order, update="exact", regularisation=2.0)
    world = small_world()
    based = with_order(world, np.random.default_rng(0).random(len(world.features)))
    rows = []
    for feedback in live_rounds(policy, based, rounds=25):
        query = feedback.ranking.query
        assert query.caller_log_ranks is not None
        seen = np.column_stack((query.caller_log_ranks, np.zeros(12), query.features))
        better, worse = preferred_pairs(feedback, policy.pairing, int(feedback.ranking.evidence["seed"]))
        shown = seen[feedback.ranking.order]
        shown[:, 1] = 0.0
        for one, other in zip(better.tolist(), worse.tolist(), strict=True):
            difference = shown[one] - shown[other]
            difference[1] = np.log2((other + 2) / (one + 2))  # where they stood
            rows.append(difference)
    pairs = np.array(rows)

    def surprise(weights: FloatArray) -> float:
        own = ((weights[0] - prior.mean) / prior.deviation) ** 2 + weights[1] ** 2
        return float(np.logaddexp(0, -pairs @ weights).sum() + (own + 2.0 * weights[2:] @ weights[2:]) / 2)

    best = minimize(surprise, np.zeros(pairs.shape[1]), tol=1e-10).x
    found = policy.parameters * np.r_[prior.deviation, np.ones(7)]
    np.testing.assert_allclose(found, best, atol=2e-4)


def test_an_order_that_misleads_is_found_out() -> None:
    """Users who like the opposite of the caller's order turn its weight round."""
    policy = PairRank(caller_order="decent")
    rng = np.random.default_rng(0)
    for number in range(150):
        query = Query(f"q{number}", rng.random((10, 3)), caller_scores=in_order(10))
        shown = policy.rank(query, k=10, rng=rng)
        policy.learn(Feedback(shown, shown.order == shown.order[:4].max()))
    assert policy.parameters[0] < 0
    assert policy.score(Query("q", np.zeros((5, 3)), caller_scores=in_order(5))).argmax() == 4


def test_a_better_word_keeps_more_of_the_order() -> None:
    query = Query("q", np.random.default_rng(1).random((50, 8)), caller_scores=in_order(50))
    words: tuple[CallerOrder, ...] = (None, "poor", "decent", "good")
    certain = [int(PairRank(caller_order=word).certain_orders(query).sum()) for word in words]
    assert certain == sorted(certain)
    assert certain[0] == 0


def test_another_word_is_another_meaning_of_what_was_learned() -> None:
    assert PairRank(caller_order="decent").continues(PairRank(caller_order=0.5))
    assert not PairRank(caller_order="decent").continues(PairRank(caller_order="good"))
    assert not PDGD(caller_order="decent").continues(PDGD())
    assert PDGD(caller_order=0).continues(PDGD())
