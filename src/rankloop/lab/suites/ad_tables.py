"""Tables and figures on one ad for a visitor: policies that are trained once from a log of uniform choices.

Chaudhuri: Learning to rank: online learning, statistical theory and applications. PhD thesis, University of
Michigan 2016, chapter 5.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import polars as pl

from rankloop.errors import DataError
from rankloop.evaluation import estimate_rewards
from rankloop.lab.data import change_name, load
from rankloop.lab.data.logged_rounds import LoggedRounds, weigh_rounds
from rankloop.lab.simulation.ad_logs import simulate_ad_log
from rankloop.lab.users import AdUser
from rankloop.learning.forest import classifier
from rankloop.learning.item_keys import item_key
from rankloop.learning.rows import draw_negatives
from rankloop.policies import AdLogistic, AUCRanker, BatchAdPolicy, LinearAdPolicy
from rankloop.query_set import QuerySet
from rankloop.types import FloatArray, IntArray

PENALTIES = (0.01, 0.1, 1.0, 10.0)
SPARSE_PENALTIES = (0.0001, 0.001, 0.01, 0.1)
REPEATS, TREES = 10, 200
SPARSE = AdUser(match=0.04, otherwise=0.0005)
EPSILON = 0.2
Scores = Callable[[LoggedRounds, FloatArray], FloatArray]  # from a log and contexts to [n, K]


@dataclass(frozen=True)
class Trained:
    """A way to train from a log, under each of some penalties or none."""

    name: str
    scores: Mapping[float, Scores]


def linear(
    make: Callable[..., LinearAdPolicy], penalties: Sequence[float], undersample: float | None
) -> dict[float, Scores]:
    """A linear policy under each penalty."""

    def scored(penalty: float, log: LoggedRounds, contexts: FloatArray) -> FloatArray:
        policy = make(
            batch=len(log), memory=max(len(log), 1), regularisation=penalty, undersample=undersample
        )
        policy.learn_rows(log.contexts, log.keys, log.rewards > 0)
        return _by_ad(policy, log, policy.scores_of(contexts))

    return {penalty: partial(scored, penalty) for penalty in penalties}


def forest(trees: int, undersample: float | None) -> dict[float, Scores]:
    """A forest for each ad."""

    def scored(log: LoggedRounds, contexts: FloatArray) -> FloatArray:
        scores = np.full((len(contexts), len(log.ads)), -np.inf)
        for ad in range(len(log.ads)):
            mine, clicks = log.shown == ad, log.rewards > 0
            positive = log.contexts[mine & clicks]
            negative = draw_negatives(log.contexts[mine & ~clicks], len(positive), share=undersample, seed=0)
            if len(positive) and len(negative):
                rows = np.concatenate((positive, negative))
                grown = classifier(rows, np.arange(len(rows)) < len(positive), trees=trees, seed=0)
                scores[:, ad] = grown.predict_proba(contexts)[:, 1]
        return scores

    return {0.0: scored}


def ways(penalties: Sequence[float], trees: int, undersample: float | None) -> list[Trained]:
    """The document's three policies, and the ranker with Platt scaling."""
    return [
        Trained("ranker", linear(AUCRanker, penalties, undersample)),
        Trained("ranker, Platt", linear(partial(AUCRanker, threshold="platt"), penalties, undersample)),
        Trained("logistic", linear(AdLogistic, penalties, undersample)),
        Trained("forest", forest(trees, undersample)),
    ]


def describe_ad_sets(datasets: Sequence[str]) -> Mapping[str, pl.DataFrame]:
    """Describe the sets: their sizes, and the share of clicks when ads are drawn uniformly."""
    rows = []
    for name in datasets:
        train, test = _parts(name, 0)
        log = simulate_ad_log(train, AdUser(), np.random.default_rng(0))
        shares = [float(log.rewards[log.shown == ad].mean()) for ad in set(log.shown.tolist())]
        rows.append(
            {
                "data": name,
                "size": len(train) + len(test),
                "features": log.contexts.shape[1],
                "classes": len(log.ads),
                "positive, %": 100 * float(np.mean(shares)),
            }
        )
    return {"sets": pl.DataFrame(rows)}


def compare_ad_policies(datasets: Sequence[str], *, quick: bool = False) -> Mapping[str, pl.DataFrame]:
    """Compare click rates of deterministic policies on test rows, with all negatives and undersampled 1:2."""
    repeats, trees = (2, 20) if quick else (REPEATS, TREES)
    parts = {"all negatives": None, "undersampled 1 to 2": 2.0}
    return {
        part: pl.DataFrame([row for name in datasets for row in _compared(name, share, repeats, trees)])
        for part, share in parts.items()
    }


def _compared(name: str, undersample: float | None, repeats: int, trees: int) -> list[dict[str, object]]:
    trained = ways(PENALTIES, trees, undersample)
    tests: dict[str, list[list[float]]] = {way.name: [] for way in trained}
    chosen: dict[str, list[float]] = {way.name: [] for way in trained}
    for repeat in range(repeats):
        train, test = _parts(name, repeat)
        log = simulate_ad_log(train, AdUser(), np.random.default_rng([repeat, 1]))
        assert test.contexts is not None
        answers = test.relevance.reshape(len(test), -1).argmax(axis=1)
        for way in trained:
            rates = [
                float((scores(log, test.contexts).argmax(axis=1) == answers).mean())
                for scores in way.scores.values()
            ]
            tests[way.name].append(rates)
            chosen[way.name].append(rates[_chosen(way, log, repeat)])
    return [_row(name, way, np.array(tests[way.name]), np.array(chosen[way.name])) for way in trained]


