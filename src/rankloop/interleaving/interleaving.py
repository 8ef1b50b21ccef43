"""What an interleaved list carries, and who gets the credit for its clicks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from rankloop.types import BoolArray, FloatArray, IntArray


@dataclass(frozen=True, slots=True, eq=False)
class Interleaved:
    """One list made from many, and who owns each of its positions."""

    order: IntArray  # [k]
    owners: FloatArray  # [n_rankers, k]: probability, given the list, that the ranker put the result there


@runtime_checkable
class Interleaving(Protocol):
    """A way to show the lists of several rankers as one.

    Two rankers are *interleaved*, more are *multileaved*; it is the same code.
    """

    def combine(self, lists: IntArray, *, k: int, rng: np.random.Generator) -> Interleaved:
        """Make one list of `k` from the rankers' lists [n_rankers, n_docs], each best first."""
        ...


def credit(owners: FloatArray, clicks: BoolArray) -> FloatArray:
    r"""Compute the expected number of clicks on each ranker's results, given the list.

    $c_r = \sum_m \text{click}_m \, P(\text{owner}_m = r \mid \text{list})$: exact, nothing is sampled.
    Once the list is known its positions' owners are independent, so the sum over all assignments of
    owners is a sum over positions.

    >>> owners = np.array([[1.0, 0.25], [0.0, 0.75]])
    >>> credit(owners, np.array([True, True])).tolist()
    [1.25, 0.75]
    """
    return owners @ clicks


def expected_sign(owners: FloatArray, clicks: BoolArray) -> FloatArray:
    r"""How surely each ranker beats the first: $E[\operatorname{sign}(C_r - C_0) \mid \text{list}]$.

    $C_r$ counts the clicks on ranker $r$'s results. Each clicked position moves the difference
    $C_r - C_0$ up with probability $P(r)$ and down with probability $P(0)$; the exact distribution of the
    difference is the convolution of these steps, at a cost of $O(\text{clicks}^2)$ per ranker.

    >>> owners = np.array([[0.5, 0.25], [0.5, 0.75]])
    >>> expected_sign(owners, np.array([True, True])).tolist()  # both: .375, one each: 0, none: -.125
    [0.0, 0.25]

    Hofmann, Whiteson, de Rijke: A probabilistic method for inferring preferences from clicks. CIKM 2011.
    """
    steps = owners[:, clicks].T
    n_clicks, n_rankers = steps.shape
    chance = np.zeros((n_rankers, 2 * n_clicks + 1))  # column n_clicks + d: P(C_r - C_0 = d)
    chance[:, n_clicks] = 1.0
    for up in steps:
        moved = (1 - up - up[0])[:, None] * chance
        moved[:, 1:] += up[:, None] * chance[:, :-1]
        moved[:, :-1] += up[0] * chance[:, 1:]
        chance = moved
    wins: FloatArray = chance[:, n_clicks + 1 :].sum(axis=1) - chance[:, :n_clicks].sum(axis=1)
    wins[0] = 0.0  # the first ranker never beats itself, though its owner coin moves "both" ways above
    return wins
