"""What lists teach is kept as it was, in bounded memory."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from rankloop.learning.click_pairs import Pairing, preferred_pairs
from rankloop.learning.replay_memory import Comparisons, store_comparisons
from rankloop.types import BoolArray, Feedback, FloatArray, Query, Ranking
from tests.support.pairs import comparisons


def some_feedback(seed: int, n: int = 8) -> Feedback:
    rng = np.random.default_rng(seed)
    ranking = Ranking(Query("q", rng.random((n, 3))), rng.permutation(n))
    return Feedback(ranking, rng.random(n) < 0.4)


@given(seed=st.integers(0, 999), pairing=st.sampled_from(["all", "matching", "adjacent"]))
def test_the_memory_of_a_list_holds_the_pairs_and_no_other_document(seed: int, pairing: Pairing) -> None:
    feedback = some_feedback(seed)
    compared = comparisons(feedback, pairing, seed)
    shown = feedback.ranking.query.features[feedback.ranking.order]
    pairs = zip(*preferred_pairs(feedback, pairing, seed), strict=True)
    expected = {(shown[a].tobytes(), shown[b].tobytes()) for a, b in pairs}
    rows = [row.tobytes() for row in compared.documents]
    assert {(rows[i], rows[j]) for i, j in np.argwhere(compared.wins)} == expected
    assert set(rows) == {row for pair in expected for row in pair}


@given(lengths=st.lists(st.integers(2, 6), min_size=1, max_size=12), slots=st.integers(1, 8))
def test_a_memory_gives_back_what_was_kept_last_in_each_slot(lengths: list[int], slots: int) -> None:
    rng = np.random.default_rng(0)
    documents: FloatArray = np.zeros((0, 0, 3))
    wins: BoolArray = np.zeros((0, 0, 0), dtype=bool)
    last = {}
    for number, n in enumerate(lengths):
        compared = Comparisons(rng.random((n, 3)), rng.random((n, n)) < 0.5)
        documents, wins = store_comparisons(documents, wins, number % slots, compared)
        last[number % slots] = compared
    assert len(documents) == len(wins) < 2 * min(len(lengths), slots)
    for slot, compared in last.items():
        n = len(compared.documents)
        np.testing.assert_array_equal(documents[slot, :n], compared.documents)
        np.testing.assert_array_equal(wins[slot, :n, :n], compared.wins)
        assert wins[slot].sum() == compared.wins.sum()


def test_keeping_writes_in_place_while_there_is_room() -> None:
    compared = Comparisons(np.ones((2, 3)), np.array([[False, True], [False, False]]))
    documents, wins = np.zeros((4, 2, 3)), np.zeros((4, 2, 2), dtype=bool)
    kept = store_comparisons(documents, wins, 3, compared)
    assert kept[0] is documents
    assert kept[1] is wins
