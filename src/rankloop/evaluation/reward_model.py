"""Reward model for doubly robust estimates: every round is predicted by a model that did not see it."""

from __future__ import annotations

import numpy as np
from scipy.special import expit

from rankloop.evaluation.rounds import LoggedRounds
from rankloop.learning.click_regression import fit_clicks
from rankloop.types import FloatArray, IntArray

FEW = 5  # clicks of an ad, below which only its rate is learned
REGULARISATION = 0.1


def cross_fitted(log: LoggedRounds) -> FloatArray:
    """Predicted rewards of all ads in all rounds, [n, K]: odd rounds from even ones, and the other way round.

    >>> clicks = np.array([1.0, 0.0, 1.0, 0.0])
    >>> log = LoggedRounds(np.zeros((4, 0)), ("tea",), np.zeros(4, int), clicks, np.ones(4))
    >>> cross_fitted(log).ravel().round(2).tolist()  # even rounds were clicked, odd ones were not
    [0.0, 1.0, 0.0, 1.0]
    """
    even = np.arange(len(log)) % 2 == 0
    predicted = np.empty((len(log), len(log.ads)))
    for part in (even, ~even):
        seen = np.flatnonzero(~part)
        predicted[part] = _predicted(log, seen, np.flatnonzero(part)) if seen.size else 0.0
    return predicted


def _predicted(log: LoggedRounds, seen: IntArray, asked: IntArray) -> FloatArray:
    overall = float(log.rewards[seen].mean())
    columns = [_of_ad(log, seen[log.shown[seen] == ad], asked, overall) for ad in range(len(log.ads))]
    return np.stack(columns, axis=1)


def _of_ad(log: LoggedRounds, rows: IntArray, asked: IntArray, overall: float) -> FloatArray:
    """A logistic regression where an ad has enough clicks, otherwise its rate, drawn to that of all."""
    rewards = log.rewards[rows]
    clicks = rewards > 0
    binary = bool(((rewards == 0) | (rewards == 1)).all())
    if binary and min(int(clicks.sum()), int((~clicks).sum())) >= FEW and log.contexts.shape[1]:
        line = fit_clicks(log.contexts[rows], clicks, REGULARISATION)
        return np.asarray(expit(line[0] + log.contexts[asked] @ line[1:]))
    return np.full(asked.size, (rewards.sum() + overall) / (rewards.size + 1))
