"""What a fair list costs at least: it cannot be nearer to the drawn one than exposure must move."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from rankloop.exposure import fair_list
from rankloop.types import IntArray

LOOKS = np.array([1000, 630, 500, 430, 387, 356])


def turned_round(first: IntArray, second: IntArray) -> int:
    """Pairs of documents that two full lists order differently (Kendall's distance)."""
    where = np.empty(len(second), dtype=int)
    where[second] = np.arange(len(second))
    return sum(where[a] > where[b] for a, b in combinations(first.tolist(), 2))


@given(
    st.lists(st.integers(0, 1), min_size=2, max_size=9),
    st.floats(0.5, 2.0),
    st.integers(-2000, 2000),
    st.integers(1, 6),
    st.integers(0, 99),
)
@settings(max_examples=120)
def test_turned_pairs_are_at_least_what_the_change_of_exposure_takes(
    of: list[int], beta: float, ahead: int, k: int, seed: int
) -> None:
    """Neighbours that change positions move the unfairness by (1 + β) times the difference of their looks."""
    rng, groups = np.random.default_rng(seed), np.array(of)
    k = min(k, len(groups))
    looks, drawn = LOOKS[:k], rng.permutation(len(groups))
    share = int(looks.sum() * beta / (1 + beta))
    due = np.array([share, looks.sum() - share])
    certain = np.zeros((len(groups), len(groups)), dtype=bool)
    rank = np.empty(len(groups), dtype=int)
    rank[drawn] = np.arange(len(groups))
    certain |= np.subtract.outer(rank, rank) < -rng.integers(1, 4)  # apart by some: certain
    found = fair_list(
        drawn,
        groups,
        certain,
        looks=looks,
        ahead=np.array([ahead, -ahead]),
        due=lambda _: due,
        tolerance=100,
        rng=rng,
    )
    rest = [document for document in drawn.tolist() if document not in found.order]
    shown = np.array([*found.order.tolist(), *rest])

    def unfairness(order: IntArray) -> float:
        a = groups[order[:k]] == 0
        return float(looks[a].sum() - beta * looks[~a].sum())

    step = (1 + beta) * max(-np.diff(looks, append=0))
    assert turned_round(drawn, shown) >= abs(unfairness(drawn) - unfairness(shown)) / step - 1e-9
