"""Observability: whether a measure can be learned from the grades of the first k results, and how fast.

The theory of partial monitoring: a learner chooses an order of m items, the world a binary grade for each,
and only the grades of the first k come back. How the regret of the best learner grows, in the worst world,
follows from the matrices of losses and signals alone.

Bartok, Foster, Pal, Rakhlin, Szepesvari: Partial monitoring: classification, regret bounds, and algorithms.
Mathematics of Operations Research, 2014.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations, permutations, product

import numpy as np

from rankloop.errors import SettingError
from rankloop.lab.theory.objectives import Objective
from rankloop.types import BoolArray, FloatArray, IntArray

MOST_ITEMS = 5  # with six there are 720 orders, and linear programs with as many rows for each of them
NEARLY = 1e-9


@dataclass(frozen=True)
class Observability:
    """What can be learned from the grades of the first `k` of so many items.

    `globally`: the difference between any two orders can be estimated from what some orders show.
    `locally`: that of two neighbouring orders even from what they, and no worse ones, show.
    """

    objective: Objective
    items: int
    k: int
    globally: bool
    locally: bool
    smallest_k: int  # from which on it is globally observable
    smallest_local_k: int

    @property
    def rate(self) -> str:
        """How the regret of the best learner grows with the number of lists, in the worst world."""
        return "T^(1/2)" if self.locally else "T^(2/3)" if self.globally else "T"


def observability(objective: Objective, *, k: int, items: int) -> Observability:
    """Whether the objective is observable from the first `k` grades, and from how many it would be.

    >>> from rankloop.lab.theory.objectives import APGain, SumLoss
    >>> found = observability(APGain(), k=1, items=4)
    >>> found.globally, found.rate, found.smallest_k
    (False, 'T', 3)
    >>> observability(SumLoss(), k=1, items=3).rate
    'T^(2/3)'
    """
    check_size(items, k)
    needed = smallest_k(objective, items)
    local = smallest_local_k(objective, items)
    return Observability(objective, items, k, k >= needed, k >= local, needed, local)


def check_size(items: int, k: int) -> None:
    """Refuse games that are none, or too large to be written down."""
    if type(items) is not int or not 2 <= items <= MOST_ITEMS:
        raise SettingError(
            f"items must be 2 to {MOST_ITEMS}, found {items}: all {MOST_ITEMS}! orders are written down and "
            f"compared; what holds for 3, 4 and {MOST_ITEMS} shows what holds for more"
        )
    if type(k) is not int or not 1 <= k <= items:
        raise SettingError(f"k must be from 1 to the number of items, {items}, found {k}")


# The game


def all_ranks(items: int) -> IntArray:
    """Every order, as the ranks of the items: [items!, items], in alphabetical order.

    >>> all_ranks(3)[4].tolist()  # the first item is third, the second first, the third second
    [3, 1, 2]
    """
    return np.array(list(permutations(range(1, items + 1))))


def all_grades(items: int) -> IntArray:
    """Every row of binary grades: [2^items, items], in alphabetical order.

    >>> all_grades(2).tolist()
    [[0, 0], [0, 1], [1, 0], [1, 1]]
    """
    return np.array(list(product((0, 1), repeat=items)))


@lru_cache(maxsize=32)
def value_matrix(objective: Objective, items: int) -> FloatArray:
    """What every order is worth under all grades: [items!, 2^items]; a loss as it is, a gain as it is.

    >>> from rankloop.lab.theory.objectives import SumLoss
    >>> value_matrix(SumLoss(), 3)[2].tolist()
    [0.0, 3.0, 1.0, 4.0, 2.0, 5.0, 3.0, 6.0]
    """
    return objective.values(all_ranks(items), all_grades(items))


def feedback_matrix(items: int, k: int = 1) -> IntArray:
    """What every order shows under all grades: [items!, 2^items], the first `k` grades read as binary digits.

    >>> feedback_matrix(3)[2].tolist()  # the second item is on top
    [0, 0, 1, 1, 0, 0, 1, 1]
    """
    shown = np.argsort(all_ranks(items), axis=1)[:, :k]  # [items!, k]
    digits = all_grades(items)[:, shown]  # [2^items, items!, k]
    codes: IntArray = (digits @ (1 << np.arange(k)[::-1])).T
    return codes


def signal_rows(shown: Iterable[tuple[int, ...]], items: int) -> FloatArray:
    """Which grades look alike if these items are seen: a row of 0 and 1 for each thing that can be seen.

    >>> signal_rows([(0,)], 2).tolist()
    [[1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 1.0]]
    """
    grades = all_grades(items)
    rows = [
        (grades[:, list(seen)] == pattern).all(axis=1)
        for seen in shown
        for pattern in product((0, 1), repeat=len(seen))
    ]
    return np.array(rows, dtype=np.float64)


# Global: by rank


def globally_observable(objective: Objective, *, k: int, items: int) -> bool:
    """Whether every difference of two orders lies in the span of all that can be seen of the first `k`.

    >>> from rankloop.lab.theory.objectives import NDCGGain
    >>> [globally_observable(NDCGGain(), k=k, items=4) for k in (1, 2, 3, 4)]
    [False, False, True, True]
    """
    values = value_matrix(objective, items)
    return _spanned(signal_rows(combinations(range(items), k), items), values - values[0])


def smallest_k(objective: Objective, items: int) -> int:
    """How many grades must be seen for global observability; all of them always do."""
    return next(k for k in range(1, items + 1) if globally_observable(objective, k=k, items=items))


def _spanned(rows: FloatArray, vectors: FloatArray) -> bool:
    """Whether adding the vectors to the rows leaves the rank as it is."""
    together = np.vstack((rows, vectors))
    return bool(np.linalg.matrix_rank(together, NEARLY) == np.linalg.matrix_rank(rows, NEARLY))


# Local: by linear programs


def smallest_local_k(objective: Objective, items: int) -> int:
    """How many grades must be seen for local observability; all of them always do.

    Renaming the items turns any order into the first one, so its neighbours show what holds for all.
    """
    losses = value_matrix(objective, items) * (1 if objective.is_loss else -1)
    pairs = list(_neighbours(losses))
    shown = [tuple(order) for order in np.argsort(all_ranks(items), axis=1).tolist()]
    return next(
        k
        for k in range(1, items + 1)
        if all(
            _spanned(
                signal_rows({tuple(sorted(shown[each][:k])) for each in between}, items),
                losses[[other]] - losses[0],
            )
            for other, between in pairs
        )
    )


def _neighbours(losses: FloatArray) -> Iterator[tuple[int, list[int]]]:
    """The neighbours of the first order, each with all orders that are best wherever both are."""
    away = losses - losses[0]
    _, others = np.unique(away.round(9), axis=0, return_index=True)
    different = [int(other) for other in others if np.abs(away[other]).max() > NEARLY]
    for other in different:
        along = _collinear(away, away[other])
        if _meet(away[other], away[different][~along[different]]):
            yield other, np.flatnonzero(along).tolist()


def _collinear(vectors: FloatArray, direction: FloatArray) -> BoolArray:
    """Which vectors are multiples of the direction, 0 included."""
    along = np.outer(vectors @ direction, direction) / (direction @ direction)
    return np.asarray(np.abs(vectors - along).max(axis=1) < NEARLY)


def _meet(difference: FloatArray, rest: FloatArray) -> bool:
    """Whether two orders are both best for grades that leave room in every other direction.

    A linear program: over all distributions of grades under which the two are equally good, maximise by how
    much each other order is worse, and how likely the least likely grades are. Above 0 they are neighbours.
    """
    from scipy.optimize import linprog  # noqa: PLC0415  # half a second to import, for those who ask only

    outcomes = difference.size
    least = np.vstack((rest, np.eye(outcomes)))  # each must be at least t
    found = linprog(
        np.append(np.zeros(outcomes), -1.0),
        A_ub=np.hstack((-least, np.ones((len(least), 1)))),
        b_ub=np.zeros(len(least)),
        A_eq=np.vstack((np.append(difference, 0.0), np.append(np.ones(outcomes), 0.0))),
        b_eq=[0.0, 1.0],
        bounds=[(0, None)] * outcomes + [(None, None)],
    )
    return bool(-found.fun > 1e-7)
