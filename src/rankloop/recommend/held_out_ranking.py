"""Evaluation of recommenders: nDCG of top-K lists against held-out reviews, user by user."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from rankloop.errors import SettingError
from rankloop.metrics.rank_discounts import rank_discounts
from rankloop.recommend.recommender import EMPTY, Recommender
from rankloop.recommend.reviews import Reviews, SparseArray
from rankloop.types import FloatArray, IntArray

LIST = 100  # how long a list is that the released code looks at
CHUNK = 512  # users scored at a time


@dataclass(frozen=True, slots=True, eq=False)
class HeldOutLists:
    """The top items of every user with a held-out review, and how those reviews rate them."""

    users: IntArray  # [n]
    items: IntArray  # [n, K], the best first; -1 where nothing is left to recommend
    gains: FloatArray  # [n, K] the held-out rating, 0 where there is none
    ideal: FloatArray  # [n, K] all held-out ratings, the highest first

    def ndcg(self, k: int) -> FloatArray:
        r"""Return nDCG@k of every user by the plain protocol, called A@k, [n].

        $\sum_{r \le k} g_r / \log_2(1 + r)$ over the same sum for the held-out ratings in their best order,
        whether the recommender could know their items or not. Every user with a held-out review counts.
        """
        _check_size(k)
        return np.asarray(_dcg(self.gains, k) / _dcg(self.ideal, k))

    def released_ndcg(self, k: int) -> FloatArray:
        """Return nDCG@k by the protocol of released code, called C2@k: NaN for users it leaves out, [n].

        Only users with a hit among the first 100 count, and their ideal list is that list in its best
        order. It flatters and reorders recommenders: never choose by it.
        """
        _check_size(k)
        top = self.gains[:, :LIST]
        best = _dcg(-np.sort(-top, axis=1), k)
        nothing = np.full(len(best), np.nan)
        return np.asarray(np.divide(_dcg(top, k), best, out=nothing, where=best > 0))


def rank_held_out(
    model: Recommender, held_out: Reviews, *, known: Sequence[Reviews], size: int = LIST
) -> HeldOutLists:
    """Recommend to every user with a held-out review, among all items that they have no `known` review of."""
    if not len(held_out):
        raise SettingError("lists are measured on held-out reviews, found none; more reviews are needed")
    _check_shop(model, held_out, *known)
    users, rows = np.unique(held_out.user, return_inverse=True)
    seen = _seen(known, held_out)
    truth = held_out.rating_matrix()
    items = np.concatenate(
        [
            find_top_items(model.score_users(part), seen[part], size)
            for part in (users[start : start + CHUNK] for start in range(0, len(users), CHUNK))
        ]
    )
    gains = np.zeros(items.shape)
    for row, user in enumerate(users):
        start, end = truth.indptr[user : user + 2]
        rated = dict(zip(truth.indices[start:end].tolist(), truth.data[start:end].tolist(), strict=True))
        gains[row] = [rated.get(item, 0.0) for item in items[row].tolist()]
    return HeldOutLists(users, items, gains, _ideal(rows, held_out.rating, len(users), size))


def find_top_items(scores: FloatArray, seen: SparseArray | None, size: int) -> IntArray:
    """Find the items with the highest scores in every row, ties by number; those seen are left out.

    >>> find_top_items(np.array([[0.1, 0.7, 0.7, 0.2]]), None, 3).tolist()
    [[1, 2, 3]]
    """
    _check_size(size)
    scores = np.array(scores, float)
    if scores.ndim != 2 or not scores.shape[1]:
        raise SettingError(f"scores are a row for each user and a column for each item, found {scores.shape}")
    if seen is not None:
        rows = np.repeat(np.arange(len(scores)), np.diff(seen.indptr))
        scores[rows, seen.indices] = -np.inf
    if np.isnan(scores).any():
        raise SettingError("a recommender gave scores that are no numbers; it has not learned well")
    size = min(size, scores.shape[1])
    least = -np.partition(-scores, size - 1, axis=1)[:, size - 1]
    lists = np.full((len(scores), size), -1)
    for row, (line, floor) in enumerate(zip(scores, least, strict=True)):
        chosen = np.flatnonzero((line >= floor) & (line > -np.inf))
        best = chosen[np.argsort(-line[chosen], kind="stable")[:size]]
        lists[row, : len(best)] = best
    return lists


def _check_size(k: int) -> None:
    number: object = k
    if not isinstance(number, int | np.integer) or k < 1:
        raise SettingError(f"a list has a whole number of items, 1 or more, found {k!r}")


def _check_shop(model: Recommender, *parts: Reviews) -> None:
    users, items = len(model.past_starts) - 1, model.score_users(EMPTY).shape[1]
    for part in parts:
        if (part.n_users, part.n_items) != (users, items):
            raise SettingError(
                f"lists are measured on reviews of the same {users} users and {items} items, found "
                f"{part.n_users} users and {part.n_items} items"
            )


def _seen(known: Sequence[Reviews], held_out: Reviews) -> SparseArray:
    user, item = (
        np.concatenate([getattr(each, name) for each in known] or [EMPTY]) for name in ("user", "item")
    )
    return sparse.csr_array((np.ones(len(user)), (user, item)), shape=(held_out.n_users, held_out.n_items))


def _ideal(rows: IntArray, rating: FloatArray, n: int, size: int) -> FloatArray:
    order = np.lexsort((-rating, rows))
    start = np.searchsorted(rows[order], np.arange(n))
    position = np.arange(len(rows)) - start[rows[order]]
    inside = position < size
    ideal = np.zeros((n, size))
    ideal[rows[order][inside], position[inside]] = rating[order][inside]
    return ideal


def _dcg(gains: FloatArray, k: int) -> FloatArray:
    top = gains[:, :k]
    return np.asarray(top @ rank_discounts(top.shape[1]))
