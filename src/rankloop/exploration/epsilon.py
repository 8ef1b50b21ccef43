"""Mostly the best first, with a fixed share of random picks."""

from __future__ import annotations

import numpy as np

from rankloop.exploration.score_lists import greedy
from rankloop.types import FloatArray, IntArray


def epsilon_greedy(scores: FloatArray, k: int, epsilon: float, rng: np.random.Generator) -> IntArray:
    r"""At each position, with probability $\varepsilon$ a random unranked document, otherwise the best one.

    >>> epsilon_greedy(np.array([0.1, 0.9, 0.5]), 3, 0.0, np.random.default_rng(0)).tolist()
    [1, 2, 0]
    """
    explores, picks = rng.random((2, min(k, scores.size)))
    remaining = greedy(scores, scores.size, rng).tolist()
    return np.array(
        [
            remaining.pop(int(pick * len(remaining)) if explore < epsilon else 0)
            for explore, pick in zip(explores.tolist(), picks.tolist(), strict=True)
        ]
    )
