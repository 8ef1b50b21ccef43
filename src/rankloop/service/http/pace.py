"""Which lists are made on the spot, and which by a thread.

NumPy lets go of the interpreter at every step, so a thread that ranks and the one that reads the next request
take turns at it, dozens of times for each list: that costs as much as the list. But only a thread can be left
behind when the deadline comes. So a list is made on the spot if it cannot get stuck: the policy is one of
rankloop's own, which compute and wait for nothing; nothing has to be written first; and lists of that size
took little time so far. Everything else gets a thread.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import TypeAlias

from rankloop.policies import Policy
from rankloop.service.ranker import View
from rankloop.service.request import Draft
from rankloop.service.table import Table

QUICK = 0.005  # seconds
PATIENCE = 1.25  # how much slower one list can make a kind: eight in a row make 1 ms 6 ms
MOST = 10_000  # kinds of lists remembered
Kind: TypeAlias = tuple[str, int, int, int]


class Pace:
    """Remembers how long lists of each kind take; a kind is a ranker, its settings, and a size."""

    def __init__(self) -> None:
        self._seconds: dict[Kind, float] = {}

    def kind(self, ranker: str, view: View, table: Table) -> Kind:
        """Lists that cost about the same: sizes up to the next power of two."""
        return ranker, view.settings, len(table.object_ids).bit_length(), len(view.schema).bit_length()

    def quick(self, kind: Kind, view: View, table: Table) -> bool:
        """Whether a list can be made on the spot."""
        return (
            self._seconds.get(kind, QUICK) < QUICK
            and own(view.model.policy)
            and all(map(view.schema.__contains__, table.names))
        )

    def timed(self, kind: Kind, job: Callable[[], Draft]) -> Draft:
        """Do a job, and remember how long it took."""
        began = time.perf_counter()
        made = job()
        if len(self._seconds) >= MOST:
            self._seconds.clear()
        took, before = time.perf_counter() - began, self._seconds.get(kind, math.inf)
        self._seconds[kind] = min(took, PATIENCE * before)  # a list that was held up once says little
        return made


def own(policy: Policy) -> bool:
    """Whether a policy is one of ours: nobody knows what another does.

    >>> from rankloop.policies import PairRank
    >>> own(PairRank())
    True
    """
    return type(policy).__module__.startswith("rankloop.policies.")
