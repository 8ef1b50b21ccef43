r"""Pairwise statistics per query: who was clicked over whom, in flat arrays that can be stored.

What is known of a query's $n$ documents are $n \times n$ matrices. Those of all queries lie one after the
other in flat arrays, with the keys of queries and documents beside them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rankloop.learning.item_keys import KeyArray, item_key, keys_of
from rankloop.types import Array, IntArray, Query


@dataclass(frozen=True, eq=False)
class Layout:
    """Where the documents of each query, and their pairs, are in the flat arrays.

    Offsets are computed once, so that finding a query costs the same however many were met.

    >>> queries, sizes = np.array([item_key("q")], dtype=np.uint64), np.array([2])
    >>> layout = Layout(queries, sizes, keys_of(Query("q", np.eye(2))).keys)
    >>> layout.rows(Query("q", np.eye(3))).tolist(), layout.rows(Query("another", np.eye(2))).tolist()
    ([0, 1, -1], [-1, -1])
    """

    queries: KeyArray  # [n_queries] in the order in which they were met
    sizes: IntArray  # [n_queries] how many documents of each were met
    documents: KeyArray  # [sum of sizes]

    def find(self, query: Query) -> int:
        """Find the index of a query among those met; -1: never met."""
        return self._indices.get(item_key(query.id), -1)

    def documents_of(self, index: int) -> slice:
        """Where a query's documents are."""
        return slice(int(self._starts[index]), int(self._starts[index + 1]))

    def pairs_of(self, index: int) -> slice:
        """Where a query's pairs are."""
        return slice(int(self._pair_starts[index]), int(self._pair_starts[index + 1]))

    def rows(self, query: Query) -> IntArray:
        """Which of its query's documents met each candidate is, [n_docs]; -1: never met."""
        index = self.find(query)
        if index < 0:
            return np.full(query.n_docs, -1)
        known = self.documents[self.documents_of(index)]
        asked = keys_of(query).keys
        if np.array_equal(known, asked):
            return np.arange(asked.size)
        order = known.argsort(kind="stable")
        at = np.minimum(known[order].searchsorted(asked), known.size - 1)
        return np.where(known[order[at]] == asked, order[at], -1)

    @property
    def arrays(self) -> tuple[KeyArray, IntArray, KeyArray]:
        """The arrays that it is made of."""
        return self.queries, self.sizes, self.documents

    @cached_property
    def _indices(self) -> dict[int, int]:
        return dict(zip(self.queries.tolist(), range(self.queries.size), strict=True))

    @cached_property
    def _starts(self) -> IntArray:
        return np.append(0, self.sizes.cumsum())

    @cached_property
    def _pair_starts(self) -> IntArray:
        return np.append(0, np.square(self.sizes).cumsum())


def add_query(layout: Layout, query: Query) -> Layout:
    """Add a query with these candidates to a layout; the layout itself, if there is nothing new."""
    fresh = keys_of(query).keys[layout.rows(query) < 0]
    if not fresh.size:
        return layout
    index = layout.find(query)
    if index < 0:
        queries = np.append(layout.queries, np.uint64(item_key(query.id)))
        return Layout(queries, np.append(layout.sizes, fresh.size), np.append(layout.documents, fresh))
    sizes = layout.sizes.copy()
    sizes[index] += fresh.size
    documents = np.insert(layout.documents, layout.documents_of(index).stop, fresh)
    return Layout(layout.queries, sizes, documents)


def move_values(values: Array, before: Layout, after: Layout, *, power: int) -> Array:
    """Move numbers of documents (power 1) or of pairs (power 2) to new positions; 0 for what is new.

    >>> old = Layout(np.array([7], dtype=np.uint64), np.array([1]), np.array([5], dtype=np.uint64))
    >>> new = Layout(old.queries, np.array([2]), np.array([5, 6], dtype=np.uint64))
    >>> move_values(np.array([3]), old, new, power=2).tolist()
    [3, 0, 0, 0]
    """
    if before is after:
        return values
    grown = np.zeros(int((after.sizes**power).sum()), dtype=values.dtype)
    if after.queries.size > before.queries.size:  # the new query is the last
        grown[: values.size] = values
        return grown
    index = int((before.sizes != after.sizes).argmax())
    old, new = int(before.sizes[index]), int(after.sizes[index])
    start = int((before.sizes[:index] ** power).sum())
    end, wider = start + old**power, start + new**power
    grown[:start], grown[wider:] = values[:start], values[end:]
    inner = (slice(old),) * power
    grown[start:wider].reshape((new,) * power)[inner] = values[start:end].reshape((old,) * power)
    return grown
