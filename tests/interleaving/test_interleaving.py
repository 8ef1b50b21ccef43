"""Interleaved lists and their credit, against enumerations of all outcomes."""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankloop.interleaving import Interleaving, Probabilistic, TeamDraft, credit, expected_sign
from rankloop.types import BoolArray, FloatArray, IntArray

METHODS: list[Interleaving] = [
    TeamDraft(),
    Probabilistic(),
    Probabilistic(tau=0),
]


@st.composite
def rankers(draw: st.DrawFn) -> IntArray:
    n_docs = draw(st.integers(1, 8))
    return np.array([draw(st.permutations(range(n_docs))) for _ in range(draw(st.integers(1, 5)))])


@pytest.mark.parametrize("method", METHODS, ids=repr)
@given(lists=rankers(), k=st.integers(1, 10), seed=st.integers(0, 2**32))
def test_lists_are_valid_and_ownership_is_a_probability(
    method: Interleaving, lists: IntArray, k: int, seed: int
) -> None:
    shown = method.combine(lists, k=k, rng=np.random.default_rng(seed))
    assert len(set(shown.order.tolist())) == len(shown.order) == min(k, lists.shape[1])
    assert shown.owners.shape == (len(lists), len(shown.order))
    assert (shown.owners >= 0).all()
    shares = shown.owners.sum(axis=0)
    assert np.all(np.isclose(shares, 1) | (shares == 0))


@given(lists=rankers(), k=st.integers(1, 10), seed=st.integers(0, 2**32))
def test_team_draft_is_fair_and_everyone_picks_their_best(lists: IntArray, k: int, seed: int) -> None:
    shown = TeamDraft().combine(lists, k=k, rng=np.random.default_rng(seed))
    picks = shown.owners.sum(axis=1)
    assert picks.max() - picks.min() <= 1
    for position, doc in enumerate(shown.order.tolist()):
        if not shown.owners[:, position].any():
            continue  # all agree on it
        owner = lists[shown.owners[:, position].argmax()].tolist()
        assert doc == next(d for d in owner if d not in shown.order[:position].tolist())


def test_team_draft_gives_both_captains_the_first_pick_equally_often() -> None:
    lists, rng = np.array([[0, 1, 2], [2, 1, 0]]), np.random.default_rng(0)
    firsts = [TeamDraft().combine(lists, k=3, rng=rng).order[0] for _ in range(2000)]
    assert Counter(firsts)[0] == pytest.approx(1000, abs=5 * np.sqrt(500))


def test_clicks_where_all_agree_are_nobodys() -> None:
    lists = np.array([[3, 1, 0, 2], [3, 1, 2, 0]])
    shown = TeamDraft().combine(lists, k=4, rng=np.random.default_rng(0))
    assert shown.order[:2].tolist() == [3, 1]
    assert credit(shown.owners, np.array([True, True, False, False])).tolist() == [0, 0]


def softmax_by_rank(ranker: IntArray, taken: set[int], tau: float) -> dict[int, float]:
    weights = {doc: 1 / rank**tau for rank, doc in enumerate(ranker.tolist(), start=1) if doc not in taken}
    return {doc: weight / sum(weights.values()) for doc, weight in weights.items()}


def enumerated(lists: IntArray, k: int, tau: float) -> dict[tuple[int, ...], dict[tuple[int, ...], float]]:
    """Slow and clear: P(list, assignment) over every choice of ranker and document at every position."""
    outcomes: dict[tuple[int, ...], dict[tuple[int, ...], float]] = {}

    def fill(order: tuple[int, ...], owners: tuple[int, ...], chance: float) -> None:
        if len(order) == k:
            outcomes.setdefault(order, {})[owners] = chance
            return
        for number, ranker in enumerate(lists):
            for doc, share in softmax_by_rank(ranker, set(order), tau).items():
                fill((*order, doc), (*owners, number), chance * share / len(lists))

    fill((), (), 1.0)
    return outcomes


LISTS = np.array([[0, 1, 2, 3], [2, 0, 3, 1], [3, 2, 1, 0]])
OUTCOMES = enumerated(LISTS, k=3, tau=3.0)


