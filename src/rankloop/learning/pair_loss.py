r"""The pairwise cross-entropy of many lists at once, for any scorer.

Where document $i$ won against $j$, the loss is $-\log \sigma(s_i - s_j)$. Its slope puts a weight on each of
the two, and one call of the scorer turns the weights of all documents into a direction.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from scipy.special import expit

from rankloop.scorers import Scorer
from rankloop.types import BoolArray, FloatArray

Weigh: TypeAlias = Callable[[FloatArray, BoolArray], FloatArray]  # scores and wins to weights of the wins


def pair_residuals(scores: FloatArray, wins: BoolArray) -> FloatArray:
    r"""Compute the residual of each win: $\sigma(s_j - s_i)$ where $i$ won against $j$, and 0 elsewhere.

    Scores are [..., n], wins and the answer [..., n, n].

    >>> pair_residuals(np.zeros(2), np.array([[False, True], [False, False]])).tolist()
    [[0.0, 0.5], [0.0, 0.0]]
    """
    return np.where(wins, expit(scores[..., None, :] - scores[..., :, None]), 0)


def matching_shares(wins: BoolArray) -> FloatArray:
    r"""How often matching winners with losers at random, each at most once, would draw each pair.

    Where all of $c$ winners beat all of $s$ losers this is $1 / \max(c, s)$: a list with many clicks teaches
    more than one with a single click, but not by their product.

    >>> wins = np.array([[False, True, True], [False, False, False], [False, False, False]])
    >>> matching_shares(wins)[0].tolist()
    [0.5, 0.5, 0.5]
    """
    won, lost = wins.sum(axis=-1), wins.sum(axis=-2)
    shares: FloatArray = 1 / np.maximum(np.maximum(won[..., :, None], lost[..., None, :]), 1)
    return shares


def loss_direction(
    scorer: Scorer,
    parameters: FloatArray,
    documents: FloatArray,
    wins: BoolArray,
    weigh: Weigh = pair_residuals,
) -> FloatArray:
    """Find the direction in which the loss falls fastest, as a mean over the lists.

    Documents are [n_lists, n, n_features] and wins [n_lists, n, n]; documents without a win or a loss are
    passed over. `weigh` makes other losses of it: it says what each win counts. A stack of parameters gives
    a stack of directions.

    >>> from rankloop.scorers import Linear
    >>> wins = np.array([[[False, True], [False, False]]])
    >>> loss_direction(Linear(), np.zeros(2), np.eye(2)[None], wins).tolist()
    [0.5, -0.5]
    """
    taught = wins.any(axis=-1) | wins.any(axis=-2)
    rows = documents[taught]
    scores = np.zeros((*parameters.shape[:-1], *taught.shape), dtype=rows.dtype)
    scores[..., taught] = scorer.score(parameters, rows)
    weights = weigh(scores, wins)
    votes = weights.sum(axis=-1) - weights.sum(axis=-2)  # for the winner, against the loser
    return scorer.vjp(parameters, rows, votes[..., taught].astype(rows.dtype, copy=False)) / len(wins)
