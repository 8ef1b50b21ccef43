"""What policies that know documents by id share: where each is among those that were met."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rankloop.learning.item_keys import KeyArray, keys_of
from rankloop.policies.base import KnowsBy, Policy
from rankloop.policies.state_fields import state
from rankloop.types import Array, IntArray, Query


@dataclass(kw_only=True, eq=False)
class KnowsItems(Policy):
    """Knows documents by their ids, and keeps an entry of some arrays for each that it has met.

    Items may appear at any time, and a query may have any of them as candidates. Without ids, candidates are
    known by their row number.
    """

    knows_by: ClassVar[KnowsBy] = "ids"
    item_arrays: ClassVar[tuple[str, ...]] = ()  # state with an entry for every item, as in `keys`

    keys: KeyArray = state((0,), np.uint64, feature_axes=())  # of all items met, ascending

    def _find(self, query: Query) -> IntArray:
        """Where the candidates are among the items met, [n_docs]; -1: never met."""
        asked = keys_of(query)
        return asked.ranks if np.array_equal(asked.ascending, self.keys) else self._index(asked.keys)

    def _index(self, keys: KeyArray) -> IntArray:
        """Where these keys are among the items met; -1: never met."""
        if not self.keys.size:
            return np.full(keys.size, -1)
        index = np.minimum(np.searchsorted(self.keys, keys), self.keys.size - 1)
        return np.where(self.keys[index] == keys, index, -1)

    def _known(self, values: Array, index: IntArray) -> Array:
        """What is known of the candidates; 0 of those never met."""
        if not values.size:
            return np.zeros((index.size, *values.shape[1:]), dtype=values.dtype)
        if index.min() >= 0:
            return values[index]
        return np.where((index < 0).reshape(-1, *[1] * (values.ndim - 1)), 0, values[index])

    def _meet(self, query: Query) -> IntArray:
        """Where the candidates are among the items met, after all of them were."""
        index = self._find(query)
        return index if index.min() >= 0 else self._meet_keys(keys_of(query).keys)

    def _meet_keys(self, keys: KeyArray) -> IntArray:
        """Where these keys are, after all of them were met: new ones start as `_starts` says."""
        fresh = np.setdiff1d(keys, self.keys)
        if fresh.size:
            at = np.searchsorted(self.keys, fresh)
            for name in self.item_arrays:
                setattr(self, name, np.insert(getattr(self, name), at, self._starts(name), axis=0))
            self.keys = np.insert(self.keys, at, fresh)
        return self._index(keys)

    def _starts(self, name: str) -> Array:
        """What the entry of a new item is in one of the `item_arrays`."""
        return np.zeros_like(getattr(self, name), shape=getattr(self, name).shape[1:])
