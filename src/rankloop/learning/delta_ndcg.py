"""Delta nDCG: what swapping two documents would change at the top, and LambdaRank's weights made of it."""

from __future__ import annotations

import numpy as np

from rankloop.learning.pair_loss import pair_residuals
from rankloop.metrics.rank_discounts import rank_discounts
from rankloop.types import BoolArray, FloatArray


def lambdas(scores: FloatArray, wins: BoolArray, gains: FloatArray) -> FloatArray:
    r"""Weigh the slope of every win: $\sigma(s_j - s_i)\,|\Delta \text{nDCG@10}|$ if $i$ won against $j$.

    Documents that neither won nor lost are not in the list.

    >>> wins = np.array([[False, True], [False, False]])
    >>> lambdas(np.zeros(2), wins, np.array([1.0, 0.0]))[0].round(4).tolist()  # (1 - 1 / log2(3)) / 2
    [0.0, 0.1845]
    """
    return pair_residuals(scores, wins) * delta_of_wins(scores, wins, gains)


def delta_of_wins(scores: FloatArray, wins: BoolArray, gains: FloatArray) -> FloatArray:
    r"""$|\Delta \text{nDCG@10}|$ of every win, 0 elsewhere; only documents that won or lost are listed."""
    listed = wins.any(axis=-1) | wins.any(axis=-2)
    return delta_ndcg(np.where(listed, scores, -np.inf), gains) * wins


def rescale_to_total(weights: FloatArray, others: FloatArray) -> FloatArray:
    """Weights of the pairs of each list, scaled so that their sum is that of the others.

    >>> rescale_to_total(np.array([[0.0, 0.2], [0.6, 0.0]]), np.array([[0.0, 1.0], [1.0, 0.0]])).tolist()
    [[0.0, 0.5], [1.5, 0.0]]
    """
    found, wanted = (each.sum(axis=(-2, -1), keepdims=True) for each in (weights, others))
    scaled: FloatArray = weights * (wanted / np.where(found > 0, found, 1))
    return scaled


def delta_ndcg(scores: FloatArray, gains: FloatArray, *, k: int = 10) -> FloatArray:
    r"""Delta nDCG: by how much nDCG@k would change if two documents of the list sorted by score were swapped.

    $|g_i - g_j| \cdot |d_i - d_j| \,/\, \text{ideal DCG}$ for all pairs, [..., n, n], with gains $g$ and the
    discounts $d = 1 / \log_2(1 + \text{rank})$, which are 0 beyond rank $k$. A list without gains has no
    nDCG, and nothing changes it.

    >>> delta_ndcg(np.array([2.0, 1.0]), np.array([0.0, 1.0])).round(4)[0].tolist()  # 1 - 1 / log2(3)
    [0.0, 0.3691]
    """
    rank = (-scores).argsort(axis=-1, kind="stable").argsort(axis=-1)
    n = scores.shape[-1]
    discounts = np.where(np.arange(n) < k, rank_discounts(n), 0)
    ideal = (-np.sort(-gains, axis=-1) * discounts).sum(axis=-1)[..., None, None]
    shown = discounts[rank]
    differences: FloatArray = np.abs(gains[..., :, None] - gains[..., None, :]) * np.abs(
        shown[..., :, None] - shown[..., None, :]
    )
    return differences / np.where(ideal > 0, ideal, 1)
