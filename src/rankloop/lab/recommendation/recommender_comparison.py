"""Comparison of recommenders on held-out reviews: both protocols, seeds, paired tests, and statements."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
import polars as pl

from rankloop.lab.analysis.policy_summaries import holm, paired_p_value
from rankloop.lab.data.review_data import Parts
from rankloop.lab.recommendation.fits import RELEASED, Fit, Measured, averaged, fitted
from rankloop.lab.sweeps.engines import Here
from rankloop.lab.sweeps.mapping import Mapper
from rankloop.recommend import Recommender

CUTOFFS = (10, 20, 50, 100)
HERE: Final = Here()


def measure(
    models: Sequence[Recommender],
    parts: Parts,
    *,
    seeds: int = 1,
    ks: Sequence[int] = CUTOFFS,
    engine: Mapper = HERE,
) -> list[Measured]:
    """Fit each model with each seed, recommend to everyone with a test review, and average over seeds."""
    jobs = [Fit(model, seed, tuple(ks)) for model in models for seed in range(seeds)]
    fits = list(engine.map(fitted, parts, jobs))
    return [averaged(fits[start : start + seeds]) for start in range(0, len(fits), seeds)]


def compare_recommenders(
    parts: Parts, models: Mapping[str, Recommender], *, seeds: int = 3, engine: Mapper = HERE
) -> tuple[pl.DataFrame, dict[str, Measured]]:
    """A table with a line for every model, the best by A@50 first, and what was measured.

    `p` is the paired t-test of A@50 over users against the best, corrected by Holm. The fits are done by an
    engine; the table is the same by any.
    """
    measured = measure(list(models.values()), parts, seeds=seeds, engine=engine)
    found = dict(zip(models, measured, strict=True))
    order = sorted(found, key=lambda name: -found[name].mean(50))
    p_values = holm(np.array([p_value(found[name], found[order[0]]) for name in order[1:]]))
    rows = [
        {
            "model": name,
            **{f"A@{k}": round(found[name].mean(k), 4) for k in CUTOFFS},
            **{f"C2@{k}": round(found[name].released_mean(k), 4) for k in RELEASED},
            "p": None if rank == 0 else float(p_values[rank - 1]),
        }
        for rank, name in enumerate(order)
    ]
    return pl.DataFrame(rows, infer_schema_length=None), found


def p_value(first: Measured, second: Measured, k: int = 50) -> float:
    """Paired t-test over users of A@k."""
    ours, theirs = (
        {("", user): float(value) for user, value in enumerate(each.plain[k])} for each in (first, second)
    )
    found = paired_p_value(ours, theirs)
    return 1.0 if found is None else found


def statements(found: Mapping[str, Measured], claims: Sequence[tuple[str, str]]) -> pl.DataFrame:
    """Claims that one model is better than another, each with what both protocols say.

    By A it holds if the mean is higher with p < .05, and is open if the difference is not significant.
    """
    rows = []
    for better, worse in claims:
        ours, theirs = found[better], found[worse]
        chance = p_value(ours, theirs)
        ahead = ours.mean(50) > theirs.mean(50)
        rows.append(
            {
                "statement": f"{better} is better than {worse}",
                "by A@50": ("holds" if ahead else "does not hold") if chance < 0.05 else "open",
                "A@50": f"{ours.mean(50):.4f} and {theirs.mean(50):.4f}",
                "p": chance,
                "by C2@50": "holds" if ours.released_mean(50) > theirs.released_mean(50) else "does not hold",
                "C2@50": f"{ours.released_mean(50):.4f} and {theirs.released_mean(50):.4f}",
            }
        )
    return pl.DataFrame(rows)


def statistics_of(parts: Parts) -> pl.DataFrame:
    """How many users, items, features, words and reviews there are, and what parts they are split into."""
    three = {"train": parts.train, "validation": parts.validation, "test": parts.test}
    users, items = (
        np.concatenate([getattr(each, kind) for each in three.values()]) for kind in ("user", "item")
    )
    rows = [
        ("users", len(np.unique(users))),
        ("items", len(np.unique(items))),
        ("features", len(parts.train.features)),
        ("opinion words", len(parts.train.words)),
        ("title words", len(parts.train.tokens)),
        ("reviews", sum(map(len, three.values()))),
        *((f"reviews, {name}", len(part)) for name, part in three.items()),
        ("mentions", sum(len(part.mentions) for part in three.values())),
        ("test items never reviewed in training", len(set(parts.test.item) - set(parts.train.item))),
    ]
    return pl.DataFrame(rows, schema=["what", "count"], orient="row")
