"""Ratings and pairs as the objective of a tree: each review outranks an item that is drawn."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from rankloop.recommend.factor_objectives import RatingAndPairs
from rankloop.recommend.reviews import SparseArray
from rankloop.types import FloatArray, IntArray


def drawn_pairs(ratings: SparseArray, rng: np.random.Generator) -> tuple[IntArray, IntArray, IntArray]:
    """A user, an item they reviewed, and one that they did not review or rated lower, for every review."""
    user = np.repeat(np.arange(ratings.shape[0]), np.diff(ratings.indptr))
    other = rng.integers(ratings.shape[1], size=len(user))
    there = np.asarray(ratings[user, other]).ravel()
    keep = there < ratings.data
    return user[keep], ratings.indices[keep].astype(np.int64), other[keep]


def user_pairs(
    ratings: SparseArray, items: FloatArray, weight: float, rng: np.random.Generator
) -> RatingAndPairs:
    """The objective of users, given the items' vectors."""
    user, better, worse = drawn_pairs(ratings, rng)
    return RatingAndPairs(ratings, items, user, items[better] - items[worse], weight)


def item_pairs(
    ratings: SparseArray, users: FloatArray, items: FloatArray, weight: float, rng: np.random.Generator
) -> RatingAndPairs:
    """The objective of items, given the users' vectors; a pair moves both its items, so steps are halved."""
    user, better, worse = drawn_pairs(ratings, rng)
    entity, direction = np.concatenate([better, worse]), np.concatenate([users[user], -users[user]])
    offset = np.concatenate(
        [-np.einsum("pd,pd->p", users[user], items[worse]), np.einsum("pd,pd->p", users[user], items[better])]
    )
    by_item = sparse.csr_array(ratings.T)
    return RatingAndPairs(by_item, users, entity, direction, weight, offset, damping=0.5)
