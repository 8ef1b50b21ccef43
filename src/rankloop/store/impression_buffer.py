"""Write-behind buffer for impressions, drained by one group-commit job."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future

from rankloop.store.base import Store, StoreError, Transaction
from rankloop.store.records import Impression

MOST = 5000  # lists waiting: one more is lost, so that memory stays bounded


def _nobody(lists: Sequence[Impression], written: bool) -> None:
    """Nobody wants to know."""


class ImpressionBuffer:
    """Write-behind buffer: hands lists to a store without waiting; `lost` is told how many were not written.

    `left` is told which do not wait any more, and whether they are durable; it is told of all that were put.

    One job takes all that is there when its turn comes. It is in the queue from the moment the first of them
    is put, so whatever is submitted after a list is done after it.

    >>> import numpy as np
    >>> from rankloop.store import MemoryStore
    >>> shown = Impression(
    ...     at=0.0, ranker="shop", query_id="q", model=1, settings=1, mode="explore", policy="pdgd", seed=0,
    ...     k=1, object_ids=["a"], pinned_at=np.zeros(1, int), features=np.ones((1, 1)), order=np.arange(1),
    ... )
    >>> store = MemoryStore()
    >>> ImpressionBuffer(store, lost=print).put(shown)
    >>> store.impression("q").shown
    ['a']
    >>> store.close()
    >>> ImpressionBuffer(store, lost=print).put(shown)
    1
    """

    def __init__(
        self,
        store: Store,
        *,
        lost: Callable[[int], object],
        left: Callable[[Sequence[Impression], bool], object] = _nobody,
    ) -> None:
        self._store, self._lost, self._left = store, lost, left
        self._lists: list[Impression] = []
        self._queued = False  # a job that will take them
        self._lock = threading.Lock()
        self._putting = threading.Lock()  # until the job is in the queue: the next list relies on it

    def put(self, shown: Impression, *, urgent: bool = False) -> None:
        """Have a list written down, as a rule together with others."""
        with self._putting:
            self._put(shown, urgent)

    def _put(self, shown: Impression, urgent: bool) -> None:
        with self._lock:
            full, queued = len(self._lists) >= MOST, self._queued
            if not full:
                self._lists.append(shown)
                self._queued = True
        if full:
            self._lose([shown])
        elif urgent or not queued:
            try:
                self._submit(urgent)
            except StoreError:
                if not queued:  # otherwise the other job takes it
                    self._lose(self._take())

    def _submit(self, urgent: bool) -> None:
        taken: list[Impression] | None = None

        def job(transaction: Transaction) -> int:
            nonlocal taken
            taken = self._take()
            return transaction.append_all(taken)

        def done(future: Future[int]) -> None:
            if future.exception():  # nothing was written, and perhaps the job not even begun
                self._lose(self._take() if taken is None else taken)
                return
            self._left(taken or (), True)
            if future.result():
                self._lost(future.result())

        self._store.submit(job, urgent=urgent).add_done_callback(done)

    def _lose(self, lists: Sequence[Impression]) -> None:
        self._left(lists, False)
        self._lost(len(lists))

    def _take(self) -> list[Impression]:
        with self._lock:
            taken, self._lists, self._queued = self._lists, [], False
        return taken
