"""Number of test queries behind the offline means of a sweep."""

from __future__ import annotations

import numpy as np

from rankloop.errors import DataError
from rankloop.lab.sweeps.sweep import Sweep, folds, label
from rankloop.query_set import QuerySet


def count_test_queries(sweep: Sweep) -> dict[str, list[int]]:
    """Count the test queries that enter the offline means: a number for each fold of each dataset.

    Where queries without a relevant document are left out of the mean, they are not counted. Datasets that
    are not at hand are missing.
    """
    counted: dict[str, list[int]] = {}
    for data in sweep.data:
        try:
            tests = [sweep.dataset(fold).test for fold in folds(data)]
        except (DataError, OSError):
            continue
        skip = sweep.protocol.without_relevant == "skip"
        counted[label(data)] = [_count_with_relevant(test) if skip else len(test) for test in tests]
    return counted


def _count_with_relevant(queries: QuerySet) -> int:
    best = np.maximum.reduceat(queries.relevance, queries.offsets[:-1])
    return int((best > 0).sum())
