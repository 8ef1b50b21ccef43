"""Fair lists, against enumerations of every template and of every list."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankloop.errors import RankingError, SettingError
from rankloop.exploration import random_topological
from rankloop.exposure import (
    LOOK,
    FairList,
    Method,
    Ties,
    attainable,
    deep_draw,
    discounted_looks,
    entitlements,
    fair_list,
    least_tolerance,
    whole_looks,
)
from rankloop.exposure.deep_draw import group_queues
from rankloop.exposure.group_templates import all_templates, granted
from rankloop.exposure.template_costs import Pricing
from rankloop.types import BoolArray, FloatArray, IntArray

LENGTHS = [1000, 630, 500, 430, 387, 356]


@dataclass(frozen=True, eq=False)
class World:
    """Documents of some groups, what is certain about them, and the accounts so far."""

    certain: BoolArray
    groups: IntArray
    ahead: IntArray
    looks: IntArray
    tolerance: int
    seed: int

    @property
    def m(self) -> int:
        return len(self.ahead)

    @property
    def due(self) -> IntArray:
        counts = np.bincount(self.groups, minlength=self.m)
        return entitlements(np.ones(self.m), self.looks, counts)

    @property
    def drawn(self) -> IntArray:
        return deep_draw(self.certain, self.groups, len(self.looks), np.random.default_rng(self.seed))

    def fair(self, method: Method = "table", ties: Ties = "random") -> FairList:
        return fair_list(
            self.drawn,
            self.groups,
            self.certain,
            looks=self.looks,
            ahead=self.ahead,
            due=lambda _: self.due,
            tolerance=self.tolerance,
            rng=np.random.default_rng(self.seed),
            method=method,
            ties=ties,
        )

    def off(self, order: tuple[int, ...]) -> int:
        """How far the list leaves the worst account off."""
        accounts = self.ahead - self.due
        for look, doc in zip(self.looks.tolist(), order, strict=True):
            accounts[self.groups[doc]] += look
        return int(np.abs(accounts).max())

    def violated(self, order: tuple[int, ...]) -> int:
        """Certain orders whose better document stands below, or nowhere."""
        above: set[int] = set()
        count = 0
        for doc in order:
            count += sum(int(i) not in above for i in self.certain[:, doc].nonzero()[0])
            above.add(doc)
        return count

    def merit(self, order: tuple[int, ...]) -> tuple[bool, int, int]:
        """What makes a list the better one: smaller is better."""
        off = self.off(order)
        outside = off > self.tolerance
        return outside, off if outside else 0, self.violated(order)

    def merges(self) -> list[tuple[int, ...]]:
        """Every list in which each group's documents are a prefix of its queue."""
        queues = group_queues(self.drawn, self.groups, len(self.looks), self.m)
        lists = []
        for template in itertools.product(range(self.m), repeat=len(self.looks)):
            if all(template.count(group) <= len(queues[group]) for group in range(self.m)):
                waiting = [iter(queue.tolist()) for queue in queues]
                lists.append(tuple(next(waiting[group]) for group in template))
        return lists


@st.composite
def worlds(draw: st.DrawFn, *, weak: bool = False, most_groups: int = 3) -> World:
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
    return World(certain, groups, ahead, np.array(LENGTHS[:k]), tolerance, draw(st.integers(0, 99)))


def due_of(looks: IntArray, counts: IntArray, positions: int) -> IntArray:
    """Falling shares, of the first so many looks."""
    return entitlements(1 / (2 + np.arange(len(counts))), looks[:positions], counts)


@given(worlds(), st.sampled_from(["random", "least"]))
@settings(max_examples=150)
def test_a_merge_is_the_best_of_all_merges_and_says_the_truth_about_itself(world: World, ties: Ties) -> None:
    found = world.fair(ties=ties)
    order = tuple(found.order.tolist())
    best = min(map(world.merit, world.merges()))
    assert order in world.merges()
    assert world.merit(order) == best
    assert found.violated == world.violated(order)
    assert found.within == (world.off(order) <= world.tolerance)
    assert found.granted.sum() == world.looks.sum() == world.due.sum()
    if ties == "least":
        assert world.off(order) == min(
            world.off(each) for each in world.merges() if world.merit(each) == best
        )


@given(worlds(weak=True))
@settings(max_examples=100)
def test_where_certain_orders_make_blocks_no_list_at_all_is_better(world: World) -> None:
    every = itertools.permutations(range(len(world.groups)), len(world.looks))
    assert world.merit(tuple(world.fair().order.tolist())) == min(map(world.merit, every))


