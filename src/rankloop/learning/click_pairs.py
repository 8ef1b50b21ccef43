"""From clicks to preferences between documents."""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np

from rankloop.types import Feedback, FloatArray, IntArray

Pairing: TypeAlias = Literal["adjacent", "matching", "all"]


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
    clicked, skipped = _clicked_and_skipped(feedback)
    return clicked.repeat(skipped.size), np.tile(skipped, clicked.size)


def adjacent_pairs(feedback: Feedback) -> tuple[IntArray, IntArray]:
    """Of the positions (1, 2), (3, 4), ... down to the last examined, the pairs with exactly one click.

    No result is in two pairs, so that the noise of one click cannot multiply.

    >>> from rankloop.types import Query, Ranking
    >>> shown = Ranking(Query("q", np.eye(4)), np.arange(4))
    >>> better, worse = adjacent_pairs(Feedback(shown, np.array([False, True, False, True])))
    >>> better.tolist(), worse.tolist()
    ([1, 3], [0, 2])
    """
    upper = np.arange(0, feedback.n_examined - 1, 2)
    if feedback.judged is not None:
        upper = upper[feedback.judged[upper] & feedback.judged[upper + 1]]
    first, second = feedback.clicks[upper], feedback.clicks[upper + 1]
    upper, first = upper[first != second], first[first != second]
    return np.where(first, upper, upper + 1), np.where(first, upper + 1, upper)


def matched_pairs(feedback: Feedback, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
    """Match clicked with examined and skipped results at random: as many disjoint pairs as there can be.

    >>> from rankloop.types import Query, Ranking
    >>> shown = Ranking(Query("q", np.eye(4)), np.arange(4))
    >>> clicks = np.array([False, True, False, False])
    >>> better, worse = matched_pairs(Feedback(shown, clicks), np.random.default_rng(0))
    >>> better.tolist(), worse.tolist()
    ([1], [0])
    """
    return _matched(*_clicked_and_skipped(feedback), rng)


def preferred_pairs(feedback: Feedback, pairing: Pairing, seed: int) -> tuple[IntArray, IntArray]:
    """List the positions of the preferred and the other result of each pair; the seed is for the matching."""
    if pairing == "matching":
        clicked, skipped = _clicked_and_skipped(feedback)
        if not (clicked.size and skipped.size):
            return clicked[:0], skipped[:0]
        if clicked.size == skipped.size == 1:  # nothing to draw: a generator would take as long as the rest
            return clicked, skipped
        return _matched(clicked, skipped, np.random.default_rng(seed))
    return adjacent_pairs(feedback) if pairing == "adjacent" else clicked_over_skipped(feedback)


def pair_differences(feedback: Feedback, columns: FloatArray, pairing: Pairing, seed: int) -> FloatArray:
    """Subtract the columns of the other result from those of the preferred, for each pair, [n_pairs, n]."""
    better, worse = preferred_pairs(feedback, pairing, seed)
    order = feedback.ranking.order
    better, worse = order[better], order[worse]
    return np.subtract(columns.take(better, axis=0), columns.take(worse, axis=0), dtype=np.float64)


def sum_votes(better: IntArray, worse: IntArray, weights: FloatArray, n: int) -> FloatArray:
    r"""Sum what pairs put on each position: $\sum w (e_{better} - e_{worse})$.

    >>> sum_votes(np.array([0, 0]), np.array([1, 2]), np.array([1.0, 0.5]), 3).tolist()
    [1.5, -1.0, -0.5]
    """
    gained, lost = (np.bincount(side, weights, minlength=n).astype(np.float64) for side in (better, worse))
    return gained - lost


def _matched(clicked: IntArray, skipped: IntArray, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
    """Both shuffled where they are, as nobody else has them; the longer one loses its end."""
    rng.shuffle(clicked)
    rng.shuffle(skipped)
    n = min(clicked.size, skipped.size)
    return clicked[:n], skipped[:n]


def _clicked_and_skipped(feedback: Feedback) -> tuple[IntArray, IntArray]:
    seen = feedback.clicks[: feedback.n_examined]
    if feedback.judged is None:
        return seen.nonzero()[0], (~seen).nonzero()[0]
    return (feedback.clicks & feedback.judged).nonzero()[0], (~feedback.clicks & feedback.judged).nonzero()[0]
