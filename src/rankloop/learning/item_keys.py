"""Item keys: ids of items as numbers of 64 bits, so that what is known of them is arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b

import numpy as np
import numpy.typing as npt

from rankloop.types import IntArray, Query

KeyArray = npt.NDArray[np.uint64]
CACHED = 2000  # ids of one list that are worth keeping


@dataclass(frozen=True, slots=True, eq=False)
class ItemKeys:
    """The keys of the candidates of one query, as they come and sorted.

    >>> keys = keys_of(Query("q", np.empty((2, 0)), ("tea", "coffee")))
    >>> keys.ascending[keys.ranks].tolist() == keys.keys.tolist()
    True
    """

    keys: KeyArray  # [n_docs]
    ascending: KeyArray  # [n_docs]
    ranks: IntArray  # [n_docs] where each stands among the sorted, from 0


def keys_of(query: Query) -> ItemKeys:
    """Compute the keys of a query's candidates; without ids they are known by their row number."""
    if not query.doc_ids:
        return _numbered(query.n_docs)
    ids = tuple(query.doc_ids)
    return _cached(ids) if len(ids) <= CACHED else _hashed(ids)


def item_key(name: str) -> int:
    """Hash an id by BLAKE2b. Of a million items two share a key with a probability of 1 in 37 million.

    >>> item_key("tea") == item_key("tea") != item_key("coffee")
    True
    """
    return int.from_bytes(blake2b(name.encode(), digest_size=8).digest(), "little")


def _hashed(ids: Sequence[str]) -> ItemKeys:
    keys = np.array([item_key(name) for name in ids], dtype=np.uint64)
    order = np.argsort(keys, kind="stable")
    ranks = np.empty(len(keys), dtype=np.int64)
    ranks[order] = np.arange(len(keys))
    found = ItemKeys(keys, keys[order], ranks)
    for array in (found.keys, found.ascending, found.ranks):
        array.setflags(write=False)  # one serves every caller
    return found


@lru_cache(maxsize=256)
def _cached(ids: tuple[str, ...]) -> ItemKeys:
    return _hashed(ids)


@lru_cache(maxsize=256)
def _numbered(n_docs: int) -> ItemKeys:
    return _hashed([str(row) for row in range(n_docs)])