@given(worlds(), st.sampled_from(["random", "least"]))
@settings(max_examples=100)
def test_pages_and_halves_find_what_the_table_finds(world: World, ties: Ties) -> None:
    table = tuple(world.fair(ties=ties).order.tolist())
    others: list[Method] = ["pages"]
    if world.m == 2 and len(world.looks) > 1:
        others.append("halves")
    for method in others:
        found = world.fair(method, ties)
        assert world.merit(tuple(found.order.tolist())) == world.merit(table)
        assert found.violated == world.violated(tuple(found.order.tolist()))
        if ties == "least":
            assert world.off(tuple(found.order.tolist())) == world.off(table)


def test_every_tie_is_as_likely_as_the_others_in_the_table_and_in_halves() -> None:
    certain, groups = np.zeros((4, 4), dtype=bool), np.array([0, 0, 1, 1])
    methods: tuple[Method, ...] = ("table", "halves")
    for method in methods:
        found = {
            tuple(groups[World(certain, groups, np.zeros(2, int), np.array([10, 10, 10, 10]), 0, seed)
                         .fair(method).order].tolist())
            for seed in range(200)
        }  # fmt: skip
        assert len(found) == 6  # two of four positions


def test_halves_are_the_table_for_lists_of_twelve() -> None:
    rng = np.random.default_rng(0)
    for seed in range(10):
        scores = rng.normal(size=40)
        certain = np.subtract.outer(scores, scores) > 0.5
        groups = (rng.random(40) < 0.3).astype(np.int64)
        world = World(certain, groups, np.array([-300_000, 300_000]), discounted_looks(12), 50_000, seed)
        table, halves = world.fair("table"), world.fair("halves")
        assert (halves.violated, halves.within) == (table.violated, table.within)


@given(worlds(most_groups=3))
def test_renaming_groups_renames_the_result(world: World) -> None:
    names = np.roll(np.arange(world.m), 1)  # group g is called names[g]
    renamed = World(
        world.certain, names[world.groups], np.empty(world.m, int), world.looks, world.tolerance, world.seed
    )
    renamed.ahead[names] = world.ahead
    due = np.empty(world.m, int)
    due[names] = world.due
    there = fair_list(
        world.drawn,
        renamed.groups,
        world.certain,
        looks=world.looks,
        ahead=renamed.ahead,
        due=lambda _: due,
        tolerance=world.tolerance,
        rng=np.random.default_rng(0),
    )
    assert world.merit(tuple(there.order.tolist())) == world.merit(tuple(world.fair().order.tolist()))


@given(worlds(most_groups=1))
def test_one_group_gets_the_drawn_list_and_its_account_stays(world: World) -> None:
    found = world.fair("pages")
    assert found.order.tolist() == world.drawn[: len(world.looks)].tolist()
    assert (found.granted == world.due).all()


@given(worlds())
def test_a_deep_draw_begins_as_a_random_topological_order_and_serves_every_group(world: World) -> None:
    k = len(world.looks)
    plain = random_topological(world.certain, k, np.random.default_rng(world.seed))
    assert world.drawn[:k].tolist() == plain.tolist()
    there, all_of = (np.bincount(each, minlength=3) for each in (world.groups[world.drawn], world.groups))
    assert (there >= np.minimum(all_of, k)).all()
    before = {i for i, j in itertools.combinations(world.drawn.tolist(), 2) if world.certain[j, i]}
    assert not before


@pytest.mark.parametrize("n_groups", [2, 3, 5])
def test_the_first_ten_are_the_same_for_every_length_from_ten_on(n_groups: int) -> None:
    rng = np.random.default_rng(n_groups)
    certain, groups = np.subtract.outer(*[rng.normal(size=60)] * 2) > 0.8, rng.integers(n_groups, size=60)
    drawn, counts = deep_draw(certain, groups, 60, rng), np.bincount(groups, minlength=n_groups)
    lists = []
    for k in (10, 13, 20, 40):
        looks = discounted_looks(k)
        found = fair_list(
            drawn,
            groups,
            certain,
            looks=looks,
            ahead=np.zeros(n_groups, int),
            due=partial(due_of, looks, counts),
            tolerance=LOOK // 2,
            rng=np.random.default_rng(5),
            method="pages",
        )
        lists.append(found.order.tolist())
        assert len(set(lists[-1])) == k
    assert all(each[:10] == lists[0] for each in lists)
    assert lists[3][:20] == lists[2]


def test_the_thesis_example_has_a_list_with_one_violation() -> None:
    blocks = [0, 0, 1, 1, 1]  # x1, x2 above x3, x4, x5
    certain = np.less.outer(blocks, blocks)
    queues = [np.array([0, 2, 3]), np.array([1, 4])]  # A: x1, x3, x4; B: x2, x5
    template = [0, 0, 1, 0, 1]  # AABAB
    number = all_templates(2, 5).groups.tolist().index(template)
    gains = granted(2, tuple(whole_looks(1 / np.arange(1, 6)).tolist()))[:, number] / LOOK
    assert gains[0] - gains[1] == pytest.approx(1 + 1 / 2 - 1 / 3 + 1 / 4 - 1 / 5, abs=1e-5)
    assert Pricing.start(queues, certain).costs(all_templates(2, 5))[number] == 1


