"""What policies that know documents by id share: where each is among those that were met."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rankloop.learning.item_keys import ItemKeys, KeyArray, keys_of
from rankloop.policy import Policy
from rankloop.state_fields import state
from rankloop.types import Array, IntArray, Query


@dataclass(kw_only=True, eq=False)
class KnowsItems(Policy):
    """Knows documents by their ids, and keeps an entry of some arrays for each that it has met.

    Items may appear at any time, and a query may have any of them as candidates. Without ids, candidates are
    known by their row number.
    """

    identifies_by = "ids"
    item_arrays: ClassVar[tuple[str, ...]] = ()  # state with an entry for every item, as in `keys`

    keys: KeyArray = state((0,), np.uint64, feature_axes=())  # of all items met, ascending

    def _known(self, query: Query, *names: str) -> list[Array]:
        """What is known of the candidates, array by array, [n_docs, ...] each; 0 of those never met."""
        asked = keys_of(query)
        arrays = [getattr(self, name) for name in names]
        if self._are_all(asked):
            return [values[asked.ranks] for values in arrays]
        if not self.keys.size:
            return [np.zeros((query.n_docs, *values.shape[1:]), dtype=values.dtype) for values in arrays]
        index = self._find(asked.keys)
        return [_or_nothing(values[index], index) for values in arrays]

    def _meet(self, query: Query) -> IntArray:
        """Where the candidates are among the items met, after all of them were."""
        asked = keys_of(query)
        if not self._are_all(asked):
            index = self._find(asked.keys)
            if index.min() >= 0:
                return index
            self._add(np.unique(asked.keys[index < 0]))
            if not self._are_all(asked):
                return self._find(asked.keys)
        self.keys = asked.ascending  # the very array, so that equal keys are soon found to be equal
        return asked.ranks

    def _are_all(self, asked: ItemKeys) -> bool:
        """Whether these are the items met, and no others, each once."""
        return asked.ascending is self.keys or np.array_equal(asked.ascending, self.keys)

    def _find(self, keys: KeyArray) -> IntArray:
        """Where these are among the items met; -1: never met."""
        if not self.keys.size:
            return np.full(keys.size, -1)
        index = np.minimum(np.searchsorted(self.keys, keys), self.keys.size - 1)
        return np.where(self.keys[index] == keys, index, -1)

    def _meet_keys(self, keys: KeyArray) -> IntArray:
        """Where these are, after all of them were met."""
        if (self._find(keys) < 0).any():
            self._add(np.setdiff1d(keys, self.keys))
        return self._find(keys)

    def _add(self, fresh: KeyArray) -> None:
        at = np.searchsorted(self.keys, fresh)
        for name in self.item_arrays:
            setattr(self, name, np.insert(getattr(self, name), at, self._starts(name), axis=0))
        self.keys = np.insert(self.keys, at, fresh)

    def _starts(self, name: str) -> Array:
        """What the entry of a new item is in one of the `item_arrays`."""
        return np.zeros_like(getattr(self, name), shape=getattr(self, name).shape[1:])


def _or_nothing(values: Array, index: IntArray) -> Array:
    """The values, with 0 where nothing was met."""
    return np.where((index < 0).reshape(-1, *[1] * (values.ndim - 1)), 0, values)
