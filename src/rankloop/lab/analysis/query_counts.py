"""Number of test queries that offline means rest on, in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

FEWEST = 100  # below, one query more or less moves a mean by more than policies usually differ

UNKNOWN = "How many test queries offline means rest on is not known: the data was not at hand."


def describe_counts(counts: Mapping[str, Sequence[int]]) -> str:
    """Say how many test queries offline means rest on, and whether they are few.

    The counts of a dataset are a number for each fold.

    >>> print(describe_counts({"small": [60]}))
    Offline means rest on 60 test queries: few, so that another sample of queries may turn the order around.
    >>> print(describe_counts({"mq2008": [152, 156], "web": [2000]}))
    Offline means rest on 152 to 156 test queries in each of 2 folds (mq2008); 2,000 test queries (web).
    """
    if not counts:
        return UNKNOWN
    texts = {data: _describe_folds(each) for data, each in counts.items()}
    same = len(set(texts.values())) == 1
    listed = (
        next(iter(texts.values())) if same else "; ".join(f"{text} ({data})" for data, text in texts.items())
    )
    few = any(is_few(each) for each in counts.values())
    warning = ": few, so that another sample of queries may turn the order around" if few else ""
    return f"Offline means rest on {listed}{warning}."


def is_few(counts: Sequence[int]) -> bool:
    """Whether all folds together have so few test queries that a claim rests on a handful of them.

    >>> is_few([60]), is_few([60, 60])
    (True, False)
    """
    return sum(counts) < FEWEST


def _describe_folds(counts: Sequence[int]) -> str:
    low, high = min(counts), max(counts)
    number = f"{low:,}" if low == high else f"{low:,} to {high:,}"
    folds = "" if len(counts) == 1 else f" in each of {len(counts)} folds"
    return f"{number} test quer{'y' if high == 1 else 'ies'}{folds}"