def test_probabilistic_lists_follow_the_enumerated_distribution() -> None:
    rng, rounds = np.random.default_rng(1), 20_000
    found = Counter(tuple(Probabilistic().combine(LISTS, k=3, rng=rng).order.tolist()) for _ in range(rounds))
    for order, assignments in OUTCOMES.items():
        chance = sum(assignments.values())
        assert found[order] / rounds == pytest.approx(chance, abs=5 * np.sqrt(chance / rounds))


@pytest.mark.parametrize("clicks", list(itertools.product((False, True), repeat=3)))
def test_credit_is_exact_over_all_assignments(clicks: tuple[bool, ...]) -> None:
    rng, marks = np.random.default_rng(2), np.array(clicks)
    for _ in range(50):
        shown = Probabilistic().combine(LISTS, k=3, rng=rng)
        earned, signs = marginalised(OUTCOMES[tuple(shown.order.tolist())], marks)
        np.testing.assert_allclose(credit(shown.owners, marks), earned, atol=1e-12)
        np.testing.assert_allclose(expected_sign(shown.owners, marks), signs, atol=1e-12)


def marginalised(
    assignments: dict[tuple[int, ...], float], clicks: BoolArray
) -> tuple[FloatArray, FloatArray]:
    """Expected clicks of each ranker, and expected sign of its lead over the first, over all assignments."""
    earned, signs = np.zeros(len(LISTS)), np.zeros(len(LISTS))
    for owners, chance in assignments.items():
        counts = np.bincount(np.array(owners)[clicks], minlength=len(LISTS))
        earned += chance * counts
        signs += chance * np.sign(counts - counts[0])
    return earned / sum(assignments.values()), signs / sum(assignments.values())


@settings(deadline=None)
@given(lists=rankers(), seed=st.integers(0, 2**32), data=st.data())
def test_expected_sign_equals_the_sign_when_owners_are_known(
    lists: IntArray, seed: int, data: st.DataObject
) -> None:
    shown = TeamDraft().combine(lists, k=8, rng=np.random.default_rng(seed))
    clicks = np.array(
        data.draw(st.lists(st.booleans(), min_size=len(shown.order), max_size=len(shown.order)))
    )
    earned = credit(shown.owners, clicks)
    np.testing.assert_array_equal(expected_sign(shown.owners, clicks), np.sign(earned - earned[0]))


def test_the_better_of_two_rankers_wins_on_average() -> None:
    """A ranker that puts the one clicked document first earns more than one that puts it last."""
    lists, rng = np.array([[0, 1, 2, 3, 4], [4, 3, 2, 1, 0]]), np.random.default_rng(3)
    for method in METHODS[:2]:
        lead = 0.0
        for _ in range(300):
            shown = method.combine(lists, k=3, rng=rng)
            earned = credit(shown.owners, shown.order == 0)
            lead += earned[0] - earned[1]
        assert lead > 50


@given(lists=rankers(), k=st.integers(1, 10), seed=st.integers(0, 2**32))
def test_team_draft_is_that_of_captains_who_look_through_their_whole_list(
    lists: IntArray, k: int, seed: int
) -> None:
    """Slow and clear, with the same coins: the same list, and the same owners."""
    n, k = len(lists), min(k, lists.shape[1])
    coins = np.random.default_rng(seed).random((-(-k // n), n))
    order: list[int] = []
    while len(order) < k and len({*lists[:, len(order)].tolist()}) == 1:
        order.append(int(lists[0, len(order)]))
    owners = np.zeros((n, k))
    for captain in [captain for row in coins for captain in sorted(range(n), key=row.__getitem__)]:
        if len(order) < k:
            owners[captain, len(order)] = 1.0
            order.append(next(doc for doc in lists[captain].tolist() if doc not in order))
    shown = TeamDraft().combine(lists, k=k, rng=np.random.default_rng(seed))
    assert shown.order.tolist() == order
    np.testing.assert_array_equal(shown.owners, owners)
