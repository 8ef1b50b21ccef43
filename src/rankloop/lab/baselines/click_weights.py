r"""Click-weighted losses of counterfactual learning, for many lists at once.

Lists are padded: `shown` [n_lists, length] says where a result stands. Each loss is a sum over the clicked
results of a weight times a log-likelihood, and each function is the direction in which it falls fastest, as a
vote for every score.
"""

from __future__ import annotations

import numpy as np
from scipy.special import expit

from rankloop.types import BoolArray, FloatArray


def inverse_weights(logits: FloatArray, clip: float) -> FloatArray:
    r"""Inverse weights $e^{z_1 - z_i}$ relative to the first result, of at most `clip`, [n_lists, length].

    With logits of examination, those of a propensity $P(o_i)$ up to a factor, it is $P(o_1) / P(o_i)$; with
    scores it is the weight of relevance, $P(r_1) / P(r_i)$.

    >>> inverse_weights(np.log([[0.8, 0.4, 0.01]]), 10.0).round(6).tolist()
    [[1.0, 2.0, 10.0]]
    """
    return np.asarray(np.exp(np.minimum(logits[..., :1] - logits, np.log(clip))))


def softmax_votes(logits: FloatArray, weights: FloatArray, shown: BoolArray) -> FloatArray:
    r"""Slope of $\sum_i w_i \log p_i$ with the softmax $p$ of the logits: $w_i - p_i \sum_j w_j$.

    >>> softmax_votes(np.zeros((1, 2)), np.array([[0.0, 3.0]]), np.ones((1, 2), dtype=bool)).tolist()
    [[-1.5, 1.5]]
    """
    masked = np.where(shown, logits, -np.inf)
    lifts = np.exp(masked - masked.max(axis=-1, keepdims=True))
    shares = lifts / lifts.sum(axis=-1, keepdims=True)
    votes: FloatArray = weights - shares * weights.sum(axis=-1, keepdims=True)
    return votes


def pair_votes(scores: FloatArray, weights: FloatArray, shown: BoolArray) -> FloatArray:
    r"""Slope of $\sum_i w_i \sum_{j \neq i} \log \sigma(s_i - s_j)$ over the results shown.

    >>> pair_votes(np.zeros((1, 3)), np.array([[0.0, 2.0, 0.0]]), np.ones((1, 3), dtype=bool)).tolist()
    [[-1.0, 2.0, -1.0]]
    """
    both = shown[..., :, None] & shown[..., None, :] & ~np.eye(shown.shape[-1], dtype=bool)
    pushes = np.where(both, weights[..., None] * expit(scores[..., None, :] - scores[..., :, None]), 0.0)
    return np.asarray(pushes.sum(axis=-1) - pushes.sum(axis=-2))
