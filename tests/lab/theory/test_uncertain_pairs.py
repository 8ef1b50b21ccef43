"""Bounds on uncertain pairs: against the inequalities of their proofs, and all pairs of small worlds."""

from __future__ import annotations

from itertools import combinations, permutations
from math import inf, log, sqrt

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.sparse.csgraph import connected_components
from scipy.special import expit
from scipy.stats import norm

from rankloop.checks import small_world
from rankloop.errors import DataError, SettingError
from rankloop.exploration import ordered_blocks
from rankloop.lab.simulation.order_probes import count_open_pairs
from rankloop.lab.theory import (
    PairConstants,
    PairRankBounds,
    PePairRankBounds,
    draws_needed,
    measure_pair_constants,
)
from rankloop.query_set import QuerySet

POSITIVE = st.floats(0.05, 3.0)


@st.composite
def worlds(draw: st.DrawFn) -> PairConstants:
    return PairConstants(
        longest_weights=draw(POSITIVE),
        longest_difference=draw(POSITIVE),
        smallest_gap=draw(st.floats(0.01, 0.45)),
        smallest_variance=draw(st.floats(0.01, 1.0)),
        dimensions=draw(st.integers(1, 50)),
        longest_list=draw(st.integers(2, 100)),
    )


def test_constants_are_the_extremes_over_all_pairs_of_all_queries() -> None:
    world, weights = small_world(), np.random.default_rng(0).normal(size=small_world().n_features)
    pairs = np.array(
        [
            judged.query.features[i] - judged.query.features[j]
            for judged in world
            for i, j in combinations(range(judged.query.n_docs), 2)
        ]
    )
    found = measure_pair_constants(world, weights)
    assert found.longest_difference == pytest.approx(max(np.sqrt(x @ x) for x in pairs))
    assert found.smallest_gap == pytest.approx(min(abs(expit(x @ weights) - 0.5) for x in pairs))
    moments = sum(np.outer(x, x) for x in pairs) / len(pairs)
    assert found.smallest_variance == pytest.approx(np.linalg.eigvalsh(moments)[0])
    assert found.longest_weights == pytest.approx(np.sqrt(weights @ weights))
    assert found.longest_list == max(judged.query.n_docs for judged in world)
    slope = expit(found.longest_weights * found.longest_difference)
    assert found.flattest == pytest.approx(slope * (1 - slope))


def test_equal_documents_have_no_gap_and_a_feature_that_never_differs_no_variance() -> None:
    rows = np.array([[1.0, 7.0], [1.0, 7.0], [2.0, 7.0]])
    found = measure_pair_constants(
        QuerySet(rows, np.array([0, 3]), np.zeros(3, dtype=int), ("q",)), np.ones(2)
    )
    assert found.smallest_gap == pytest.approx(expit(1.0) - 0.5)
    assert found.smallest_variance == 0
    assert PairRankBounds(constants=found, regularisation=1.0).settling_round == inf
    assert PePairRankBounds(constants=found, regularisation=1.0, variance=0.1).settling_round == inf


def test_constants_of_no_pairs_or_other_weights_are_refused() -> None:
    alone = QuerySet(np.eye(2), np.array([0, 1, 2]), np.zeros(2, dtype=int), ("a", "b"))
    with pytest.raises(DataError, match="no query has two documents"):
        measure_pair_constants(alone, np.ones(2))
    with pytest.raises(DataError, match="a weight for each of 2 features"):
        measure_pair_constants(alone, np.ones(3))


