"""Thresholds: what makes the scores of rankers that were learned apart comparable.

From the scores of an ad's rows, and who clicked, follows the line $a s - b$ by which it competes: each
function gives the slope $a$ and the offset $b$. There is a click, and a row without one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Literal, TypeAlias

import numpy as np
from scipy.special import expit

from rankloop.types import BoolArray, FloatArray

NEWTON_STEPS = 50


def find_best_f1(scores: FloatArray, clicks: BoolArray) -> tuple[float, float]:
    """Find the score from which on taking everyone for a clicker has the best F1, in the middle of its gap.

    The slope is 1, so the scores stay as they are, less the threshold.

    >>> find_best_f1(np.array([3.0, 2.0, 1.0, 0.0]), np.array([True, True, False, False]))
    (1.0, 1.5)
    """
    order = np.argsort(-scores, kind="stable")
    ranked, hits = scores[order], np.cumsum(clicks[order])
    f1 = 2 * hits / (np.arange(1, hits.size + 1) + hits[-1])
    f1[:-1][ranked[:-1] == ranked[1:]] = -1.0  # nobody can be cut off from an equal
    last = int(f1.argmax())
    following = ranked[min(last + 1, ranked.size - 1)]
    return 1.0, float(ranked[last] + following) / 2


def fit_platt(scores: FloatArray, clicks: BoolArray) -> tuple[float, float]:
    r"""Fit the log-odds of a click: $a$ and $b$ of least log loss for $\sigma(a s - b)$.

    Newton's method in two unknowns, on scores of mean 0 and deviation 1. The labels are drawn towards each
    other as if each had been seen once more, so that the odds stay finite.

    >>> a, b = fit_platt(np.array([1.0, 0.0]), np.array([True, False]))
    >>> a > 0, round(b - a / 2, 6)  # in the middle the odds are even
    (True, 0.0)

    Platt: Probabilistic outputs for support vector machines. 1999.
    """
    centre, scale = float(scores.mean()), float(scores.std())
    if not scale > 0:
        return 0.0, -_log_odds(clicks)
    rows = np.stack([(scores - centre) / scale, np.ones(scores.size)])  # [2, n]
    slope, height = _two_unknowns(rows, _targets(clicks), np.array([1.0, _log_odds(clicks)]))
    return slope / scale, slope * centre / scale - height


ThresholdName: TypeAlias = Literal["best-f1", "platt"]
THRESHOLDS: Mapping[str, Callable[[FloatArray, BoolArray], tuple[float, float]]] = MappingProxyType(
    {"best-f1": find_best_f1, "platt": fit_platt}
)


def _targets(clicks: BoolArray) -> FloatArray:
    """Clicks as probabilities, by Laplace's rule."""
    yes, no = int(clicks.sum()), int((~clicks).sum())
    return np.where(clicks, (yes + 1) / (yes + 2), 1 / (no + 2))


def _log_odds(clicks: BoolArray) -> float:
    return float(np.log((clicks.sum() + 1) / ((~clicks).sum() + 1)))


def _two_unknowns(rows: FloatArray, targets: FloatArray, start: FloatArray) -> list[float]:
    """Where the log loss is least, by Newton's method with step halving."""

    def loss(line: FloatArray) -> float:
        margins = line @ rows
        return float((np.logaddexp(0.0, margins) - targets * margins).sum())

    here, value = start, loss(start)
    for _ in range(NEWTON_STEPS):
        chances = expit(here @ rows)
        descent = rows @ (targets - chances)
        if np.abs(descent).max() <= 1e-9 * targets.size:
            break
        curvature = (rows * np.maximum(chances * (1 - chances), 1e-12)) @ rows.T
        step = np.linalg.solve(curvature + 1e-12 * np.eye(2), descent)
        while (lower := loss(here + step)) > value and np.abs(step).max() > 1e-12:
            step = step / 2
        here, value = here + step, min(lower, value)
    found: list[float] = here.tolist()
    return found