@given(
    st.lists(st.tuples(st.floats(0, 1), st.integers(0, 6)), min_size=1, max_size=5),
    st.integers(1, 10),
)
def test_entitlements_give_every_look_to_somebody_who_can_use_it(
    groups: list[tuple[float, int]], k: int
) -> None:
    shares, counts = np.array([share for share, _ in groups]), np.array([count for _, count in groups])
    looks = discounted_looks(max(1, min(k, int(counts.sum()))))
    if not counts.sum():
        with pytest.raises(RankingError, match="every position a candidate"):
            entitlements(shares, looks, counts)
        return
    due, most = entitlements(shares, looks, counts), attainable(looks, counts)
    assert due.sum() == looks.sum()
    assert ((due >= 0) & (due <= most)).all()
    free = (due < most) & (shares > 0) & (counts > 0)
    for one, other in itertools.combinations(free.nonzero()[0], 2):  # uncapped groups are due by their shares
        assert due[one] * shares[other] == pytest.approx(due[other] * shares[one], abs=2)


@pytest.mark.parametrize(
    ("looks", "half_a_gap"), [(1 / np.arange(1, 11), 0.1), (1 / np.log2(np.arange(2, 12)), 0.289)]
)
def test_within_the_least_tolerance_two_groups_stay_for_ever(looks: FloatArray, half_a_gap: float) -> None:
    whole, rng = whole_looks(looks), np.random.default_rng(0)
    tolerance = least_tolerance(whole)
    assert 2 * tolerance / LOOK == pytest.approx(half_a_gap, abs=5e-4)  # unfairness counts both groups
    ahead, groups = np.zeros(2, dtype=np.int64), np.repeat([0, 1], 10)
    for _ in range(200):
        scores = rng.normal(size=20) + groups  # one group is better
        certain = np.subtract.outer(scores, scores) > 0.3
        found = fair_list(
            deep_draw(certain, groups, 10, rng),
            groups,
            certain,
            looks=whole,
            ahead=ahead,
            due=partial(due_of, whole, np.array([10, 10])),
            tolerance=tolerance + 1,  # looks are rounded to millionths
            rng=rng,
        )
        ahead = ahead + found.granted - due_of(whole, np.array([10, 10]), 10)
        assert found.within
        assert np.abs(ahead).max() <= tolerance + 1


def test_what_cannot_be_looked_at_is_refused_with_what_to_do() -> None:
    certain, groups = np.zeros((40, 40), dtype=bool), np.arange(40) % 3
    methods: tuple[Method, ...] = ("table", "halves")
    for method in methods:
        with pytest.raises(SettingError, match="use method='pages'"):
            fair_list(
                np.arange(40),
                groups,
                certain,
                looks=discounted_looks(20),
                ahead=np.zeros(3, int),
                due=lambda _: np.zeros(3, int),
                tolerance=1,
                rng=np.random.default_rng(0),
                method=method,
            )
    with pytest.raises(SettingError, match="never rise"):
        whole_looks([0.5, 0.6])
    with pytest.raises(SettingError, match="start above 0"):
        whole_looks([])


def test_many_groups_are_settled_position_by_position_without_tables() -> None:
    rng, n = np.random.default_rng(0), 300
    groups = rng.permutation(n)  # every document is a group of its own
    certain = np.subtract.outer(*[rng.normal(size=n)] * 2) > 1.0
    before = all_templates.cache_info().currsize
    looks, ahead = discounted_looks(10), rng.integers(-LOOK, LOOK, size=n)
    drawn = deep_draw(certain, groups, 10, rng)
    found = fair_list(
        drawn,
        groups,
        certain,
        looks=looks,
        ahead=ahead,
        due=partial(due_of, looks, np.ones(n, dtype=np.int64)),
        tolerance=0,
        rng=rng,
        method="pages",
    )
    assert all_templates.cache_info().currsize == before
    standing = ahead.astype(np.int64)
    for position, row in enumerate(found.order.tolist()):  # each time, nobody else would have come nearer
        left = due_of(looks, np.ones(n, dtype=np.int64), position + 1)
        free = [
            group for group in range(n) if not (found.order[:position] == (groups == group).argmax()).any()
        ]
        off = {
            group: np.abs(standing + looks[position] * (np.arange(n) == group) - left).max() for group in free
        }
        assert off[int(groups[row])] == min(off.values())
        standing[groups[row]] += looks[position]