@given(worlds(), st.floats(0.01, 10.0), st.floats(0.01, 0.49), st.floats(0.05, 0.49))
def test_from_round_t_on_the_inequality_of_the_proof_of_lemma_3_holds(
    world: PairConstants, weight: float, delta: float, beta: float
) -> None:
    """λ_min(Σ)t - (C₁√d + C₂√log(1/δ₂) + abd√(o u²/(dλ)))√t - (ab log(1/δ₁²) + 4aλQ² - λ) ≥ 0."""
    bounds = PairRankBounds(constants=world, regularisation=weight, delta=delta, beta=beta, noise=0.5)
    q, u, d, slope = world.longest_weights, world.longest_difference, world.dimensions, world.flattest
    a = 4 * 0.25**2 * u**2 / (beta**2 * slope**2 * world.smallest_gap**2)
    b = 0.5**2 + 4 * sqrt(weight) * q * 0.5
    factor = sqrt(d) + sqrt(log(1 / delta)) + a * b * d * sqrt(10 * u**2 / (d * weight))
    rest = a * b * log(1 / delta**2) + 4 * a * weight * q**2 - weight
    for times in (1.0, 1.5, 10.0):
        t = times * bounds.settling_round
        left, right = world.smallest_variance * t, factor * sqrt(t) + rest
        assert left >= right * (1 - 1e-9)


@given(worlds(), st.floats(0.01, 10.0), st.floats(0.01, 0.49))
def test_the_round_of_lemma_2_2_3_is_the_printed_one(
    world: PairConstants, weight: float, delta: float
) -> None:
    found = PePairRankBounds(constants=world, regularisation=weight, variance=0.1, delta=delta)
    p, steep = world.longest_difference, 0.25 / (world.flattest * world.smallest_gap)
    top = sqrt(world.dimensions) + sqrt(log(1 / delta)) + p**2 * 0.5 * steep / sqrt(weight)
    more = 2 * steep * p * (sqrt(0.25 * log(1 / delta)) + sqrt(weight) * world.longest_weights)
    assert found.settling_round == pytest.approx((top / world.smallest_variance) ** 2 + more)


@given(st.floats(0.0, 4.0), st.floats(0.001, 0.9))
def test_as_many_rankers_as_lemma_2_2_3_asks_for_suffice(beta: float, delta: float) -> None:
    """One of N standard normal numbers exceeds β with probability 1 - δ: by the exact distribution."""
    missed = (1 - norm.sf(beta)) ** np.ceil(draws_needed(beta, delta))
    assert missed <= delta * (1 + 1e-9)


@given(worlds(), st.floats(0.01, 1.0), st.floats(0.0, 30.0))
def test_the_number_of_rankers_follows_the_width_of_lemma_2_2_1(
    world: PairConstants, variance: float, log_det: float
) -> None:
    bounds = PePairRankBounds(constants=world, regularisation=1.0, variance=variance, delta=0.05)
    alpha = 0.5 / world.flattest * (sqrt(0.25 * (log_det + log(1 / 0.05**2))) + world.dimensions)
    assert bounds.alpha(log_det) == pytest.approx(alpha)
    ratio = 0.25 * alpha / (world.flattest * sqrt(variance))
    assert bounds.rankers_needed(alpha) == draws_needed(ratio, 0.05)
    assert bounds.rankers_needed(alpha, as_printed=True) == draws_needed(ratio**2, 0.05)


@given(worlds(), st.floats(0, 1e-3), st.integers(1, 10**6))
def test_chances_are_chances_and_no_regret_is_above_all_pairs(
    world: PairConstants, width: float, rounds: int
) -> None:
    everything = rounds * world.longest_list * (world.longest_list - 1) / 2
    linear = PairRankBounds(constants=world, regularisation=1.0)
    perturbed = PePairRankBounds(constants=world, regularisation=1.0, variance=0.1, rankers=3)
    assert linear.chance_uncertain(width) == pytest.approx(
        min(1, 8 / 16 * width * log(20) / (0.5 * world.flattest**2 * world.smallest_gap**2))
    )
    assert perturbed.chance_uncertain(width) == pytest.approx(
        min(1, 6 * 0.1 / 16 * width / (world.flattest**2 * world.smallest_gap**2))
    )
    assert linear.regret(rounds, seen=0.5) <= everything
    assert perturbed.regret(rounds, seen=0.5) <= everything


