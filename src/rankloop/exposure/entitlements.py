"""Entitlements: how many of a list's views are due to each group."""

from __future__ import annotations

import numpy as np

from rankloop.errors import RankingError
from rankloop.exposure.position_views import attainable_views
from rankloop.types import BoolArray, FloatArray, IntArray

MOST = 1e150  # a share; only how shares compare counts


def due_views(shares: FloatArray, views: IntArray, counts: IntArray) -> IntArray:
    r"""Divide the views of a list that are due to each group, in proportion to its share, [m].

    Only groups that have candidates take part, and none is due more than its documents could receive; what
    is left goes to the others by their shares. Whole millionths, by largest remainders: all views are due to
    somebody, $\sum_g \text{due}_g = \sum_p \text{view}_p$.

    >>> due_views(np.array([0.5, 0.5]), np.array([10, 5, 3]), np.array([7, 7])).tolist()
    [9, 9]
    >>> due_views(np.array([0.1, 0.9]), np.array([10, 5, 3]), np.array([7, 1])).tolist()  # one document
    [8, 10]
    """
    there = counts.tolist()
    if not (
        len(shares) == len(there)
        and all(0 <= share <= MOST for share in shares.tolist())
        and all(count >= 0 for count in there)
        and sum(there) >= len(views)
    ):
        raise RankingError(
            f"every group needs a share of 0 or more, and every position a candidate, found shares {shares} "
            f"for groups of {counts} candidates and {len(views)} positions"
        )
    most = attainable_views(views, counts)
    due: IntArray = np.zeros(len(counts), dtype=np.int64)
    quotas: FloatArray = np.zeros(len(counts))
    open_groups, rest = counts > 0, int(views.sum())
    while open_groups.any():
        quotas = rest * _weights(shares, open_groups)
        over = open_groups & (quotas > most)
        if not over.any():
            break
        due[over] = most[over]
        rest -= int(most[over].sum())
        open_groups &= ~over
    return due + _rounded(quotas * open_groups, (most - due) * open_groups, rest)


def _weights(shares: FloatArray, open_groups: BoolArray) -> FloatArray:
    weights: FloatArray = np.asarray(shares, dtype=np.float64) * open_groups
    if not weights.any():
        weights = open_groups.astype(np.float64)
    weights /= weights.sum()
    return weights


def _rounded(quotas: FloatArray, room: IntArray, total: int) -> IntArray:
    whole = np.minimum(quotas.astype(np.int64), room)
    for group in (whole - quotas).argsort(kind="stable").tolist() * 2:
        if whole.sum() == total:
            break
        whole[group] += whole[group] < room[group]
    return whole
