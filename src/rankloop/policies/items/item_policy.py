"""What policies that know items by id share: arrays with an entry for every item, and means of grades."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Literal, Self

import numpy as np

from rankloop.bounds import Positive
from rankloop.errors import RankingError
from rankloop.learning.item_keys import ItemKeys, KeyArray, keys_of
from rankloop.policy import Policy
from rankloop.state_fields import state
from rankloop.types import Array, Feedback, FloatArray, IntArray, Query


@dataclass(kw_only=True, eq=False)
class ItemPolicy(Policy):
    """Knows candidates by their ids, and keeps an entry of some arrays for each that it has met.

    Items may appear at any time, and a query may have any of them as candidates. Without ids, candidates are
    known by their row number.
    """

    identifies_by = "ids"
    item_arrays: ClassVar[tuple[str, ...]] = ()  # state with an entry for every item, as in `keys`

    keys: KeyArray = state((0,), np.uint64, feature_axes=())  # of all items met, ascending

    def values_of(self, query: Query, *names: str) -> list[Array]:
        """Look up what is known of the candidates, [n_docs, ...] for each array; 0 of those never met."""
        asked = keys_of(query)
        arrays = [getattr(self, name) for name in names]
        if self._are_all(asked):
            return [values[asked.ranks] for values in arrays]
        if not self.keys.size:
            return [np.zeros((query.n_docs, *values.shape[1:]), dtype=values.dtype) for values in arrays]
        index = self.find_items(asked.keys)
        missing = index < 0
        return [
            np.where(missing.reshape(-1, *[1] * (values.ndim - 1)), 0, values[index]) for values in arrays
        ]

    def find_items(self, keys: KeyArray) -> IntArray:
        """Where these are among the items met; -1: never met."""
        if not self.keys.size:
            return np.full(keys.size, -1)
        index = np.minimum(np.searchsorted(self.keys, keys), self.keys.size - 1)
        return np.where(self.keys[index] == keys, index, -1)

    def add_candidates(self, query: Query) -> IntArray:
        """Where the candidates are among the items met, after all of them were."""
        asked = keys_of(query)
        if not self._are_all(asked):
            index = self.find_items(asked.keys)
            if index.min() >= 0:
                return index
            self._insert(np.unique(asked.keys[index < 0]))
            if not self._are_all(asked):
                return self.find_items(asked.keys)
        self.keys = asked.ascending  # the very array, so that equal keys are soon found to be equal
        return asked.ranks

    def add_items(self, keys: KeyArray) -> IntArray:
        """Where items with these keys are, after all of them were met."""
        if (self.find_items(keys) < 0).any():
            self._insert(np.setdiff1d(keys, self.keys))
        return self.find_items(keys)

    def first_value(self, name: str) -> Array:
        """Say what the entry of a new item is in one of the `item_arrays`."""
        return np.zeros_like(getattr(self, name), shape=getattr(self, name).shape[1:])

    def _are_all(self, asked: ItemKeys) -> bool:
        """Whether these are the items met, and no others, each once."""
        return asked.ascending is self.keys or np.array_equal(asked.ascending, self.keys)

    def _insert(self, fresh: KeyArray) -> None:
        at = np.searchsorted(self.keys, fresh)
        for name in self.item_arrays:
            setattr(self, name, np.insert(getattr(self, name), at, self.first_value(name), axis=0))
        self.keys = np.insert(self.keys, at, fresh)


@dataclass(kw_only=True, eq=False)
class GradedItemPolicy(ItemPolicy):
    r"""Learns of each item what its grades $r$ are worth: $2^r - 1$ or, with a linear `gain`, $r$.

    The best order by the mean of that is the best by every measure that adds up over the items: by DCG with
    the exponential gain, by precision, the sum of ranks and wrong pairs with the linear one. Features are
    ignored.
    """

    signals = ("grades", "clicks")

    gain: Literal["exponential", "linear"] = "exponential"
    top_grade: Positive = 1.0

    def widened(self, n_features: int) -> Self | None:
        """None: features are not looked at, new ones neither."""
        del n_features
        return None

    @cached_property
    def highest_gain(self) -> float:
        """What an item of the highest grade is worth."""
        return float(self.gain_of(np.array(self.top_grade)))

    def gain_of(self, grades: Array) -> FloatArray:
        """Say what items of these grades are worth."""
        if self.gain == "linear":
            return np.asarray(grades, dtype=np.float64)
        return np.asarray(np.exp2(grades, dtype=np.float64) - 1)


@dataclass(kw_only=True, eq=False)
class MeanGradePolicy(GradedItemPolicy):
    """Keeps, of every item, how many grades were seen and the sum of what they are worth.

    Each is a share of what `top_grade` is worth. A grade above that is refused, one below 0 counts as 0.
    """

    evidence_scope = "documents"  # there is none: grades hold wherever an item stands
    item_arrays: ClassVar[tuple[str, ...]] = ("totals", "counts")

    totals: FloatArray = state((0,), feature_axes=())
    counts: IntArray = state((0,), np.int64, feature_axes=())
    lists: Array = state(dtype=np.int64)

    def learn(self, feedback: Feedback) -> None:
        """Count every grade that is known."""
        grades, known = feedback.graded()
        seen = known.nonzero()[0]
        found = grades[seen]
        if np.count_nonzero(found > self.top_grade):
            highest = found.max()
            raise RankingError(
                f"expected grades of at most top_grade={self.top_grade:g}, found {highest:g}: give the "
                f"policy the highest grade there is, as in {type(self).__name__}(top_grade={highest:g})"
            )
        items = self.add_candidates(feedback.ranking.query)[feedback.ranking.order[seen]]
        shares = np.maximum(self.gain_of(found) / self.highest_gain, 0.0)
        self.totals, self.counts = self.totals.copy(), self.counts.copy()
        np.add.at(self.totals, items, shares)
        np.add.at(self.counts, items, 1)
        self.lists = self.lists + 1

    def score(self, query: Query) -> FloatArray:
        """Give the mean share of the highest gain; 0 for items never graded."""
        totals, counts = self.values_of(query, "totals", "counts")
        return mean_gain(totals, counts)


def mean_gain(totals: FloatArray, counts: IntArray) -> FloatArray:
    """Totals over counts; 0 where nothing was counted.

    >>> mean_gain(np.array([3.0, 0.0]), np.array([2, 0])).tolist()
    [1.5, 0.0]
    """
    return totals / np.maximum(counts, 1)
