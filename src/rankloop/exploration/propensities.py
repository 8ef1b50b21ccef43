"""Propensities of one choice: with which probability each candidate is the one that is shown."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtr

from rankloop.types import FloatArray

NODES = np.linspace(-6.0, 6.0, 33)  # where a normal distribution is looked at, in deviations


def draw(propensities: FloatArray, rng: np.random.Generator) -> int:
    """One candidate, by these probabilities.

    >>> draw(np.array([0.0, 1.0, 0.0]), np.random.default_rng(0))
    1
    """
    edges = np.cumsum(propensities)
    found = int(np.searchsorted(edges, rng.random() * edges[-1], side="right"))
    return min(found, int(np.flatnonzero(propensities)[-1]))  # rounding must not reach beyond the last


def epsilon_greedy_propensities(scores: FloatArray, epsilon: float) -> FloatArray:
    r"""$1 - \epsilon$ for the best of $K$, $\epsilon / (K - 1)$ for each other; several best take turns.

    >>> epsilon_greedy_propensities(np.array([1.0, 3.0, 2.0]), 0.2).round(9).tolist()
    [0.1, 0.8, 0.1]
    >>> epsilon_greedy_propensities(np.array([3.0, 3.0]), 0.2).round(9).tolist()
    [0.5, 0.5]
    """
    if scores.size == 1:
        return np.ones(1)
    best = scores == scores.max()
    each = epsilon / (scores.size - 1)
    chances: FloatArray = each + best * ((1 - epsilon) - each) / best.sum()
    return chances


def inverse_gap_propensities(rewards: FloatArray, gamma: float) -> FloatArray:
    r"""$1 / (K + \gamma (\hat r^* - \hat r_a))$, and what is left for the best; several best share.

    >>> inverse_gap_propensities(np.array([0.5, 0.1]), 10.0).round(4).tolist()  # 1 / 6 for the second
    [0.8333, 0.1667]

    Foster, Rakhlin: Beyond UCB: optimal and efficient contextual bandits with regression oracles. ICML 2020.
    """
    best = rewards == rewards.max()
    chances: FloatArray = 1.0 / (rewards.size + gamma * (rewards.max() - rewards))
    chances[best] = (1.0 - chances[~best].sum()) / best.sum()
    return chances


def highest_of_normals(means: FloatArray, deviations: FloatArray) -> FloatArray:
    r"""How probably each of independent normal numbers is the highest: Thompson sampling's propensities.

    $$p_a = \int \prod_{b \ne a} \Phi\left(\frac{z - \mu_b}{\sigma_b}\right)
    d\Phi\left(\frac{z - \mu_a}{\sigma_a}\right),$$

    a sum over a grid that is fine wherever one of the distributions is.

    >>> highest_of_normals(np.array([0.0, 0.0, 0.0]), np.array([1.0, 1.0, 1.0])).round(6).tolist()
    [0.333333, 0.333333, 0.333333]
    """
    spread = np.maximum(deviations, 1e-9 * (1.0 + np.abs(means).max()))[:, None]
    edges = np.sort((means[:, None] + spread * NODES).ravel())
    below = np.maximum(ndtr((edges - means[:, None]) / spread), 1e-300)  # [K, edges]
    logs = np.log(below)
    others = np.exp(logs.sum(axis=0) - logs)  # that all others are below an edge
    chances = (np.diff(below, axis=1) * (others[:, 1:] + others[:, :-1])).sum(axis=1)
    normalised: FloatArray = chances / chances.sum()
    return normalised
