"""Profiles: what is known of users and items, as sparse rows in which a missing cell is unknown."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from rankloop.recommend.reviews import Reviews, SparseArray, binarize
from rankloop.types import FloatArray


def share_mentions(counts: SparseArray) -> SparseArray:
    """Return each feature's share of a user's mentions; unknown, if it was never mentioned.

    >>> share_mentions(sparse.csr_array(np.array([[3, 1, 0]]))).toarray().tolist()
    [[0.75, 0.25, 0.0]]
    """
    total = np.asarray(counts.sum(axis=1), float).ravel()
    return sparse.csr_array(_scaled(counts, 1 / np.maximum(total, 1)))


def sum_item_opinions(reviews: Reviews) -> SparseArray:
    """Return positive minus negative mentions of an item's features; as much of both is a known 0."""
    mentions = reviews.mentions
    cells = (mentions.sentiment.astype(float), (reviews.item[mentions.review], mentions.feature))
    return sparse.csr_array(cells, shape=(reviews.n_items, len(reviews.features)))


def share_tokens(by_user: SparseArray, attributes: SparseArray) -> SparseArray:
    """Return the share of a user's items that have each token; unknown, if none has it."""
    counts = np.diff(by_user.indptr)
    return sparse.csr_array(
        _scaled(sparse.csr_array(binarize(by_user) @ attributes), 1 / np.maximum(counts, 1))
    )


def keep_common_tokens(attributes: SparseArray, least: int) -> SparseArray:
    """Return the attributes with all columns, but cells of rare tokens removed."""
    often = np.bincount(attributes.indices, minlength=attributes.shape[1]) >= least
    coordinates = sparse.coo_array(attributes)
    keep = often[coordinates.coords[1]]
    cells = (coordinates.data[keep], tuple(part[keep] for part in coordinates.coords))
    return sparse.csr_array(cells, shape=attributes.shape)


def _scaled(matrix: SparseArray, factor: FloatArray) -> SparseArray:
    data = matrix.data * np.repeat(factor, np.diff(matrix.indptr))
    return sparse.csr_array((data, matrix.indices, matrix.indptr), shape=matrix.shape)
