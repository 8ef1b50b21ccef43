"""Accounts of groups: numbers that are kept for each group by its name, in arrays that can be stored."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankloop.errors import RankingError, SettingError
from rankloop.exposure.entitlements import MOST
from rankloop.learning.item_keys import KeyArray, item_key
from rankloop.types import Array, IntArray


@dataclass(frozen=True, slots=True, eq=False)
class GroupCodes:
    """The groups that a list is about, and the one of each candidate.

    >>> found = group_codes(("shop", "maker", "shop"))
    >>> found.names, found.codes.tolist(), found.counts.tolist()
    (('maker', 'shop'), [1, 0, 1], [1, 2])
    """

    names: tuple[str, ...]  # [m]
    codes: IntArray  # [n_docs] in 0 ... m - 1
    counts: IntArray  # [m] candidates of each

    @property
    def keys(self) -> KeyArray:
        """The keys of the groups, [m]."""
        return np.array([item_key(name) for name in self.names], dtype=np.uint64)


def group_codes(groups: Sequence[str], names: Sequence[str] = ()) -> GroupCodes:
    """Find the groups of a query's candidates: those with these names, or those that are there, by name."""
    try:
        known = tuple(names) or tuple(sorted(set(groups)))
        numbers = {name: code for code, name in enumerate(known)}
        codes = np.array([numbers[group] for group in groups], dtype=np.int64)
    except TypeError:
        raise RankingError(f"the group of a candidate is a text, found {[*groups]}") from None
    except KeyError as error:
        raise RankingError(
            f"shares were given to the groups {', '.join(known)}, and a candidate belongs to {error}: "
            "give that group a share, too"
        ) from error
    return GroupCodes(known, codes, np.bincount(codes, minlength=len(known)))


def read_balances(keys: KeyArray, values: Array, asked: KeyArray) -> Array:
    """Look up what is kept of the groups asked for, [m, ...]; 0 of those never met.

    >>> keys, asked = (np.array(each, dtype=np.uint64) for each in ([3, 7], [7, 5]))
    >>> read_balances(keys, np.array([10, 20]), asked)
    array([20,  0])
    """
    found = np.zeros((asked.size, *values.shape[1:]), dtype=values.dtype)
    if keys.size:
        at = np.minimum(keys.searchsorted(asked), keys.size - 1)
        hit = keys[at] == asked
        found[hit] = values[at[hit]]
    return found


def add_balances(keys: KeyArray, values: Array, asked: KeyArray, amounts: Array) -> tuple[KeyArray, Array]:
    """Give the keys, ascending, and what is kept of each group after amounts were added, [m, ...].

    >>> three, seven = np.array([3], dtype=np.uint64), np.array([7], dtype=np.uint64)
    >>> keys, values = add_balances(seven, np.array([20]), np.append(three, seven), np.array([1, 2]))
    >>> keys.tolist(), values.tolist()
    ([3, 7], [1, 22])
    >>> add_balances(keys, values, three, np.array([5]))[1].tolist(), values.tolist()  # what was given stays
    ([6, 22], [1, 22])
    """
    everyone = keys if keys.size and np.isin(asked, keys).all() else np.union1d(keys, asked)
    kept = values.copy() if everyone is keys else read_balances(keys, values, everyone)
    kept[everyone.searchsorted(asked)] += amounts
    return everyone, kept


def check_shares(shares: str | tuple[tuple[str, float], ...]) -> None:
    """Refuse shares that are neither a rule nor a number of 0 or more for each of several groups."""
    if isinstance(shares, str) and shares in ("equal", "candidates"):
        return
    if not isinstance(shares, tuple) or not shares or not _are_shares(shares):
        raise SettingError(
            "shares must be equal, candidates or a share for each group, as in (('A',0.6),('B',0.4)), "
            f"found {shares!r}"
        )


def _are_shares(pairs: tuple[Any, ...]) -> bool:
    """Whether all are a name and a number of 0 or more, and some number is more."""
    if not all(isinstance(pair, tuple) and len(pair) == 2 and isinstance(pair[0], str) for pair in pairs):
        return False
    numbers = [share for _, share in pairs]
    if not all(type(share) in (int, float) and 0 <= share <= MOST for share in numbers):
        return False
    return len({name for name, _ in pairs}) == len(pairs) and sum(numbers) > 0
