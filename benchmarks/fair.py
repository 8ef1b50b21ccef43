"""Microseconds of a fair list beside a plain one: 100 candidates of two groups, 10 shown."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from statistics import median
from time import perf_counter

import numpy as np

from rankloop.exploration import ordered_blocks, random_topological
from rankloop.exposure import (
    AccountRule,
    discounted_views,
    draw_deep,
    due_views,
    merge_fairly,
    split_into_pages,
)
from rankloop.lab.baselines.fairswap import swap_fairly
from rankloop.types import IntArray

CANDIDATES = 100
TARGET_US = 200.0  # of a merge of two groups at ten positions
CASES: Mapping[str, tuple[int, int]] = {  # groups, positions
    "table": (2, 10),
    "pages, 20 shown": (2, 20),
    "pages, 5 groups": (5, 10),
    "swap": (2, 10),
}


def pace(name: str, *, blocks: int = 20) -> dict[str, object]:
    """Medians over blocks of lists: the plain draw, the deeper draw, and what makes it fair."""
    n_groups, k = CASES[name]
    lists = 1 if name == "swap" else 50  # it takes milliseconds
    rng = np.random.default_rng(0)
    scores, groups = rng.normal(size=CANDIDATES), rng.integers(n_groups, size=CANDIDATES)
    certain = np.subtract.outer(scores, scores) > 1.0  # an order by intervals, as a policy has it half-way
    views, counts = discounted_views(k), np.bincount(groups, minlength=n_groups)
    shares = np.ones(n_groups)
    whole = due_views(shares, views, counts)

    def due(count: int) -> IntArray:
        return whole if count == k else due_views(shares, views[:count], counts)

    rule = AccountRule(
        views=views,
        ahead=np.zeros(n_groups, dtype=np.int64),
        due=due,
        tolerance=300_000,
        pages=split_into_pages(k, n_groups),
    )
    drawn = draw_deep(certain, groups, k, rng)
    merge = partial(merge_fairly, drawn, groups, certain, rule, rng=rng)
    swap = partial(swap_fairly, ordered_blocks(scores, certain), groups, certain, rule, rng=rng)
    jobs: dict[str, Callable[[], object]] = {
        "plain_us": partial(random_topological, certain, k, rng),
        "deep_us": partial(draw_deep, certain, groups, k, rng),
        "due_us": partial(due_views, shares, views, counts),
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
