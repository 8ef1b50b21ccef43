"""Explorers draw from the distributions they promise."""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankloop.exploration import draw_by_score, draw_epsilon_greedy, draw_plackett_luce

SCORES = np.array([0.5, -1.0, 1.5, 0.5])
ROUNDS = 20_000


def compare(found: Counter[tuple[int, ...]], expected: dict[tuple[int, ...], float]) -> None:
    assert sum(expected.values()) == pytest.approx(1)
    assert set(found) <= {order for order, chance in expected.items() if chance > 0}
    for order, chance in expected.items():
        assert found[order] / ROUNDS == pytest.approx(chance, abs=5 * np.sqrt(chance / ROUNDS))


def test_plackett_luce_follows_its_formula() -> None:
    rng, lift = np.random.default_rng(0), np.exp(SCORES)
    found = Counter(tuple(draw_plackett_luce(SCORES, 3, rng).tolist()) for _ in range(ROUNDS))
    expected: dict[tuple[int, ...], float] = {}
    for order in itertools.permutations(range(4), 3):
        left, chance = lift.sum(), 1.0
        for doc in order:
            chance, left = chance * lift[doc] / left, left - lift[doc]
        expected[order] = chance
    compare(found, expected)


def test_greedy_breaks_ties_evenly() -> None:
    rng = np.random.default_rng(0)
    found = Counter(tuple(draw_by_score(SCORES, 2, rng).tolist()) for _ in range(ROUNDS))
    compare(found, {(2, 0): 0.5, (2, 3): 0.5})


def test_rankers_of_one_opinion_give_one_list() -> None:
    lists = draw_by_score(np.stack((SCORES, SCORES)), 4, np.random.default_rng(0))
    assert lists[0].tolist() == lists[1].tolist()


@pytest.mark.parametrize("epsilon", [0.0, 0.3, 1.0])
def test_epsilon_greedy_follows_its_enumeration(epsilon: float) -> None:
    scores, rng = np.array([0.5, -1.0, 1.5]), np.random.default_rng(0)
    found = Counter(tuple(draw_epsilon_greedy(scores, 2, epsilon, rng).tolist()) for _ in range(ROUNDS))
    expected: dict[tuple[int, ...], float] = dict.fromkeys(itertools.permutations(range(3), 2), 0.0)
    for order in expected:
        chance, left = 1.0, [2, 0, 1]  # best first
        for doc in order:
            chance *= epsilon / len(left) + (1 - epsilon) * (doc == left[0])
            left.remove(doc)
        expected[order] = chance
    compare(found, expected)


@pytest.mark.parametrize("k", [1, 4, 9])
def test_all_show_k_or_everything(k: int) -> None:
    rng = np.random.default_rng(0)
    for order in (
        draw_by_score(SCORES, k, rng),
        draw_plackett_luce(SCORES, k, rng),
        draw_epsilon_greedy(SCORES, k, 0.5, rng),
    ):
        assert len(set(order.tolist())) == min(k, 4)


@given(
    scores=st.lists(
        st.lists(st.sampled_from([-1.0, -0.0, 0.0, 0.5, 2.0]), min_size=6, max_size=6), min_size=1, max_size=4
    ),
    k=st.integers(1, 7),
    seed=st.integers(0, 2**32),
)
def test_greedy_is_a_stable_sort_of_the_shuffled_documents(
    scores: list[list[float]], k: int, seed: int
) -> None:
    shuffled = np.random.default_rng(seed).permutation(6).tolist()
    expected = [sorted(shuffled, key=lambda doc: -each[doc])[:k] for each in scores]
    assert draw_by_score(np.array(scores), k, np.random.default_rng(seed)).tolist() == expected
    assert draw_by_score(np.array(scores[0]), k, np.random.default_rng(seed)).tolist() == expected[0]
