"""From clicks to preferences between documents."""

from __future__ import annotations

import numpy as np

from rankloop.types import Feedback, IntArray


def clicked_over_skipped(feedback: Feedback) -> tuple[IntArray, IntArray]:
    """Every clicked position against every examined one that was not clicked.

    Examined is all down to the last click, and one more. Returns the positions of the preferred and of the
    other result of each pair.

    >>> from rankloop.types import Query, Ranking
    >>> shown = Ranking(Query("q", np.eye(4)), np.arange(4))
    >>> better, worse = clicked_over_skipped(Feedback(shown, np.array([False, True, False, False])))
    >>> better.tolist(), worse.tolist()
    ([1, 1], [0, 2])
    """
    seen = feedback.clicks[: feedback.examined]
    clicked, skipped = seen.nonzero()[0], (~seen).nonzero()[0]
    return clicked.repeat(skipped.size), np.tile(skipped, clicked.size)


def net_votes(better: IntArray, worse: IntArray, weights: np.ndarray, n: int) -> np.ndarray:
    r"""What a weighted sum over pairs puts on each position: $\sum w (e_{better} - e_{worse})$.

    >>> net_votes(np.array([0, 0]), np.array([1, 2]), np.array([1.0, 0.5]), 3).tolist()
    [1.5, -1.0, -0.5]
    """
    return np.bincount(better, weights, minlength=n) - np.bincount(worse, weights, minlength=n)
