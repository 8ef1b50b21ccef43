"""Rounds of the learner: which of the rankers, that may be thousands, are looked after now."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Set
from concurrent.futures import Future
from contextlib import suppress

from rankloop.service.core.lists.ranked_lists import RankedLists
from rankloop.service.core.ranker import Ranker
from rankloop.service.store import Store, StoreError
from rankloop.service.store.sql.bucket_sums import SMALL

BEYOND = 2**62  # every entry of a log
EVERY = 1.0  # seconds between two jobs that sum
SELDOM = 16  # rounds after which every ranker is asked whether it has something to do


class LearningRounds:
    """Looks after the rankers with new entries, and after those that have something to do all the same.

    As a rule only those are asked that had something to do the last time. `rankers` are those there are, with
    those of the names it is given; `holding`, whose lists wait, because the store is away.
    """

    def __init__(
        self,
        store: Store,
        rankers: Callable[[Collection[str]], Mapping[str, Ranker]],
        holding: Set[RankedLists],
    ) -> None:
        self._store, self._rankers, self._holding = store, rankers, holding
        self._restless: set[str] = set()  # those that had something to do when they were last looked after
        self._rounds = 0
        self._upkeep = LogUpkeep(store)
        self._seen, _ = store.list_changed_rankers(
            after=BEYOND
        )  # the entry up to which every ranker was looked after

    def behind(self) -> int:
        """How many entries the log has that were not looked at."""
        return max(self._store.list_changed_rankers(after=BEYOND)[0] - self._seen, 0)

    def go(self, patience: float) -> list[Exception]:
        """Let time pass for all rankers; what went wrong."""
        try:
            head, changed = self._store.list_changed_rankers(after=self._seen)
        except StoreError:  # each of them finds out, and says so
            head, changed = self._seen, set(self._rankers(()))
        troubles = []
        for found in self._asked(changed, everyone=not patience or self._rounds % SELDOM == 0):
            try:
                found.tick(patience)
            except Exception as error:  # one that is in trouble must not keep the others waiting
                troubles.append(error)
            (self._restless.add if found.restless else self._restless.discard)(found.name)
        self._seen, self._rounds = head, self._rounds + 1
        self._upkeep.keep_up(head)
        return troubles

    def _asked(self, changed: Collection[str], *, everyone: bool) -> list[Ranker]:
        """The rankers that have something to do, as far as they are asked."""
        rankers = self._rankers(changed)
        holding = {each.name for each in tuple(self._holding)}
        asked = rankers if everyone else sorted({*changed, *self._restless, *holding})
        found = ((name, rankers.get(name)) for name in asked)
        return [each for name, each in found if each and (name in changed or each.restless)]


class LogUpkeep:
    """Upkeep of a log: the sums of what was written, and a dictionary for its payloads now and then.

    Without them the log is the same, but slower and larger. So an error is no trouble: it is tried again.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._job: Future[bool] | None = None
        self._summed, self._asked_at = -1, float("-inf")  # the bucket up to which it was asked for; when

    def keep_up(self, head: int) -> None:
        """Improve the compression if that is due; have the buckets before the log's last entry summed.

        The sums are asked for once a second at most, and not waited for.
        """
        if self._job is not None and self._job.done():
            if self._job.exception() is not None or self._job.result():  # more are left
                self._summed = -1
            self._job = None
        with suppress(StoreError):
            self._store.improve_compression()
        now = time.monotonic()
        if self._job is None and head >> SMALL > self._summed and now - self._asked_at >= EVERY:
            self._summed, self._asked_at = head >> SMALL, now
            with suppress(StoreError):
                self._job = self._store.submit(lambda transaction: transaction.sum_buckets(), urgent=False)