def _row(name: str, way: Trained, tests: FloatArray, chosen: FloatArray) -> dict[str, object]:
    best = int(tests.mean(axis=0).argmax())
    return {
        "data": name,
        "policy": way.name,
        "best λ on test": list(way.scores)[best] or None,
        "CTR": float(tests[:, best].mean()),
        "sd": float(tests[:, best].std(ddof=1)) if len(tests) > 1 else 0.0,
        "CTR, λ by validation": float(chosen.mean()),
        "sd of it": float(chosen.std(ddof=1)) if len(chosen) > 1 else 0.0,
    }


def _chosen(way: Trained, log: LoggedRounds, repeat: int) -> int:
    """The penalty with the highest importance-weighted click rate on a fifth of the log."""
    if len(way.scores) == 1:
        return 0
    order = np.random.default_rng([repeat, 2]).permutation(len(log))
    cut = len(log) // 5
    held_out, rest = log.take(order[:cut]), log.take(order[cut:])
    weights = held_out.rewards / held_out.propensities
    found = [
        float(weights @ (scores(rest, held_out.contexts).argmax(axis=1) == held_out.shown))
        for scores in way.scores.values()
    ]
    return int(np.argmax(found))


def compare_on_sparse_clicks(datasets: Sequence[str], *, quick: bool = False) -> Mapping[str, pl.DataFrame]:
    """Compare stochastic policies on a sparse log: importance-weighted click rates, bounds, and the truth."""
    rounds, judged, trees, repeats = (4000, 2000, 20, 1) if quick else (100_000, 33_000, TREES, 3)
    frames = [_sparse(name, repeat, rounds, judged, trees) for name in datasets for repeat in range(repeats)]
    return {"log": _mean_of(pl.concat(frames))}


def _sparse(name: str, repeat: int, rounds: int, judged: int, trees: int) -> pl.DataFrame:
    train, test = _parts(name, repeat)
    rng = np.random.default_rng([repeat, 3])
    log, other = (
        _visited(part, rng.integers(len(part), size=count), rng)
        for part, count in ((train, rounds), (test, judged))
    )
    trained = [
        *ways(SPARSE_PENALTIES, trees, None),
        *(replace(way, name=f"{way.name}, 1:1") for way in ways(SPARSE_PENALTIES, trees, 1.0)[2:]),
        Trained("random", {0.0: lambda log, contexts: np.zeros((len(contexts), len(log.ads)))}),
    ]
    return pl.DataFrame([_judged(name, way, log, other, test, repeat) for way in trained])


def _judged(
    name: str, way: Trained, log: LoggedRounds, other: LoggedRounds, test: QuerySet, repeat: int
) -> dict[str, object]:
    assert test.contexts is not None
    scores = list(way.scores.values())[_chosen(way, log, repeat)]
    choices = _choices(scores(log, other.contexts), way.name)
    weighted = weigh_rounds(other, choices)
    found = estimate_rewards(weighted, level=0.90)  # the document's bounds are one-sided, of 95 %
    matches = test.relevance.reshape(len(test), -1) > 0
    truth = np.where(matches, SPARSE.match, SPARSE.otherwise)
    return {
        "data": name,
        "policy": way.name,
        "true CTR": float((_choices(scores(log, test.contexts), way.name) * truth).sum(axis=1).mean()),
        **{each.name: each.value for each in found if not each.any_time},
        "at least": found[0].lower,
        "any time at least": found[-1].lower,
        "effective rounds": weighted.effective,
    }


def _choices(scores: FloatArray, name: str) -> FloatArray:
    """ε-greedy; the random policy is uniform."""
    if name == "random":
        return np.full(scores.shape, 1 / scores.shape[1])
    best = np.arange(scores.shape[1]) == scores.argmax(axis=1)[:, None]
    return np.where(best, 1 - EPSILON, EPSILON / (scores.shape[1] - 1))


def _mean_of(frame: pl.DataFrame) -> pl.DataFrame:
    numbers = [column for column in frame.columns if frame[column].dtype.is_numeric()]
    return frame.group_by("data", "policy", maintain_order=True).agg(
        *(pl.col(column).mean() for column in numbers), pl.col("true CTR").std().fill_null(0.0).alias("sd")
    )


def _visited(part: QuerySet, rows: IntArray, rng: np.random.Generator) -> LoggedRounds:
    """A log of uniform choices for visitors who come again and again."""
    assert part.contexts is not None
    ads = len(part.doc_ids) // len(part)
    shown, coins = rng.integers(ads, size=len(rows)), rng.random(len(rows))
    matches = part.relevance.reshape(len(part), ads)[rows, shown] > 0
    clicks = coins < np.where(matches, SPARSE.match, SPARSE.otherwise)
    names = tuple(part.doc_ids[:ads])
    return LoggedRounds(part.contexts[rows], names, shown, clicks * 1.0, np.full(len(rows), 1 / ads))


def _parts(name: str, seed: int) -> tuple[QuerySet, QuerySet]:
    """Train and test of a set of visitors, under another seed for every repeat."""
    dataset = load(change_name(name, seed=seed))
    if dataset.train.contexts is None:
        raise DataError(f"{name}: expected visitors with contexts, as in letter or ads")
    return dataset.train, dataset.test


def _by_ad(policy: BatchAdPolicy, log: LoggedRounds, scores: FloatArray) -> FloatArray:
    """Scores in the order of the log's ads; those never shown are below all."""
    found = np.full((len(scores), len(log.ads)), -np.inf)
    index = np.searchsorted(policy.keys, np.array([item_key(name) for name in log.ads], dtype=np.uint64))
    for ad in np.unique(log.shown).tolist():
        found[:, ad] = scores[:, index[ad]]
    return found
