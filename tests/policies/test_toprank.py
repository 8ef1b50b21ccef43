"""TopRank: what it proves, what it keeps, and what a rule of exposure does to its proofs."""

from __future__ import annotations

from itertools import product
from math import erf, log, pi, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankloop.errors import RankingError
from rankloop.policies import FairExpTopRank, TopRank
from rankloop.policies.items.toprank import split_into_blocks, transitive_closure
from rankloop.types import BoolArray, Feedback, Query, Ranking

ATTRACTION = np.array([0.9, 0.7, 0.5, 0.3, 0.15, 0.8, 0.6, 0.4, 0.2, 0.1])
GROUPS = ("A",) * 5 + ("B",) * 5
NAMES = tuple("abcdefghij")


def query(*, groups: bool = True, name: str = "q") -> Query:
    return Query(name, np.empty((10, 0)), NAMES, GROUPS if groups else ())


def examined(rng: np.random.Generator, k: int) -> BoolArray:
    """Users who look at the position p with probability 1 / p."""
    return np.asarray(rng.random(k) < 1 / np.arange(1, k + 1))


def live(
    policy: TopRank, *, rounds: int, seed: int, attraction: np.ndarray = ATTRACTION, k: int = 5
) -> TopRank:
    rng = np.random.default_rng(seed)
    asked = query()
    for _ in range(rounds):
        ranking = policy.rank(asked, k=k, rng=rng)
        policy.shown(ranking)
        clicks = examined(rng, k) & (rng.random(k) < attraction[ranking.order])
        policy.learn(Feedback(ranking, clicks))
    return policy


def false_relations(policy: TopRank, attraction: np.ndarray) -> tuple[int, int]:
    """How many relations put the less attractive document above, and how many there are."""
    found = policy.relations(query())
    return int((found & np.less.outer(attraction, attraction)).sum()), int(found.sum())


def test_a_relation_is_proved_exactly_when_the_papers_bound_is_reached() -> None:
    policy, asked = TopRank(delta=0.01), query()
    together = {"blocks": np.zeros(10, dtype=np.int64)}
    c = 4 * sqrt(2 / pi) / erf(sqrt(2))
    assert c == pytest.approx(3.344, abs=0.001)  # the paper prints 3.43 beside the same formula
    for n in range(1, 30):
        policy.learn(Feedback(Ranking(asked, np.array([3, 4]), together), np.array([True, False])))
        assert policy.relations(asked)[3, 4] == (n >= sqrt(2 * n * log(c * sqrt(n) / 0.01)))
    assert policy.relations(asked)[3, :3].all(), "what was not shown was not clicked"
    assert not policy.relations(asked)[:, 3].any()


@given(st.lists(st.booleans(), min_size=25, max_size=25))
def test_blocks_and_closure_are_those_of_their_definition(relations: list[bool]) -> None:
    above = np.array(relations).reshape(5, 5) & ~np.eye(5, dtype=bool)
    blocks, reached = split_into_blocks(above), transitive_closure(above)
    paths = above.copy()
    for middle, i, j in product(range(5), repeat=3):
        paths[i, j] |= paths[i, middle] & paths[middle, j]
    np.testing.assert_array_equal(reached, paths)
    left = set(range(5))
    for block in range(int(blocks.max()) + 1):
        free = {j for j in left if not any(above[i, j] for i in left)} or left
        assert set(np.flatnonzero(blocks == block).tolist()) == free
        left = left - free
    assert not left


def test_in_a_world_of_known_attraction_no_relation_is_false() -> None:
    found = [false_relations(live(TopRank(), rounds=2500, seed=seed), ATTRACTION) for seed in range(2)]
    assert sum(false for false, _ in found) == 0
    assert min(proved for _, proved in found) >= 10


def test_a_rule_of_exposure_makes_false_relations_of_a_block_and_none_within_groups() -> None:
    """A is liked more, and must leave B nearly all looks: who stands below is clicked less."""
    liked = np.array([0.5] * 5 + [0.45] * 5)
    shares = (("A", 0.02), ("B", 0.98))
    made: dict[str, tuple[int, int]] = {}
    for learned_pairs in ("block", "group"):
        policy = FairExpTopRank(
            shares=shares, learned_pairs=learned_pairs, examination="reciprocal", delta=0.001
        )
        made[learned_pairs] = false_relations(live(policy, rounds=1500, seed=1, attraction=liked), liked)
    assert made["block"][0] >= 3, "documents of B are said to be above those of A"
    assert made["group"][0] == 0


def test_what_was_learned_of_one_query_says_nothing_of_another() -> None:
    policy = live(TopRank(), rounds=500, seed=0)
    assert policy.score(query(name="another")).tolist() == [0.0] * 10
    assert policy.score(query()).std() > 0


def test_documents_that_appear_later_join_those_that_are_known() -> None:
    policy = live(TopRank(), rounds=1500, seed=0)
    before = policy.relations(query())
    wider = Query("q", np.empty((12, 0)), ("new", *NAMES, "newer"))
    shown = policy.rank(wider, k=12, rng=np.random.default_rng(0))
    policy.learn(Feedback(shown, shown.order == 0))
    policy.learn(
        Feedback(policy.rank(query(name="p"), k=2, rng=np.random.default_rng(0)), np.array([True, False]))
    )
    np.testing.assert_array_equal(policy.relations(query()), before)
    assert policy.relations(wider)[1:-1, 1:-1].sum() == before.sum()


def test_evidence_that_does_not_cover_the_documents_is_refused_and_changes_nothing() -> None:
    policy, shown = TopRank(), Ranking(query(), np.array([0, 1]), {"blocks": np.zeros(3, dtype=int)})
    with pytest.raises(RankingError, match="evidence of 3 blocks for 10 documents"):
        policy.learn(Feedback(shown, np.array([True, False])))
    assert not policy.queries.size
