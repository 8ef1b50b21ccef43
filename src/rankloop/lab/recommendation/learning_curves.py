"""Curves: what a setting, or the amount of data, does to recommenders."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

import numpy as np
import polars as pl

from rankloop.lab.data.review_data import Parts, joined
from rankloop.lab.recommendation.recommender_comparison import HERE, measure
from rankloop.lab.sweeps.engines import Engine
from rankloop.recommend import Recommender
from rankloop.recommend.reviews import Reviews


def curve(
    parts: Parts,
    axis: str,
    models: Mapping[str, Callable[[float], Recommender]],
    values: Iterable[float],
    *,
    change: Callable[[Parts, float], Parts] | None = None,
    engine: Engine = HERE,
) -> pl.DataFrame:
    """A@50 and C2@50 of every model at every value of an axis; `change` makes the data of a value."""
    rows = []
    for value in values:
        data = parts if change is None else change(parts, value)
        made = [make(value) for make in models.values()]
        measured = measure(made, data, ks=(50,), engine=engine)
        for name, found in zip(models, measured, strict=True):
            rows.append((value, name, round(found.mean(50), 4), round(found.released_mean(50), 4)))
    return pl.DataFrame(rows, schema=[axis, "model", "A@50", "C2@50"], orient="row")


def with_share(parts: Parts, share: float) -> Parts:
    """A share of all reviews to learn from; the others stay known, so their items are not recommended."""
    total = len(parts.train) + len(parts.validation) + len(parts.test)
    keep = np.random.default_rng(41).permutation(len(parts.train)) < share * total
    return Parts(parts.train.select(keep), joined(parts.validation, parts.train.select(~keep)), parts.test)


def with_features(parts: Parts, count: float) -> Parts:
    """Mentions of the most frequent features alone."""
    often = np.argsort(
        -np.bincount(parts.train.mentions.feature, minlength=len(parts.train.features)), kind="stable"
    )
    kept = often[: int(count)]
    return Parts(*(_only(part, kept) for part in (parts.train, parts.validation, parts.test)))


def _only(reviews: Reviews, features: np.ndarray[tuple[int], np.dtype[np.int64]]) -> Reviews:
    return replace(reviews, mentions=reviews.mentions.select(np.isin(reviews.mentions.feature, features)))
