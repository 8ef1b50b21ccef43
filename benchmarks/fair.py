"""Microseconds of a fair list beside a plain one: 100 candidates of two groups, 10 shown."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from statistics import median
from time import perf_counter

import numpy as np

from rankloop.exploration import ordered_blocks, random_topological
from rankloop.exposure import Method, deep_draw, discounted_looks, entitlements, fair_list, swap_list
from rankloop.types import IntArray

CANDIDATES = 100
TARGET_US = 200.0  # of a merge of two groups at ten positions
CASES: Mapping[str, tuple[int, int, Method]] = {  # groups, positions, method
    "table": (2, 10, "table"),
    "halves, 20 shown": (2, 20, "halves"),
    "pages, 20 shown": (2, 20, "pages"),
    "pages, 5 groups": (5, 10, "pages"),
    "swap": (2, 10, "table"),
}


SLOW = {"halves, 20 shown", "swap"}  # milliseconds


def pace(name: str, *, blocks: int = 20) -> dict[str, object]:
    """Medians over blocks of lists: the plain draw, the deeper draw, and what makes it fair."""
    n_groups, k, method = CASES[name]
    lists = 1 if name in SLOW else 50
    rng = np.random.default_rng(0)
    scores, groups = rng.normal(size=CANDIDATES), rng.integers(n_groups, size=CANDIDATES)
    certain = np.subtract.outer(scores, scores) > 1.0  # an order by intervals, as a policy has it half-way
    looks, counts = discounted_looks(k), np.bincount(groups, minlength=n_groups)
    shares, ahead = np.ones(n_groups), np.zeros(n_groups, dtype=np.int64)
    whole = entitlements(shares, looks, counts)

    def due(count: int) -> IntArray:
        return whole if count == k else entitlements(shares, looks[:count], counts)

    rules = {"looks": looks, "ahead": ahead, "due": due, "tolerance": 300_000, "rng": rng}
    drawn = deep_draw(certain, groups, k, rng)
    merge = partial(fair_list, drawn, groups, certain, method=method, **rules)  # type: ignore[arg-type]
    swap = partial(swap_list, ordered_blocks(scores, certain), groups, certain, **rules)  # type: ignore[arg-type]
    jobs: dict[str, Callable[[], object]] = {
        "plain_us": partial(random_topological, certain, k, rng),
        "deep_us": partial(deep_draw, certain, groups, k, rng),
        "due_us": partial(entitlements, shares, looks, counts),
        "merge_us": swap if name == "swap" else merge,
    }
    target = TARGET_US if name == "table" else None
    times = {column: _median_us(job, blocks, lists) for column, job in jobs.items()}
    return {"bench": "fair", "name": name, "groups": n_groups, "shown": k, **times, "target_us": target}


def _median_us(job: Callable[[], object], blocks: int, lists: int) -> float:
    job()  # templates are made once
    times = []
    for _ in range(blocks):
        start = perf_counter()
        for _ in range(lists):
            job()
        times.append(1e6 * (perf_counter() - start) / lists)
    return median(times)
