"""Templates: which group stands at each position; all of them, with the way each takes through the queues."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from rankloop.types import FloatArray, IntArray

MOST = 1024  # templates that are compared for one part of a page


@dataclass(frozen=True, slots=True, eq=False)
class Templates:
    """Every template of some length, and the steps it is made of.

    A *step* takes the next document of one group while so many of each group stand above it. Templates share
    steps, so the cost of each is computed once.
    """

    groups: IntArray  # [t, length] who stands where
    counts: IntArray  # [t, m] how many of each group
    paths: FloatArray  # [t, s] which steps each takes, 0 or 1
    taken: IntArray  # [s] the document that a step takes, as an index into [m, length]
    above: IntArray  # [m, s] who stands above it of each group, as an index into [m, length + 1, m * length]


def longest_part(n_groups: int) -> int:
    """How many positions can be filled in every possible way without comparing too many templates.

    >>> [longest_part(n_groups) for n_groups in (1, 2, 3, 5, 100)]
    [10, 10, 6, 4, 1]
    """
    return next((length for length in range(10, 1, -1) if n_groups**length <= MOST), 1)


@lru_cache(maxsize=32)
def all_templates(n_groups: int, length: int) -> Templates:
    """All templates of a length, from the first group everywhere to the last one everywhere.

    >>> all_templates(2, 2).groups.tolist()
    [[0, 0], [0, 1], [1, 0], [1, 1]]
    """
    numbers = np.arange(n_groups**length)[:, None]
    groups = numbers // n_groups ** np.arange(length)[::-1] % n_groups
    here = groups[:, :, None] == np.arange(n_groups)  # [t, length, m]
    before = here.cumsum(axis=1) - here
    each = np.concatenate([before, groups[:, :, None]], axis=2).reshape(-1, n_groups + 1)
    distinct, steps = np.unique(each, axis=0, return_inverse=True)
    counts, group = distinct[:, :-1].T, distinct[:, -1]  # [m, s], [s]
    taken = group * length + counts[group, np.arange(len(group))]
    above = (np.arange(n_groups)[:, None] * (length + 1) + counts) * (n_groups * length) + taken
    paths = np.zeros((len(groups), len(distinct)), dtype=np.float32)
    np.put_along_axis(paths, steps.reshape(groups.shape), 1, axis=1)
    return Templates(groups, here.sum(axis=1), paths, taken, above)


@lru_cache(maxsize=64)
def template_views(n_groups: int, views: tuple[int, ...]) -> FloatArray:
    """Count the views that each template gives to each group, whole numbers, [m, t].

    >>> template_views(2, (10, 5)).tolist()
    [[15.0, 10.0, 5.0, 0.0], [0.0, 5.0, 10.0, 15.0]]
    """
    groups = all_templates(n_groups, len(views)).groups
    weights = np.array(views, dtype=np.float64)  # whole and below 2^53: added exactly, and fast
    return np.stack([(groups == group) @ weights for group in range(n_groups)])