def test_in_a_kind_world_the_theorems_say_more_than_nothing_and_grow_slower_than_the_rounds() -> None:
    kind = PairConstants(
        longest_weights=0.1,
        longest_difference=0.1,
        smallest_gap=0.4,
        smallest_variance=1.0,
        dimensions=1,
        longest_list=1000,
    )
    bounds = PePairRankBounds(constants=kind, regularisation=1.0, variance=0.01)
    first, later = (bounds.regret(rounds, seen=1.0) for rounds in (10**4, 10**6))
    start = ((1 + sqrt(log(20)) + 0.01 * 0.5 * 0.25 / (kind.flattest * 0.4)) ** 2) + (
        0.5 * 0.1 / (kind.flattest * 0.4) * (0.5 * sqrt(log(20)) + 0.1)
    )
    scale = 4 * 0.01 / 16 / (kind.flattest * 0.4) ** 2
    assert first == pytest.approx(1000 * start + 2000 * scale * log(1 + 10 * 10**4 * 0.01 / 2))
    assert first < later < 2 * first


@pytest.mark.parametrize("n", [2, 3, 4, 5])
def test_no_list_has_more_pairs_wrong_than_equation_2_allows(n: int) -> None:
    """Every order of documents, for certain orders of every kind: conservative, and shuffled in blocks."""
    rng, shuffled = np.random.default_rng(n), 0
    for _ in range(60):
        scores = rng.normal(size=n)
        certain = (np.subtract.outer(scores, scores) > 0) & (rng.random((n, n)) < rng.random())
        blocks = ordered_blocks(scores, certain)
        place = {document: number for number, block in enumerate(blocks) for document in block.tolist()}
        within = [count_open_pairs(certain[np.ix_(block, block)]) for block in blocks]
        by_block, open_pairs = sum(m * (m + 1) / 2 for m in within), count_open_pairs(certain)
        assert by_block <= open_pairs * (open_pairs + 1) / 2
        assert sum(within) == open_pairs
        linked = all(connected_components(~(certain | certain.T)[np.ix_(b, b)])[0] == 1 for b in blocks)
        shuffled += linked
        for order in permutations(range(n)):
            upside_down = [(i, j) for j, i in combinations(order, 2) if scores[i] > scores[j]]
            if not any(certain[i, j] for i, j in upside_down):
                assert len(upside_down) <= open_pairs
            if linked and all(place[i] <= place[j] for i, j in combinations(order, 2)):
                assert len(upside_down) <= by_block
    assert shuffled > 10


def test_equation_2_does_not_hold_for_blocks_that_are_merged() -> None:
    """The first is above the second and that above the third, for sure: one block, one open pair."""
    scores, certain = np.array([3.0, 2.0, 1.0]), np.zeros((3, 3), dtype=bool)
    certain[0, 1] = certain[1, 2] = True
    (block,) = ordered_blocks(scores, certain)
    assert (len(block), count_open_pairs(certain)) == (3, 1)  # 1 · 2 / 2 = 1, and a shuffle may turn 3 round


@pytest.mark.parametrize("given_", [{"delta": 0.5}, {"beta": 0.5}, {"regularisation": 0.0}, {"noise": 0.0}])
def test_what_the_lemma_says_nothing_about_is_refused(given_: dict[str, float]) -> None:
    world = measure_pair_constants(small_world(), np.ones(small_world().n_features))
    with pytest.raises(SettingError, match="must be"):
        PairRankBounds(**{"constants": world, "regularisation": 1.0, **given_})  # type: ignore[arg-type]


@given(worlds())
def test_worlds_without_length_are_refused(world: PairConstants) -> None:
    assume(world.dimensions > 1)
    with pytest.raises(SettingError, match="longest_weights must be a finite number above 0"):
        PairConstants(**{**vars(world), "longest_weights": 0.0})
