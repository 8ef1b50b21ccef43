"""Fair lists, against a slow enumeration of every template and of every list."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankloop.errors import SettingError
from rankloop.exploration import random_topological
from rankloop.exposure import (
    VIEW,
    AccountRule,
    FairList,
    Ties,
    count_violations,
    discounted_views,
    draw_deep,
    due_views,
    least_tolerance,
    measured_views,
    merge_fairly,
    split_into_pages,
)
from rankloop.exposure.group_templates import all_templates
from rankloop.types import BoolArray, FloatArray, IntArray

VIEWS = np.array([1000, 630, 500, 430, 387, 356])


@dataclass(frozen=True, eq=False)
class World:
    """Documents of some groups, what is certain about them, and what their list must keep to."""

    certain: BoolArray
    groups: IntArray
    rule: AccountRule
    seed: int

    @property
    def drawn(self) -> IntArray:
        k = len(self.rule.views)
        return draw_deep(self.certain, self.groups, k, np.random.default_rng(self.seed))

    def merge(self, ties: Ties = "random", keep: bool = False) -> FairList:
        rng = np.random.default_rng(self.seed)
        return merge_fairly(self.drawn, self.groups, self.certain, self.rule, rng=rng, ties=ties, keep=keep)

    def off(self, order: Sequence[int]) -> int:
        """How far the beginning of a list leaves the worst account off."""
        accounts = self.rule.ahead - self.rule.due(len(order))
        for view, doc in zip(self.rule.views.tolist(), order, strict=False):
            accounts[self.groups[doc]] += view
        return int(np.abs(accounts).max())

    def violated(self, order: Sequence[int]) -> int:
        """Certain orders whose better document stands below, or nowhere."""
        above: set[int] = set()
        count = 0
        for doc in order:
            count += sum(int(i) not in above for i in self.certain[:, doc].nonzero()[0])
            above.add(doc)
        return count

    def merit(self, order: Sequence[int], tolerance: int) -> tuple[bool, int, int]:
        """What makes a list the better one: smaller is better."""
        off = self.off(order)
        return off > tolerance, off if off > tolerance else 0, self.violated(order)


def merge_slowly(world: World, ties: Ties, keep: bool) -> list[int]:
    """`merge_fairly` without tables: each template of each part is tried by itself."""
    drawn, rule, rng = world.drawn.tolist(), world.rule, np.random.default_rng(world.seed)

    def settle(order: list[int], parts: Sequence[int], tolerance: int) -> list[int]:
        for length in parts:
            left = [row for row in drawn if row not in order]
            queues = [[row for row in left if world.groups[row] == group] for group in range(len(rule.ahead))]
            lists = []
            for template in itertools.product(range(len(queues)), repeat=length):
                if all(template.count(group) <= len(queue) for group, queue in enumerate(queues)):
                    waiting = [iter(queue) for queue in queues]
                    lists.append([*order, *(next(waiting[group]) for group in template)])
            merits = [world.merit(each, tolerance) for each in lists]
            best = [each for each, merit in zip(lists, merits, strict=True) if merit == min(merits)]
            if ties == "least":
                best = [each for each in best if world.off(each) == min(map(world.off, best))]
            order = best[int(rng.random() * len(best))]
        return order

    found: list[int] = []
    for parts in rule.pages:
        kept = found + [row for row in drawn if row not in found][: sum(parts)]
        if keep and world.off(kept) <= rule.tolerance:
            found = kept
            continue
        tried = settle(found, parts, rule.tolerance)
        if len(parts) > 1 and world.off(tried) > rule.tolerance:
            tried = min(tried, settle(found, parts, 0), key=world.off)
        found = tried
    return found


def make_rule(
    views: IntArray, counts: IntArray, ahead: IntArray, tolerance: int, pages: Sequence[Sequence[int]]
) -> AccountRule:
    """Falling shares."""

    def due(p: int) -> IntArray:
        return due_views(1 / (2 + np.arange(len(counts))), views[:p], counts)

    return AccountRule(views=views, ahead=ahead, due=due, tolerance=tolerance, pages=pages)


@st.composite
def cuts(draw: st.DrawFn, k: int) -> list[list[int]]:
    """Any way to cut a list into pages, and these into parts."""
    pages = [[1]]
    for _ in range(k - 1):
        match draw(st.sampled_from(["longer part", "new part", "new page"])):
            case "longer part":
                pages[-1][-1] += 1
            case "new part":
                pages[-1].append(1)
            case _:
                pages.append([1])
    return pages


@st.composite
def worlds(draw: st.DrawFn, *, weak: bool = False, most_groups: int = 3, cut: bool = False) -> World:
    """Small worlds; with `cut`, lists are settled by any pages of any parts."""
    n = draw(st.integers(1, 6))
    m = draw(st.integers(1, most_groups))
    k = draw(st.integers(1, n))
    ranks = np.array(draw(st.lists(st.integers(0, 3), min_size=n, max_size=n)))
    certain = np.subtract.outer(ranks, ranks) > 0  # a weak order: blocks
    if not weak:  # drop some, and close what is left, since certainty is transitive
        kept = np.array(draw(st.lists(st.booleans(), min_size=n * n, max_size=n * n))).reshape(n, n)
        certain &= kept
        for middle in range(n):
            certain |= np.outer(certain[:, middle], certain[middle])
    groups = np.array(draw(st.lists(st.integers(0, m - 1), min_size=n, max_size=n)))
    ahead = np.array(draw(st.lists(st.integers(-1500, 1500), min_size=m, max_size=m)))
    tolerance = draw(st.sampled_from([0, 100, 500, 2000]))
    pages = draw(cuts(k)) if cut else [[k]]
    rule = make_rule(VIEWS[:k], np.bincount(groups, minlength=m), ahead, tolerance, pages)
    return World(certain, groups, rule, draw(st.integers(0, 99)))


@given(worlds(cut=True), st.sampled_from(["random", "least"]), st.booleans())
@settings(max_examples=200)
def test_a_merge_is_that_of_the_slow_enumeration_and_tells_the_truth_about_itself(
    world: World, ties: Ties, keep: bool
) -> None:
    found, order = world.merge(ties, keep), merge_slowly(world, ties, keep)
    assert found.order.tolist() == order
    assert found.violated_orders == world.violated(order) == count_violations(found.order, world.certain)
    assert found.is_within_tolerance == (world.off(order) <= world.rule.tolerance)
    views = [VIEWS[: len(order)][world.groups[order] == group].sum() for group in range(len(found.received))]
    assert found.received.tolist() == views


@given(worlds(weak=True))
@settings(max_examples=60)
def test_where_certain_orders_make_blocks_no_list_at_all_is_better(world: World) -> None:
    tolerance = world.rule.tolerance
    every = itertools.permutations(range(len(world.groups)), len(world.rule.views))
    best = min(world.merit(order, tolerance) for order in every)
    assert world.merit(world.merge().order.tolist(), tolerance) == best


@given(worlds())
def test_renaming_groups_renames_the_result(world: World) -> None:
    rule, tolerance = world.rule, world.rule.tolerance
    names = np.roll(np.arange(len(rule.ahead)), 1)  # group g is called names[g]
    back = names.argsort()
    renamed = replace(rule, ahead=rule.ahead[back], due=lambda p: rule.due(p)[back])
    there = replace(world, groups=names[world.groups], rule=renamed).merge().order.tolist()
    here = world.merge().order.tolist()
    assert world.merit(there, tolerance) == world.merit(here, tolerance)


@given(worlds(most_groups=1, cut=True))
def test_one_group_gets_the_drawn_list_and_its_account_stays(world: World) -> None:
    found, k = world.merge(), len(world.rule.views)
    assert found.order.tolist() == world.drawn[:k].tolist()
    assert (found.received == world.rule.due(k)).all()


@given(worlds())
def test_a_deep_draw_begins_as_a_random_topological_order_and_serves_every_group(world: World) -> None:
    k, drawn = len(world.rule.views), world.drawn
    plain = random_topological(world.certain, k, np.random.default_rng(world.seed))
    assert drawn[:k].tolist() == plain.tolist()
    there, all_of = (np.bincount(each, minlength=3) for each in (world.groups[drawn], world.groups))
    assert (there >= np.minimum(all_of, k)).all()
    assert not any(world.certain[j, i] for i, j in itertools.combinations(drawn.tolist(), 2))


@given(worlds(most_groups=2), st.integers(1, 4))
@settings(max_examples=120)
def test_swapped_pairs_are_at_least_what_the_change_of_exposure_takes(world: World, gap: int) -> None:
    """Neighbours that change places move the difference of two groups by twice that of their views."""
    drawn, k = world.drawn, len(world.rule.views)
    drawn = np.append(drawn, np.setdiff1d(np.arange(len(world.groups)), drawn))
    rank = drawn.argsort()
    certain = np.subtract.outer(rank, rank) <= -gap  # of those that were drawn so far apart
    found = merge_fairly(
        drawn, world.groups, certain, world.rule, rng=np.random.default_rng(world.seed)
    ).order.tolist()
    shown = np.array(found + [row for row in drawn.tolist() if row not in found])
    swapped = sum(rank[a] > rank[b] for a, b in itertools.combinations(shown.tolist(), 2))

    def difference(order: IntArray) -> int:
        return int((VIEWS[:k] * np.where(world.groups[order[:k]] == 0, 1, -1)).sum())

    step = 2 * max(-np.diff(VIEWS[:k], append=0))
    assert swapped >= abs(difference(drawn) - difference(shown)) / step


@pytest.mark.parametrize("n_groups", [2, 3, 5])
def test_the_first_ten_are_the_same_for_every_length_from_ten_on(n_groups: int) -> None:
    rng = np.random.default_rng(n_groups)
    certain, groups = np.subtract.outer(*[rng.normal(size=60)] * 2) > 0.8, rng.integers(n_groups, size=60)
    drawn, counts = draw_deep(certain, groups, 60, rng), np.bincount(groups, minlength=n_groups)
    lists = []
    for k in (10, 13, 20, 40):
        pages, ahead = split_into_pages(k, n_groups), np.zeros(n_groups, int)
        rule = make_rule(discounted_views(k), counts, ahead, VIEW // 2, pages)
        found = merge_fairly(drawn, groups, certain, rule, rng=np.random.default_rng(5))
        lists.append(found.order.tolist())
        assert len(set(lists[-1])) == k
    assert all(each[:10] == lists[0] for each in lists)
    assert lists[3][:20] == lists[2]


@pytest.mark.parametrize(
    ("examination", "half_a_gap"), [(1 / np.arange(1, 11), 0.1), (1 / np.log2(np.arange(2, 12)), 0.289)]
)
def test_within_the_least_tolerance_two_groups_stay_for_ever(
    examination: FloatArray, half_a_gap: float
) -> None:
    views, rng = measured_views(examination), np.random.default_rng(0)
    tolerance = least_tolerance(views)
    assert 2 * tolerance / VIEW == pytest.approx(half_a_gap, abs=5e-4)  # unfairness counts both groups
    ahead, groups = np.zeros(2, dtype=np.int64), np.repeat([0, 1], 10)
    for _ in range(200):
        scores = rng.normal(size=20) + groups  # one group is better
        certain = np.subtract.outer(scores, scores) > 0.3
        # views are rounded to millionths
        rule = make_rule(views, np.array([10, 10]), ahead, tolerance + 1, [[10]])
        found = merge_fairly(draw_deep(certain, groups, 10, rng), groups, certain, rule, rng=rng)
        ahead = ahead + found.received - rule.due(10)
        assert found.is_within_tolerance
        assert np.abs(ahead).max() <= tolerance + 1


def test_many_groups_are_settled_position_by_position_without_tables() -> None:
    rng, n = np.random.default_rng(0), 300
    groups = rng.permutation(n)  # every document is a group of its own
    certain = np.subtract.outer(*[rng.normal(size=n)] * 2) > 1.0
    before = all_templates.cache_info().currsize
    ahead = rng.integers(-VIEW, VIEW, size=n)
    rule = make_rule(discounted_views(10), np.ones(n, dtype=int), ahead, 0, split_into_pages(10, n))
    world = World(certain, groups, rule, seed=1)
    assert world.merge().order.tolist() == merge_slowly(world, "random", keep=False)
    assert all_templates.cache_info().currsize == before


def test_parts_with_too_many_templates_are_refused_with_what_to_do() -> None:
    with pytest.raises(SettingError, match=r"use pages=split_into_pages\(20, 3\)"):
        make_rule(discounted_views(20), np.full(3, 20), np.zeros(3, dtype=int), 1, [[20]])
