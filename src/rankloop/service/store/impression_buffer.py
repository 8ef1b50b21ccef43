"""Write-behind buffer for impressions, drained by one group-commit job."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass

from rankloop.service.store.log_records import Impression
from rankloop.service.store.store import CommitUnknown, ConnectionLost, Store, StoreError, Transaction

MOST = 5000  # lists waiting: one more is lost, so that memory stays bounded


def _nobody(lists: Sequence[Impression], written: bool) -> None:
    """Nobody wants to know."""


@dataclass(slots=True)
class _Waiting:
    """A list that is to be written, and who waits for it."""

    shown: Impression
    durable: Future[None] | None = None
    again: bool = False  # it may be there: a commit was cut off


class ImpressionBuffer:
    """Write-behind buffer: hands lists to a store without waiting; `lost` is told how many were not written.

    `left` is told which do not wait any more, and whether they are durable; it is told of all that were put.
    `held` is told when some have to wait, because the connection to the store was lost.

    One job takes all that is there when its turn comes. It is in the queue from the moment the first of them
    is put, so whatever is submitted after a list is done after it. If the connection to the store is lost,
    they wait for `resume`, which whoever submits something about them calls first.

    >>> import numpy as np
    >>> from rankloop.service.store import open_temporary_store
    >>> shown = Impression(
    ...     at=0.0, ranker="shop", query_id="q", model=1, settings=1, mode="explore", policy="pdgd", seed=0,
    ...     k=1, object_ids=["a"], pinned_at=np.zeros(1, int), features=np.ones((1, 1)), order=np.arange(1),
    ... )
    >>> store = open_temporary_store()
    >>> ImpressionBuffer(store, lost=print).put(shown)
    >>> store.find_impression("q").shown
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
        held: Callable[[], object] = lambda: None,
    ) -> None:
        self._store, self._lost, self._left, self._held = store, lost, left, held
        self._lists: list[_Waiting] = []
        self._queued = False  # a job that will take them
        self._lock = threading.Lock()
        self._putting = threading.Lock()  # until the job is in the queue: the next list relies on it

    def put(self, shown: Impression, *, urgent: bool = False) -> None:
        """Have a list written down, as a rule together with others."""
        with self._putting:
            self._put(_Waiting(shown), urgent)

    def put_durably(self, shown: Impression) -> Future[None]:
        """The same for someone who waits until it is durable."""
        durable: Future[None] = Future()
        with self._putting:
            self._put(_Waiting(shown, durable), urgent=True)
        return durable

    @property
    def held_up(self) -> bool:
        """Whether lists wait that no job will take, because the connection was lost."""
        return bool(self._lists) and not self._queued

    def resume(self) -> None:
        """Have those written that were held up when the connection was lost; of no effect otherwise."""
        if self.held_up:
            with self._putting:
                with self._lock:
                    held_up = self.held_up
                    self._queued |= held_up
                if held_up:
                    self._try(urgent=True, queued=False)

    def _put(self, waiting: _Waiting, urgent: bool) -> None:
        with self._lock:
            full, queued = len(self._lists) >= MOST, self._queued
            if not full:
                self._lists.append(waiting)
                self._queued = True
        if full:
            self._lose([waiting], StoreError(f"{MOST:,} lists wait to be written"))
        elif urgent or not queued:
            self._try(urgent=urgent, queued=queued)

    def _try(self, *, urgent: bool, queued: bool) -> None:
        try:
            self._submit(urgent)
        except StoreError as error:
            if not queued:  # otherwise the other job takes them
                self._failed(self._take(), error)

    def _submit(self, urgent: bool) -> None:
        taken: list[_Waiting] | None = None

        def job(transaction: Transaction) -> int:
            nonlocal taken
            taken = self._take()
            return transaction.append_all(_missing(taken, transaction))

        def done(future: Future[int]) -> None:
            error = future.exception()
            if error:  # nothing was written, and perhaps the job not even begun
                self._failed(self._take() if taken is None else taken, error)
                return
            self._left([each.shown for each in taken or ()], True)
            refused = StoreError("its id was used before") if future.result() else None
            _tell(taken or (), refused)
            if refused:
                self._lost(future.result())

        self._store.submit(job, urgent=urgent).add_done_callback(done)

    def _failed(self, lists: Sequence[_Waiting], error: BaseException) -> None:
        if isinstance(error, CommitUnknown | ConnectionLost):
            self._hold(lists, unknown=isinstance(error, CommitUnknown))
            _tell(lists, error)
        else:
            self._lose(lists, error)

    def _hold(self, lists: Sequence[_Waiting], *, unknown: bool) -> None:
        """Put lists back, before those that came meanwhile."""
        for each in lists:
            each.again |= unknown
        with self._lock:
            self._lists = [*lists, *self._lists]
        self._held()

    def _lose(self, lists: Sequence[_Waiting], error: BaseException) -> None:
        self._left([each.shown for each in lists], False)
        self._lost(len(lists))
        _tell(lists, error)

    def _take(self) -> list[_Waiting]:
        with self._lock:
            taken, self._lists, self._queued = self._lists, [], False
        return taken


def _missing(lists: Sequence[_Waiting], transaction: Transaction) -> list[Impression]:
    """Those that are not there yet: of a commit that was cut off nobody knows."""
    unsure = [each.shown.query_id for each in lists if each.again]
    if unsure:
        transaction.prefetch(event_ids=(), query_ids=unsure)
    return [each.shown for each in lists if not (each.again and transaction.find_shown(each.shown.query_id))]


def _tell(lists: Sequence[_Waiting], error: BaseException | None) -> None:
    """Tell those who wait how it went, once."""
    for each in lists:
        if each.durable is not None:
            durable, each.durable = each.durable, None
            if not durable.set_running_or_notify_cancel():
                continue  # nobody waits any more; it is written all the same
            if error is None:
                durable.set_result(None)
            else:
                durable.set_exception(error)
