"""Certain orders, blocks and lists, against slow graph versions and enumerations of every list."""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankloop.exploration import certain_orders, ordered_blocks, random_topological, shuffle_blocks
from rankloop.types import BoolArray, FloatArray

# Document 1 of the paper's Figure 1 is row 0: every pair is certain but (1, 2), (3, 5) and (4, 5).
FIGURE_SCORES = np.array([5.0, 4.0, 3.0, 2.0, 1.0])
FIGURE = np.triu(np.ones((5, 5), dtype=bool), 1)
for better, worse in ((0, 1), (2, 4), (3, 4)):
    FIGURE[better, worse] = False


@st.composite
def situations(draw: st.DrawFn) -> tuple[FloatArray, BoolArray]:
    """Scores, and certain orders that any widths could have given: they never contradict the scores."""
    n = draw(st.integers(1, 7))
    scores = np.array(draw(st.lists(st.sampled_from([-1.0, 0.0, 0.5, 2.0, 3.0]), min_size=n, max_size=n)))
    widths = np.array(draw(st.lists(st.floats(0, 0.6), min_size=n * n, max_size=n * n))).reshape(n, n)
    return scores, certain_orders(scores, (widths + widths.T) / 2)


def violations(order: list[int], certain: BoolArray) -> int:
    return sum(certain[lower, upper] for upper, lower in itertools.combinations(order, 2))


def graph_blocks(certain: BoolArray) -> list[set[int]]:
    """As in the paper: components of the uncertain graph, merged while the order of two is not clear."""
    blocks = [{doc} for doc in range(len(certain))]

    def clear(a: set[int], b: set[int]) -> bool:
        return all(certain[i, j] for i in a for j in b)

    merged = True
    while merged:
        merged = False
        for a, b in itertools.combinations(blocks, 2):
            if not clear(a, b) and not clear(b, a):
                blocks = [block for block in blocks if block not in (a, b)] + [a | b]
                merged = True
                break
    return sorted(
        blocks, key=lambda block: sum(clear(other, block) for other in blocks if other is not block)
    )


def topological_lists(certain: BoolArray, k: int) -> dict[tuple[int, ...], float]:
    """Every list of conservative exploration with its probability, position by position."""
    lists: dict[tuple[int, ...], float] = {}

    def extend(order: tuple[int, ...], chance: float) -> None:
        if len(order) == k:
            lists[order] = lists.get(order, 0.0) + chance
            return
        left = [doc for doc in range(len(certain)) if doc not in order]
        free = [doc for doc in left if not any(certain[other, doc] for other in left)]
        for doc in free:
            extend((*order, doc), chance / len(free))

    extend((), 1.0)
    return lists


def shuffled_lists(blocks: list[set[int]], k: int) -> dict[tuple[int, ...], float]:
    """Every list of random exploration with its probability."""
    whole = itertools.product(*(itertools.permutations(block) for block in blocks))
    orders = [tuple(itertools.chain.from_iterable(parts))[:k] for parts in whole]
    return {order: count / len(orders) for order, count in Counter(orders).items()}


@given(situations())
def test_certain_orders_form_no_cycle(situation: tuple[FloatArray, BoolArray]) -> None:
    scores, certain = situation
    assert not (certain & certain.T).any()
    assert all(scores[i] > scores[j] for i, j in zip(*certain.nonzero(), strict=True))


@given(situations())
def test_blocks_are_the_finest_whose_cross_pairs_are_certain(situation: tuple[FloatArray, BoolArray]) -> None:
    scores, certain = situation
    blocks = [set(block.tolist()) for block in ordered_blocks(scores, certain)]
    assert set().union(*blocks) == set(range(len(scores)))
    for upper, lower in itertools.combinations(blocks, 2):
        assert all(certain[i, j] for i in upper for j in lower)
    assert blocks == graph_blocks(certain)


@given(situations(), st.integers(1, 8), st.integers(0, 2**32))
def test_conservative_lists_never_violate_a_certain_order(
    situation: tuple[FloatArray, BoolArray], k: int, seed: int
) -> None:
    _, certain = situation
    order = random_topological(certain, k, np.random.default_rng(seed)).tolist()
    assert len(set(order)) == min(k, len(certain))
    assert violations(order, certain) == 0
    for left_out in set(range(len(certain))) - set(order):
        assert not any(certain[left_out, shown] for shown in order)


@given(situations(), st.integers(1, 8), st.integers(0, 2**32))
def test_shuffled_lists_keep_the_blocks(situation: tuple[FloatArray, BoolArray], k: int, seed: int) -> None:
    scores, certain = situation
    order = shuffle_blocks(scores, certain, k, np.random.default_rng(seed)).tolist()
    assert tuple(order) in shuffled_lists(graph_blocks(certain), min(k, len(scores)))


PATTERNS = [FIGURE, np.zeros((5, 5), dtype=bool), np.triu(np.ones((5, 5), dtype=bool), 1), np.triu(FIGURE, 2)]


@pytest.mark.parametrize("k", [2, 5])
@pytest.mark.parametrize(
    "certain", PATTERNS, ids=["figure 1", "nothing certain", "all certain", "neighbours open"]
)
def test_lists_follow_the_enumerated_distribution(certain: BoolArray, k: int) -> None:
    rounds, rng = 12_000, np.random.default_rng(4)
    conservative = [random_topological(certain, k, rng) for _ in range(rounds)]
    shuffled = [shuffle_blocks(FIGURE_SCORES, certain, k, rng) for _ in range(rounds)]
    for expected, lists in (
        (topological_lists(certain, k), conservative),
        (shuffled_lists(graph_blocks(certain), k), shuffled),
    ):
        found = Counter(tuple(order.tolist()) for order in lists)
        assert set(found) <= set(expected)
        for order, chance in expected.items():
            assert chance > 0
            assert found[order] / rounds == pytest.approx(chance, abs=5 * np.sqrt(chance / rounds))


def test_figure_1_allows_exactly_its_lists() -> None:
    """Blocks {1, 2} and {3, 4, 5}; 3 above 4 is certain, so 5 may stand anywhere in the second block."""
    blocks = [(block + 1).tolist() for block in ordered_blocks(FIGURE_SCORES, FIGURE)]
    assert blocks == [[1, 2], [3, 4, 5]]
    rng = np.random.default_rng(0)
    conservative = {tuple((random_topological(FIGURE, 5, rng) + 1).tolist()) for _ in range(500)}
    assert conservative == {
        (*first, *second) for first in ((1, 2), (2, 1)) for second in ((3, 4, 5), (3, 5, 4), (5, 3, 4))
    }
    shuffled = {tuple((shuffle_blocks(FIGURE_SCORES, FIGURE, 5, rng) + 1).tolist()) for _ in range(800)}
    assert shuffled == {
        (*first, *second) for first in ((1, 2), (2, 1)) for second in itertools.permutations((3, 4, 5))
    }


def test_an_uncertain_pair_draws_what_is_between_into_its_block() -> None:
    """1 and 3 are uncertain: 2, certain against both, cannot be left between two blocks."""
    certain = np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]], dtype=bool)
    assert len(ordered_blocks(np.array([3.0, 2.0, 1.0]), certain)) == 1
