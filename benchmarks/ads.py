"""Seconds to train the AUC rankers of all ads: by L-BFGS over all pairs, by a million SGD steps each."""

from __future__ import annotations

from collections.abc import Mapping
from math import exp
from time import perf_counter

import numpy as np

from rankloop.lab.data import load
from rankloop.lab.data.logged_rounds import LoggedRounds
from rankloop.lab.simulation.ad_logs import simulate_ad_log
from rankloop.lab.users import AdUser
from rankloop.learning.auc import fit_auc
from rankloop.learning.thresholds import find_best_f1
from rankloop.policies import AUCRanker
from rankloop.query_set import QuerySet
from rankloop.types import FloatArray

SETS: Mapping[str, str] = {"letter": "letter", "isolet": "isolet"}
STEPS, REGULARISATION = 1_000_000, 0.01


def sgd(positive: FloatArray, negative: FloatArray, steps: int, rng: np.random.Generator) -> FloatArray:
    """The document's procedure: a random pair a step; the mean of the second half of the weights."""
    weights, mean = np.zeros(positive.shape[1]), np.zeros(positive.shape[1])
    ups, downs = rng.integers(len(positive), size=steps), rng.integers(len(negative), size=steps)
    for step, (up, down) in enumerate(zip(ups.tolist(), downs.tolist(), strict=True), 1):
        pair = positive[up] - negative[down]
        rate = 1.0 / (REGULARISATION * step + 1.0)
        weights *= 1.0 - rate * REGULARISATION
        weights += (rate * _sigmoid(-float(weights @ pair))) * pair
        if step > steps // 2:
            mean += weights
    return mean / (steps - steps // 2)


def _sigmoid(x: float) -> float:
    return 1.0 / (1.0 + exp(-x)) if x > -700 else 0.0


def trained(name: str, *, steps: int = STEPS) -> dict[str, object]:
    """Both ways on all ads of one set: seconds, and the click rate on the test rows."""
    dataset = load(SETS[name])
    log = simulate_ad_log(dataset.train, AdUser(), np.random.default_rng(0))
    start = perf_counter()
    policy = AUCRanker(batch=len(log), regularisation=REGULARISATION)
    policy.learn_rows(log.contexts, log.keys, log.rewards > 0)
    ours = perf_counter() - start
    rate = click_rate(policy, dataset.test, log)
    start = perf_counter()
    learn_by_sgd(policy, steps)
    theirs = perf_counter() - start
    return {
        "bench": "ads",
        "name": name,
        "ads": len(log.ads),
        "steps": steps,
        "seconds": ours,
        "sgd_seconds": theirs,
        "ratio": theirs / ours,
        "ctr": rate,
        "sgd_ctr": click_rate(policy, dataset.test, log),
    }


def learn_by_sgd(policy: AUCRanker, steps: int) -> None:
    """Put the weights and thresholds of SGD in the place of the policy's own."""
    rng = np.random.default_rng(1)
    for index, key in enumerate(policy.keys):
        positive = policy.rows_with_click[: policy.counts[1]][
            policy.ads_with_click[: policy.counts[1]] == key
        ]
        negative = policy.rows_without_click[: policy.counts[0]][
            policy.ads_without_click[: policy.counts[0]] == key
        ]
        if len(positive) and len(negative):
            policy.weights[index] = sgd(positive, negative, steps, rng)
            scores = np.concatenate((positive, negative)) @ policy.weights[index]
            policy.offsets[index] = find_best_f1(scores, np.arange(scores.size) < len(positive))[1]


def click_rate(policy: AUCRanker, test: QuerySet, log: LoggedRounds) -> float:
    """On how many test rows the best ad is the class."""
    assert test.contexts is not None
    keys = policy.keys[policy.scores_of(test.contexts).argmax(axis=1)]
    of = {int(key): number for key, number in zip(log.keys, log.shown, strict=True)}
    chosen = np.array([of[int(key)] for key in keys])
    return float(test.relevance.reshape(len(test), -1)[np.arange(len(test)), chosen].mean())


def one_ad(*, positives: int = 200, negatives: int = 20_000, features: int = 64) -> dict[str, object]:
    """Seconds to fit one ad with many rows."""
    rng = np.random.default_rng(0)
    rows = rng.random((positives + negatives, features))
    order = np.argsort(-(rows @ rng.normal(size=features) + rng.normal(size=len(rows))))
    start = perf_counter()
    fit_auc(rows[order[:positives]], rows[order[positives:]], REGULARISATION)
    return {"bench": "one ad", "name": f"{positives} x {negatives:,}", "seconds": perf_counter() - start}
