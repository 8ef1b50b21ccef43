"""Difficult lists: those that were hard for users, remembered to judge rankers by.

They are one matrix, [n_rows, 2 + n_columns], with a row for every result shown: the number of its list, its
click divided by its rank, and its columns.
"""

from __future__ import annotations

import numpy as np

from rankloop.types import Feedback, FloatArray


def remember(
    lists: FloatArray, feedback: Feedback, columns: FloatArray, number: int, *, most: int, window: int
) -> FloatArray:
    r"""Keep the `most` difficult of the lists so far and this one, without those older than `window`.

    A list is the easier the nearer to the top its clicks: $\sum_i c_i / i$ over ranks $i$. Of equally
    difficult lists, the newer stay. A list without a click says nothing and does not join.

    >>> from rankloop.types import Query, Ranking
    >>> lists = np.empty((0, 0))
    >>> for number, clicks in enumerate(np.eye(3, dtype=bool)):  # a click at rank 1, then at 2, then at 3
    ...     feedback = Feedback(Ranking(Query("q", np.eye(3)), np.arange(3)), clicks)
    ...     lists = remember(lists, feedback, np.eye(3), number, most=2, window=50)
    >>> lists[:, 0].tolist()
    [1.0, 1.0, 1.0, 2.0, 2.0, 2.0]
    """
    shown, clicks = feedback.ranking, feedback.clicks
    lists = lists[lists[:, 0] > number - window] if lists.size else lists
    if not clicks.any():
        return lists
    gains = clicks / np.arange(1, len(shown) + 1)
    rows = np.column_stack((np.full(len(shown), number), gains, columns[shown.order]))
    rows = np.concatenate((lists, rows)) if lists.size else rows
    numbers, members = np.unique(rows[:, 0], return_inverse=True)
    easy = np.bincount(members, rows[:, 1])
    hardest = numbers[np.lexsort((-numbers, easy))[:most]]
    return rows[np.isin(rows[:, 0], hardest)]


def quality(lists: FloatArray, scores: FloatArray) -> FloatArray:
    r"""How near to the top rankers with these scores [n_rankers, n_rows] would put the clicked results.

    $\sum 1 / \text{rank}$ over all clicked results, each ranked among the results of its list, [n_rankers].

    >>> lists = np.array([[7.0, 0.0], [7.0, 0.5], [8.0, 1.0]])  # a click at rank 2 of list 7, at 1 of list 8
    >>> quality(lists, np.array([[1.0, 2.0, 0.0], [2.0, 1.0, 0.0]])).tolist()
    [2.0, 1.5]
    """
    clicked = lists[:, 1] > 0
    together = lists[clicked, :1] == lists[:, 0]  # [n_clicked, n_rows]
    above = (scores[:, None, :] > scores[:, clicked, None]) & together
    ranks = 1 + above.sum(axis=-1)
    return np.asarray((1 / ranks).sum(axis=-1))
