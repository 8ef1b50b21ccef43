"""Newcomers: what a few observations, or a few questions, bring to people nobody has learned from."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import polars as pl
from scipy.stats import binomtest

from rankloop.interleaving import TeamDraft
from rankloop.lab.data.review_data import Parts, newcomers
from rankloop.lab.recommenders import FMF
from rankloop.recommend import FacT, FactorModel, Recommender, rank_held_out
from rankloop.recommend.reviews import Reviews
from rankloop.types import BoolArray, FloatArray, IntArray

OBSERVED = 5  # reviews of a newcomer that may be observed; what follows is held out


def cold_start(parts: Parts, models: Mapping[str, Recommender], *, share: float = 0.05) -> pl.DataFrame:
    """Measure A@50 for newcomers of whom 0 to 5 reviews are known; those after the fifth are held out."""
    known, new = _newcomers(parts, share)
    fitted = {name: model.fit(known, np.random.default_rng(0)) for name, model in models.items()}
    order = _order(new)
    later = new.select(order >= OBSERVED)
    rows = []
    for count in range(OBSERVED + 1):
        observed = new.select(order < count)
        for name, model in fitted.items():
            lists = rank_held_out(model.with_users_of(observed), later, known=[observed])
            rows.append((count, name, round(float(lists.ndcg(50).mean()), 4)))
    return pl.DataFrame(rows, schema=["observations", "model", "A@50"], orient="row")


def interview_curve(
    parts: Parts, models: Mapping[str, FacT | FMF], *, share: float = 0.05, questions: int = 8
) -> pl.DataFrame:
    """Measure A@50 after so many questions, answered by what newcomers wrote in their first five reviews."""
    known, new = _newcomers(parts, share)
    order = _order(new)
    observed, later = new.select(order < OBSERVED), new.select(order >= OBSERVED)
    rows = []
    for name, model in models.items():
        fitted = model.fit(known, np.random.default_rng(0))
        for count in range(questions + 1):
            lists = rank_held_out(interview_users(fitted, observed, count), later, known=[observed])
            rows.append((count, name, round(float(lists.ndcg(50).mean()), 4)))
    return pl.DataFrame(rows, schema=["questions", "model", "A@50"], orient="row")


def interview_users(model: FacT | FMF, observed: Reviews, questions: int) -> FactorModel:
    """Return a copy that knows newcomers by their answers to its tree's first questions alone."""
    leaf = model.tree.route(model.profiles(observed), questions=questions)
    copy = model.with_users_of(observed)
    copy.user_factors = model.node_vectors[leaf]
    return copy


def interleaved_votes(
    parts: Parts,
    models: Mapping[str, FacT | FMF],
    rng: np.random.Generator,
    *,
    share: float = 0.1,
    k: int = 10,
) -> pl.DataFrame:
    """Have two trees interview the same newcomers; held-out items get the clicks on interleaved lists."""
    known, new = _newcomers(parts, share)
    order = _order(new)
    observed, later = new.select(order < OBSERVED), new.select(order >= OBSERVED)
    lists = [
        rank_held_out(
            interview_users(model.fit(known, np.random.default_rng(0)), observed, model.depth),
            later,
            known=[observed],
            size=50,
        )
        for model in models.values()
    ]
    votes = np.zeros(3, int)
    for row, user in enumerate(lists[0].users):
        wanted = set(later.item[later.user == user].tolist())
        credit = _credit(np.stack([each.items[row] for each in lists]), wanted, k, rng)
        votes[0 if credit[0] > credit[1] else 1 if credit[1] > credit[0] else 2] += 1
    decided = int(votes[:2].sum())
    chance = float(binomtest(int(votes[0]), decided).pvalue) if decided else 1.0
    first, second = models
    return pl.DataFrame({"won by": [first, second, "tie"], "newcomers": votes, "p": [chance] * 3})


def _credit(both: IntArray, wanted: set[int], k: int, rng: np.random.Generator) -> FloatArray:
    """Count clicks on wanted items of an interleaved list, by owner."""
    items, rows = np.unique(both, return_inverse=True)
    ranks = rows.reshape(both.shape)
    full = np.stack([np.concatenate([rank, np.setdiff1d(np.arange(len(items)), rank)]) for rank in ranks])
    shown = TeamDraft().combine(full, k=k, rng=rng)
    clicks: BoolArray = np.array([int(items[each]) in wanted for each in shown.order])
    return np.asarray(shown.owners @ clicks)


def _newcomers(parts: Parts, share: float) -> tuple[Reviews, Reviews]:
    """Return all training reviews but those of some users with many of them."""
    often = np.bincount(parts.train.user, minlength=parts.train.n_users) > OBSERVED
    enough: BoolArray = often[parts.train.user]
    _, new = newcomers(parts.train.select(enough), np.random.default_rng(43), share=share)
    return parts.train.select(~np.isin(parts.train.user, np.unique(new.user))), new


def _order(reviews: Reviews) -> IntArray:
    """Count how many reviews each user wrote before each, by time; an order is drawn where it is not known.

    The order of rows says nothing: published files are sorted by item.
    """
    drawn = np.random.default_rng(53).permutation(len(reviews))
    time = reviews.time if reviews.time is not None else drawn
    sequence = np.lexsort((time, reviews.user))
    starts = np.searchsorted(reviews.user[sequence], reviews.user[sequence])
    order = np.empty(len(reviews), np.int64)
    order[sequence] = np.arange(len(reviews)) - starts
    return order
