"""Replay memory: what lists taught, kept to be learned from again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from rankloop.learning.click_pairs import Pairing, preferred_pairs
from rankloop.types import BoolArray, Feedback, FloatArray

Kind = TypeVar("Kind", bound=np.generic)


@dataclass(frozen=True, slots=True, eq=False)
class Comparisons:
    """Pairwise comparisons of a list: the documents in at least one pair, and which won against which."""

    documents: FloatArray  # [n, n_features]
    wins: BoolArray  # [n, n]: row over column


def compare_results(feedback: Feedback, columns: FloatArray, pairing: Pairing, seed: int) -> Comparisons:
    """Compare the results of a list pairwise, by the columns of its query: possibly none.

    >>> from rankloop.types import Query, Ranking
    >>> shown = Ranking(Query("q", np.eye(4)), np.arange(4))
    >>> clicked = Feedback(shown, np.array([False, True, False, False]))
    >>> compared = compare_results(clicked, np.eye(4), "all", 0)
    >>> compared.wins.astype(int).tolist()  # the second result won against the first and the third
    [[0, 0, 0], [1, 0, 1], [0, 0, 0]]
    """
    better, worse = preferred_pairs(feedback, pairing, seed)
    positions = np.union1d(better, worse)
    wins = np.zeros((positions.size, positions.size), dtype=bool)
    wins[positions.searchsorted(better), positions.searchsorted(worse)] = True
    return Comparisons(columns[feedback.ranking.order[positions]], wins)


def store_comparisons(
    documents: FloatArray, wins: BoolArray, slot: int, compared: Comparisons
) -> tuple[FloatArray, BoolArray]:
    """Write comparisons into a slot of a memory, [slots, length, n_features] and [slots, length, length].

    The arrays are written in place. Where the slot or the list is beyond them, they are replaced by larger
    ones, with twice as many slots: on average a list costs the same, however many there are.

    >>> compared = Comparisons(np.ones((2, 3)), np.array([[False, True], [False, False]]))
    >>> documents, wins = store_comparisons(np.zeros((0, 0, 3)), np.zeros((0, 0, 0), dtype=bool), 0, compared)
    >>> documents.shape, wins.shape
    ((1, 2, 3), (1, 2, 2))
    """
    n, n_features = compared.documents.shape
    slots = len(documents) if slot < len(documents) else max(2 * len(documents), slot + 1)
    length = max(n, documents.shape[1])
    documents = enlarge(documents, (slots, length, n_features))
    wins = enlarge(wins, (slots, length, length))
    documents[slot, :n] = compared.documents
    wins[slot] = False
    wins[slot, :n, :n] = compared.wins
    return documents, wins


def enlarge(array: npt.NDArray[Kind], shape: tuple[int, ...]) -> npt.NDArray[Kind]:
    """Put the same values into a larger array, zeros around them; the array itself if it has this shape.

    >>> enlarge(np.ones(2), (3,)).tolist()
    [1.0, 1.0, 0.0]
    """
    if array.shape == shape:
        return array
    larger = np.zeros(shape, dtype=array.dtype)
    larger[tuple(slice(size) for size in array.shape)] = array
    return larger
