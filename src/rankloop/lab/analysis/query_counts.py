"""Number of test queries behind the offline means of a sweep."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from rankloop.errors import DataError
from rankloop.lab.sweeps.sweep import Sweep, folds, label
from rankloop.types import QuerySet

FEWEST = 100  # below, one query more or less moves a mean by more than policies usually differ

UNKNOWN = "How many test queries offline means rest on is not known: the data is not at hand."


def graded_queries(sweep: Sweep) -> dict[str, tuple[int, ...]]:
    """How many test queries enter the offline means: a number for each fold of each dataset.

    Where queries without a relevant document are left out of the mean, they are not counted. Datasets that
    are no longer at hand are missing.
    """
    counted: dict[str, tuple[int, ...]] = {}
    for data in sweep.data:
        try:
            tests = [sweep.dataset(fold).test for fold in folds(data)]
        except (DataError, OSError):
            continue
        skip = sweep.protocol.without_relevant == "skip"
        counted[label(data)] = tuple(_with_relevant(test) if skip else len(test) for test in tests)
    return counted


def queries_told(counts: Sequence[int], *, warn: bool = False) -> str:
    """The counts of one dataset in words, with a warning of few if wanted.

    >>> queries_told([50]), queries_told([152, 156]), queries_told([60, 60])
    ('50 test queries', '152 to 156 test queries in each of 2 folds', '60 test queries in each of 2 folds')
    >>> queries_told([50], warn=True)
    '50 test queries, which are few'
    """
    low, high = min(counts), max(counts)
    number = (
        f"{low:,} test quer{'y' if high == 1 else 'ies'}"
        if low == high
        else f"{low:,} to {high:,} test queries"
    )
    number = number if len(counts) == 1 else f"{number} in each of {len(counts)} folds"
    return f"{number}, which are few" if warn and is_few(counts) else number


def is_few(counts: Sequence[int]) -> bool:
    """Whether all folds together have so few test queries that a claim rests on a handful of them.

    >>> is_few([60]), is_few([60, 60])
    (True, False)
    """
    return sum(counts) < FEWEST


def queries_note(counts: Mapping[str, Sequence[int]]) -> str:
    """What stands beside every offline claim: how many test queries it rests on, and whether they are few.

    >>> print(queries_note({"small": [60]}))
    Offline means rest on 60 test queries: few, so that another sample of queries may turn the order around.
    """
    told = {data: queries_told(each) for data, each in counts.items()}
    if not told:
        return UNKNOWN
    same = len(set(told.values())) == 1
    listed = (
        next(iter(told.values())) if same else "; ".join(f"{text} ({data})" for data, text in told.items())
    )
    few = any(is_few(each) for each in counts.values())
    warning = ": few, so that another sample of queries may turn the order around" if few else ""
    return f"Offline means rest on {listed}{warning}."


def _with_relevant(queries: QuerySet) -> int:
    best = np.maximum.reduceat(queries.relevance, queries.offsets[:-1])
    return int((best > 0).sum())
