"""Pairs from clicks, against literal readings of the papers and enumerations of every matching."""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankloop.learning.click_pairs import (
    Pairing,
    adjacent_pairs,
    clicked_over_skipped,
    matched_pairs,
    preferred_pairs,
)
from rankloop.types import Feedback, IntArray, Query, Ranking
from tests.support.pairs import differences

PAIRINGS: tuple[Pairing, ...] = ("adjacent", "matching", "all")

click_lists = st.lists(st.booleans(), min_size=1, max_size=9)


def feedback(clicks: list[bool], seed: int = 0) -> Feedback:
    """Clicks on a random list of some of twelve documents."""
    rng = np.random.default_rng(seed)
    query = Query("q", rng.normal(size=(12, 3)))
    return Feedback(Ranking(query, rng.permutation(12)[: len(clicks)]), np.array(clicks))


def last_examined(clicks: list[bool]) -> int:
    """The papers' o_t, counted from 1: the first unclicked position below the last click, if there is one."""
    clicked = [position for position, click in enumerate(clicks, start=1) if click]
    return min(clicked[-1] + 1, len(clicks)) if clicked else 0


def as_set(pairs: tuple[IntArray, IntArray]) -> set[tuple[int, int]]:
    better, worse = pairs
    found = list(zip(better.tolist(), worse.tolist(), strict=True))
    assert len(set(found)) == len(found)
    return set(found)


@given(click_lists)
def test_adjacent_pairs_are_the_papers_disjoint_positions(clicks: list[bool]) -> None:
    expected = set()
    for m in range(1, len(clicks), 2):  # positions (m, m + 1) = (1, 2), (3, 4), ...
        if m + 1 <= last_examined(clicks) and clicks[m - 1] != clicks[m]:
            first_preferred = clicks[m - 1]
            expected.add((m - 1, m) if first_preferred else (m, m - 1))
    assert as_set(adjacent_pairs(feedback(clicks))) == expected


@given(click_lists)
def test_all_pairs_are_every_clicked_with_every_examined_and_skipped(clicks: list[bool]) -> None:
    seen = clicks[: last_examined(clicks)]
    expected = {(i, j) for i, j in itertools.product(range(len(seen)), repeat=2) if seen[i] and not seen[j]}
    assert as_set(clicked_over_skipped(feedback(clicks))) == expected


@given(click_lists, st.integers(0, 2**32))
def test_matchings_are_disjoint_and_as_large_as_can_be(clicks: list[bool], seed: int) -> None:
    given_clicks = feedback(clicks)
    pairs = as_set(matched_pairs(given_clicks, np.random.default_rng(seed)))
    seen = clicks[: last_examined(clicks)]
    assert len(pairs) == min(sum(seen), len(seen) - sum(seen))
    assert len({position for pair in pairs for position in pair}) == 2 * len(pairs)
    assert pairs <= as_set(clicked_over_skipped(given_clicks))


@pytest.mark.parametrize(
    "clicks",
    [[False, True, False, True, False], [True, False, True, True], [False, False, False, True]],
    ids=["two of three", "three of one", "one of three"],
)
def test_every_largest_matching_is_as_likely_as_another(clicks: list[bool]) -> None:
    seen = clicks[: last_examined(clicks)]
    clicked = [position for position, click in enumerate(seen) if click]
    skipped = [position for position, click in enumerate(seen) if not click]
    size = min(len(clicked), len(skipped))
    every = {
        frozenset(zip(some, others, strict=True))
        for some in itertools.permutations(clicked, size)
        for others in itertools.permutations(skipped, size)
    }
    rounds, rng, given_clicks = 6000, np.random.default_rng(1), feedback(clicks)
    found = Counter(frozenset(as_set(matched_pairs(given_clicks, rng))) for _ in range(rounds))
    assert set(found) == every
    for count in found.values():
        chance = 1 / len(every)
        assert count / rounds == pytest.approx(chance, abs=5 * np.sqrt(chance / rounds))


@pytest.mark.parametrize("pairing", PAIRINGS)
@given(clicks=click_lists, seed=st.integers(0, 2**32))
def test_differences_are_the_clicked_minus_the_skipped_document(
    pairing: Pairing, clicks: list[bool], seed: int
) -> None:
    given_clicks = feedback(clicks, seed)
    pairs = {
        "adjacent": adjacent_pairs(given_clicks),
        "matching": matched_pairs(given_clicks, np.random.default_rng(7)),
        "all": clicked_over_skipped(given_clicks),
    }[pairing]
    order, features = given_clicks.ranking.order, given_clicks.ranking.query.features
    found = differences(given_clicks, pairing, 7)
    assert found.shape == (len(pairs[0]), 3)
    for difference, i, j in zip(found, *pairs, strict=True):
        assert clicks[i]
        assert not clicks[j]
        np.testing.assert_array_equal(difference, features[order[i]] - features[order[j]])


@pytest.mark.parametrize(
    ("pairing", "expected"),
    [("all", {(1, 0), (1, 4)}), ("adjacent", {(1, 0)}), ("matching", {(1, 0), (1, 4)})],
)
def test_what_is_known_to_be_judged_is_compared_and_nothing_else(
    pairing: Pairing, expected: set[tuple[int, int]]
) -> None:
    """The click on the third result is not known to be one, nor is the last result known to be skipped."""
    shown = Ranking(Query("q", np.eye(6)), np.arange(6))
    clicks, known = np.array([[0, 1, 1, 0, 0, 0], [1, 1, 0, 0, 1, 0]], dtype=bool)
    found = {
        (int(i), int(j))
        for seed in range(20)
        for i, j in zip(*preferred_pairs(Feedback(shown, clicks, known), pairing, seed), strict=True)
    }
    assert found == expected


@pytest.mark.parametrize("pairing", PAIRINGS)
@pytest.mark.parametrize("clicks", [[False] * 4, [True] * 4, [True]], ids=["none", "every one", "only one"])
def test_clicks_that_compare_nothing_give_no_pairs(pairing: Pairing, clicks: list[bool]) -> None:
    assert differences(feedback(clicks), pairing, 0).shape == (
        0,
        3,
    )


def test_differences_of_single_precision_features_are_exact() -> None:
    """Neighbours of 1 in single precision differ by 2⁻²³; nothing of it is lost."""
    features = np.array([[1.0], [1.0 + 2**-23]], dtype=np.float32)
    shown = Feedback(Ranking(Query("q", features), np.array([0, 1])), np.array([False, True]))
    found = differences(shown, "all", 0)
    assert found.dtype == np.float64
    assert found.tolist() == [[2**-23]]


@given(click_lists, st.integers(0, 2**63 - 1))
def test_the_matching_is_that_of_permutations_drawn_one_after_the_other(
    clicks: list[bool], seed: int
) -> None:
    """Logs fold to the bit, so the same seed means the same pairs for ever."""
    given_, rng = feedback(clicks), np.random.default_rng(seed)
    examined = range(last_examined(clicks))
    clicked = rng.permutation([position for position in examined if clicks[position]])
    skipped = rng.permutation([position for position in examined if not clicks[position]])
    better, worse = preferred_pairs(given_, "matching", seed)
    expected = list(zip(clicked.tolist(), skipped.tolist(), strict=False))
    assert list(zip(better.tolist(), worse.tolist(), strict=True)) == expected
    assert given_.clicks.tolist() == clicks
