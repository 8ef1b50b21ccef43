"""Lists drawn from the scores: the better, the more often on top."""

from __future__ import annotations

import numpy as np

from rankloop.types import FloatArray, IntArray


def plackett_luce(scores: FloatArray, k: int, rng: np.random.Generator) -> IntArray:
    r"""A list drawn position by position, without replacement, from the softmax of the scores.

    $P(R) = \prod_{m=1}^{k} e^{s(R_m)} / \sum_{d \notin R_{<m}} e^{s(d)}$, drawn in one go: adding
    independent Gumbel noise to the scores and sorting gives exactly this distribution.

    >>> plackett_luce(np.array([0.0, 50.0, 100.0]), 3, np.random.default_rng(0)).tolist()
    [2, 1, 0]

    Yellott: The relationship between Luce's choice axiom, Thurstone's theory of comparative judgment, and
    the double exponential distribution. Journal of Mathematical Psychology, 1977.
    """
    return np.argsort(-(scores + rng.gumbel(size=scores.size)))[:k]
