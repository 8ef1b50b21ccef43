"""Judged lists in flat arrays: documents one below the other, their grades, and where each list ends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rankloop.learning.replay_memory import enlarge
from rankloop.types import BoolArray, Feedback, FloatArray, IntArray


@dataclass(frozen=True, slots=True, eq=False)
class JudgedList:
    """The documents of a list whose grades are known, in the order of the input."""

    documents: FloatArray  # [n, n_features]
    grades: FloatArray  # [n]


def judged_list(feedback: Feedback) -> JudgedList:
    """Read what the grades of a list say, whatever the order in which it was shown.

    >>> from rankloop.types import Query, Ranking
    >>> shown = Ranking(Query("q", np.eye(3)), np.array([2, 0, 1]))
    >>> judged_list(Feedback(shown, np.array([5, 3, 4]), signal="grades")).grades.tolist()
    [3.0, 4.0, 5.0]
    """
    order, grades = feedback.ranking.order, feedback.reward.astype(np.float64)
    if feedback.judged is not None:
        order, grades = order[feedback.judged], grades[feedback.judged]
    positions = order.argsort()
    return JudgedList(feedback.ranking.query.features[order[positions]], grades[positions])


def append(
    documents: FloatArray, grades: FloatArray, ends: IntArray, lists: int, new: JudgedList
) -> tuple[FloatArray, FloatArray, IntArray]:
    """Write a list behind the first `lists` ones, in place where there is room, otherwise in larger arrays.

    They have twice the size then: on average a list costs the same, however many there are.

    >>> one = JudgedList(np.ones((2, 3)), np.array([1.0, 0.0]))
    >>> documents, grades, ends = append(np.zeros((0, 3)), np.zeros(0), np.zeros(0, dtype=int), 0, one)
    >>> documents.shape, ends.tolist()
    ((2, 3), [2])
    """
    start = int(ends[lists - 1]) if lists else 0
    end = start + len(new.grades)
    if end > len(grades):
        room = max(end, 2 * len(grades))
        documents, grades = enlarge(documents, (room, documents.shape[1])), enlarge(grades, (room,))
    if lists == len(ends):
        ends = enlarge(ends, (max(2 * lists, 1),))
    documents[start:end], grades[start:end], ends[lists] = new.documents, new.grades, end
    return documents, grades, ends


def stacked(
    documents: FloatArray, grades: FloatArray, ends: IntArray, lists: Sequence[int]
) -> tuple[FloatArray, BoolArray, FloatArray]:
    r"""Documents [n, length, n_features], who beats whom [n, length, length], and the gains $2^r - 1$.

    Shorter lists end in documents that neither win nor lose.

    >>> documents, wins, gains = stacked(np.eye(3), np.array([1.0, 0.0, 2.0]), np.array([1, 3]), [0, 1])
    >>> wins.astype(int).tolist(), gains.tolist()
    ([[[0, 0], [0, 0]], [[0, 0], [1, 0]]], [[1.0, 0.0], [0.0, 3.0]])
    """
    spans = [(int(ends[index - 1]) if index else 0, int(ends[index])) for index in lists]
    length = max(end - start for start, end in spans)
    rows = np.zeros((len(spans), length, documents.shape[1]), dtype=documents.dtype)
    wins = np.zeros((len(spans), length, length), dtype=bool)
    gains = np.zeros((len(spans), length))
    for number, (start, end) in enumerate(spans):
        n, own = end - start, grades[start:end]
        rows[number, :n], gains[number, :n] = documents[start:end], 2.0**own - 1
        wins[number, :n, :n] = np.greater.outer(own, own)
    return rows, wins, gains
