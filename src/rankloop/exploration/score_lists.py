"""Lists drawn by score alone: the best first, mostly so, or the better the more often on top."""

from __future__ import annotations

import numpy as np

from rankloop.types import FloatArray, IntArray


def draw_by_score(scores: FloatArray, k: int, rng: np.random.Generator) -> IntArray:
    """List the `k` highest scores, best first; equal scores stand in random order.

    Scores of many rankers [n_rankers, n_docs] give many lists; they break their ties alike, so that
    rankers of one opinion give one list.

    >>> draw_by_score(np.array([0.1, 0.9, 0.5]), 2, np.random.default_rng(0)).tolist()
    [1, 2]
    >>> draw_by_score(np.array([[0.1, 0.9], [0.8, 0.5]]), 2, np.random.default_rng(0)).tolist()
    [[1, 0], [0, 1]]
    """
    shuffled = rng.permutation(scores.shape[-1])
    costs = scores.take(shuffled, axis=-1)
    np.negative(costs, out=costs)
    ascending = costs.copy()
    ascending.sort()
    flat = ascending.ravel()  # where two rankers meet there may be a tie that is none: no harm
    ties = np.count_nonzero(flat[1:] == flat[:-1])
    # The plain sort is four times as fast, but leaves ties in an order that depends on the processor.
    best = costs.argsort(kind="stable" if ties else "quicksort")
    return shuffled.take(best[..., :k])


def draw_plackett_luce(scores: FloatArray, k: int, rng: np.random.Generator) -> IntArray:
    r"""Draw a list position by position, without replacement, from the softmax of the scores.

    $P(R) = \prod_{m=1}^{k} e^{s(R_m)} / \sum_{d \notin R_{<m}} e^{s(d)}$, drawn in one go: adding
    independent Gumbel noise to the scores and sorting gives exactly this distribution.

    >>> draw_plackett_luce(np.array([0.0, 50.0, 100.0]), 3, np.random.default_rng(0)).tolist()
    [2, 1, 0]

    Yellott: The relationship between Luce's choice axiom, Thurstone's theory of comparative judgment, and
    the double exponential distribution. Journal of Mathematical Psychology, 1977.
    """
    return np.argsort(-(scores + rng.gumbel(size=scores.size)))[:k]


def draw_epsilon_greedy(scores: FloatArray, k: int, epsilon: float, rng: np.random.Generator) -> IntArray:
    r"""At each position, with probability $\varepsilon$ a random unranked document, otherwise the best one.

    >>> draw_epsilon_greedy(np.array([0.1, 0.9, 0.5]), 3, 0.0, np.random.default_rng(0)).tolist()
    [1, 2, 0]
    """
    explores, picks = rng.random((2, min(k, scores.size)))
    remaining = draw_by_score(scores, scores.size, rng).tolist()
    return np.array(
        [
            remaining.pop(int(pick * len(remaining)) if explore < epsilon else 0)
            for explore, pick in zip(explores.tolist(), picks.tolist(), strict=True)
        ]
    )
