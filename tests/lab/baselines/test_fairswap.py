"""FairSwap as printed: it fills every template, and where it violates more than it must."""

from __future__ import annotations

from collections import Counter
from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankloop.errors import SettingError
from rankloop.exposure import AccountRule, count_violations, measured_views, merge_fairly
from rankloop.lab.baselines.fairswap import FairSwapPairRank, fill_template, swap_fairly
from rankloop.types import BoolArray, IntArray

A, B = 0, 1


def blocks_of(ranks: IntArray) -> list[IntArray]:
    return [np.flatnonzero(ranks == rank) for rank in sorted(set(ranks.tolist()))]


def weak_order(ranks: IntArray) -> BoolArray:
    return np.asarray(np.less.outer(ranks, ranks))


def slowly_counted(order: IntArray, certain: BoolArray) -> int:
    position = {document: index for index, document in enumerate(order.tolist())}
    n = len(certain)
    return sum(
        bool(certain[i, j]) and j in position and position.get(i, n) > position[j]
        for i in range(n)
        for j in range(n)
    )


# The worked example: x1 A, x2 B, x3 A, x4 A, x5 B in the blocks {x1, x2} and {x3, x4, x5}

RANKS, GROUPS, TEMPLATE = np.array([0, 0, 1, 1, 1]), np.array([A, B, A, A, B]), (A, A, B, A, B)


def test_the_template_of_the_example_is_as_unfair_as_printed() -> None:
    views = 1 / np.arange(1, 6)
    unfairness = sum(view if group == A else -view for view, group in zip(views, TEMPLATE, strict=True))
    assert unfairness == pytest.approx(1 + 1 / 2 - 1 / 3 + 1 / 4 - 1 / 5)
    assert round(unfairness, 3) == 1.217


def test_in_the_example_half_of_the_lists_violate_two_orders_where_one_would_do() -> None:
    certain = weak_order(RANKS)
    lists = [
        fill_template(blocks_of(RANKS), GROUPS, TEMPLATE, np.random.default_rng(seed)) for seed in range(2000)
    ]
    assert {tuple(order[:2]) for order in lists} == {(0, 2), (0, 3), (2, 0), (3, 0)}
    found = Counter(count_violations(order, certain) for order in lists)
    assert set(found) == {1, 2}
    assert found[2] / len(lists) == pytest.approx(1 / 2, abs=0.05)
    assert count_violations(np.array([3, 0, 1, 2, 4]), certain) == 2  # the list that is printed
    fitting = [order for order in permutations(range(5)) if tuple(GROUPS[list(order)]) == TEMPLATE]
    assert min(count_violations(np.array(order), certain) for order in fitting) == 1


# Every template of small worlds


@st.composite
def worlds(draw: st.DrawFn) -> tuple[IntArray, IntArray, int]:
    n = draw(st.integers(1, 7))
    ranks = np.array(draw(st.lists(st.integers(0, 2), min_size=n, max_size=n)))
    groups = np.array(draw(st.lists(st.integers(0, 1), min_size=n, max_size=n)))
    return ranks, groups, draw(st.integers(1, n))


@given(worlds(), st.integers(0, 99))
@settings(max_examples=60)
def test_every_template_that_can_be_filled_is_filled(
    world: tuple[IntArray, IntArray, int], seed: int
) -> None:
    ranks, groups, k = world
    counts = np.bincount(groups, minlength=2)
    for template in product((A, B), repeat=k):
        if (np.bincount(template, minlength=2) > counts).any():
            continue
        order = fill_template(blocks_of(ranks), groups, template, np.random.default_rng(seed))
        assert tuple(groups[order]) == template
        assert len(set(order.tolist())) == k
        assert count_violations(order, weak_order(ranks)) == slowly_counted(order, weak_order(ranks))


@given(worlds(), st.integers(0, 99), st.sampled_from([0, 200, 2000]))
@settings(max_examples=60)
def test_swaps_keep_the_accounts_as_the_merge_does_and_never_with_fewer_violations(
    world: tuple[IntArray, IntArray, int], seed: int, tolerance: int
) -> None:
    ranks, groups, k = world
    views = measured_views(1 / np.arange(1, k + 1)) // 1000
    certain, due = weak_order(ranks), np.array([views.sum() - views.sum() // 2, views.sum() // 2])
    rule = AccountRule(
        views=views, ahead=np.array([-300, 300]), due=lambda _: due, tolerance=tolerance, pages=[[k]]
    )
    swapped = swap_fairly(blocks_of(ranks), groups, certain, rule, rng=np.random.default_rng(seed))
    drawn = np.argsort(ranks, kind="stable")
    merged = merge_fairly(drawn, groups, certain, rule, rng=np.random.default_rng(seed))
    assert swapped.is_within_tolerance == merged.is_within_tolerance
    assert swapped.violated_orders == slowly_counted(swapped.order, certain)
    assert swapped.violated_orders >= merged.violated_orders
    assert swapped.received.tolist() == np.bincount(groups[swapped.order], views, minlength=2).tolist()
    if not merged.is_within_tolerance:
        assert rule.off(swapped.received, k) == rule.off(merged.received, k)


def test_more_than_two_groups_are_refused_and_lists_without_blocks() -> None:
    rule = AccountRule(
        views=np.array([10, 5, 3]),
        ahead=np.zeros(3, dtype=int),
        due=lambda _: np.full(3, 6),
        tolerance=5,
        pages=[[3]],
    )
    nothing = np.zeros((3, 3), dtype=bool)
    with pytest.raises(SettingError, match="is for two groups at up to 14 positions, found 3 groups"):
        swap_fairly([np.arange(3)], np.arange(3), nothing, rule, rng=np.random.default_rng(0))
    with pytest.raises(SettingError, match="exploration must be random, found 'conservative'"):
        FairSwapPairRank(exploration="conservative")
