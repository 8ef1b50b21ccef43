"""FairSwap as printed: it fills every template, and where it violates more than it must."""

from __future__ import annotations

from collections import Counter
from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankloop.errors import SettingError
from rankloop.exposure import fair_list, whole_looks
from rankloop.exposure.template_swap import count_violations, fair_swap, swap_list
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
    looks = 1 / np.arange(1, 6)
    unfairness = sum(look if group == A else -look for look, group in zip(looks, TEMPLATE, strict=True))
    assert unfairness == pytest.approx(1 + 1 / 2 - 1 / 3 + 1 / 4 - 1 / 5)
    assert round(unfairness, 3) == 1.217


def test_in_the_example_half_of_the_lists_violate_two_orders_where_one_would_do() -> None:
    certain = weak_order(RANKS)
    lists = [
        fair_swap(blocks_of(RANKS), GROUPS, TEMPLATE, np.random.default_rng(seed)) for seed in range(2000)
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
        order = fair_swap(blocks_of(ranks), groups, template, np.random.default_rng(seed))
        assert tuple(groups[order]) == template
        assert len(set(order.tolist())) == k
        assert count_violations(order, weak_order(ranks)) == slowly_counted(order, weak_order(ranks))


@given(worlds(), st.integers(0, 99), st.sampled_from([0, 200, 2000]))
@settings(max_examples=60)
def test_swaps_keep_the_accounts_as_the_merge_does_and_never_with_fewer_violations(
    world: tuple[IntArray, IntArray, int], seed: int, tolerance: int
) -> None:
    ranks, groups, k = world
    looks = whole_looks(1 / np.arange(1, k + 1)) // 1000
    certain, due = weak_order(ranks), np.array([looks.sum() - looks.sum() // 2, looks.sum() // 2])
    ahead, drawn = np.array([-300, 300]), np.argsort(ranks, kind="stable")

    def rules(rng: int) -> dict[str, object]:
        return {
            "looks": looks,
            "ahead": ahead,
            "due": lambda _: due,
            "tolerance": tolerance,
            "rng": np.random.default_rng(rng),
        }

    swapped = swap_list(blocks_of(ranks), groups, certain, **rules(seed))  # type: ignore[arg-type]
    merged = fair_list(drawn, groups, certain, **rules(seed))  # type: ignore[arg-type]
    assert swapped.within == merged.within
    assert swapped.violated == slowly_counted(swapped.order, certain)
    assert swapped.violated >= merged.violated
    assert swapped.granted.tolist() == np.bincount(groups[swapped.order], looks, minlength=2).tolist()
    if not merged.within:
        off = [np.abs(ahead + each.granted - due).max() for each in (swapped, merged)]
        assert off[0] == off[1]


def test_more_than_two_groups_are_refused() -> None:
    with pytest.raises(
        SettingError, match="FairSwap is for two groups at up to 14 positions, found 3 groups"
    ):
        swap_list(
            [np.arange(3)],
            np.arange(3),
            np.zeros((3, 3), dtype=bool),
            looks=np.array([10, 5, 3]),
            ahead=np.zeros(3, dtype=int),
            due=lambda _: np.full(3, 6),
            tolerance=5,
            rng=np.random.default_rng(0),
        )
