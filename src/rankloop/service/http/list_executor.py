"""Rank executor: runs a request on the event loop or in a worker thread, and answers within the deadline.

NumPy lets go of the GIL at every step, so a thread that ranks and the one that reads the next request take
turns at it, dozens of times for each list: that costs as much as the list. But only a thread can be left
behind when the deadline comes. So a list is made on the event loop if it cannot get stuck: the policy is one
of rankloop's own, which compute and wait for nothing; nothing has to be written first; and lists of that
size took little time so far. Everything else gets a thread.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable
from functools import partial
from typing import TypeAlias

from rankloop.errors import RequestError
from rankloop.policies import Policy
from rankloop.service.core.lists.list_job import describe_failure
from rankloop.service.core.lists.make_list import MadeList
from rankloop.service.core.lists.rank_request import RankRequest
from rankloop.service.core.lists.rank_response import Provenance
from rankloop.service.core.view import View
from rankloop.service.http.publisher import Publisher
from rankloop.service.http.service_metrics import Metrics
from rankloop.service.http.worker_pool import Busy, WorkerPool
from rankloop.service.service_facade import ServiceFacade

QUICK = 0.005  # seconds
PATIENCE = 1.25  # how much slower one list can make a kind: eight in a row make 1 ms 6 ms
MOST = 10_000  # kinds of lists remembered
Kind: TypeAlias = tuple[str, int, int, int, int]  # ranker, settings, trial, candidates, features


class RankExecutor:
    """Answers requests in time: with the service's list, or in the caller's own order.

    It remembers how long lists of each kind took.
    """

    def __init__(
        self,
        service: ServiceFacade,
        metrics: Metrics,
        workers: WorkerPool,
        publisher: Publisher,
        *,
        deadline: float,
    ) -> None:
        self._service, self._metrics, self._publisher = service, metrics, publisher
        self._workers, self._deadline = workers, deadline
        self._seconds: dict[Kind, float] = {}
        self.turn = asyncio.Lock()  # for what takes a while on the event loop: between two, others are heard

    async def run(
        self,
        request: RankRequest,
        *,
        seconds: float | None = None,
        took: Callable[[float], object] = lambda _: None,
    ) -> bytes:
        """The body of the response, as it is logged, within so many seconds, or the deadline.

        Only the list that is given back is written down: one that comes too late is dropped. `took` is told
        the processor time of a list.
        """
        draft = await self._in_time(request, self._deadline if seconds is None else seconds, took)
        return await self._shown(draft, urgent=request.query_id is not None)

    async def own_order(self, request: RankRequest) -> bytes:
        """The body of a response in the caller's own order, because there is no time for another."""
        reason = reason_of(Busy(), self._deadline)
        return await self._shown(self._service.fall_back(request, reason, fresh=self._service.ids()))

    async def _shown(self, made: MadeList, *, urgent: bool = False) -> bytes:
        draft = await self._publisher.publish(made, urgent=urgent)
        count(self._metrics, draft.response.provenance)
        return draft.body

    async def _in_time(
        self, request: RankRequest, seconds: float, took: Callable[[float], object]
    ) -> MadeList:
        view = self._service.ranker(request.ranker).view
        fresh = self._service.ids()  # a fallback keeps it: by it a list is in its arm of a trial
        try:
            kind = _kind(request, view)
            job = partial(self._timed, kind, request, fresh, took)
            if self._seconds.get(kind, QUICK) < QUICK and _computes_only(request, view):
                async with self.turn:
                    return job()
            return await self._workers.run(job, seconds=seconds)
        except RequestError:
            raise
        except Exception as error:  # whatever it is, the caller gets a list
            return self._service.fall_back(request, reason_of(error, self._deadline), fresh=fresh)

    def _timed(
        self, kind: Kind, request: RankRequest, fresh: str, told: Callable[[float], object]
    ) -> MadeList:
        began, used = time.perf_counter(), time.thread_time()
        draft = self._service.prepare(request, fresh=fresh)
        told(time.thread_time() - used)
        if len(self._seconds) >= MOST:
            self._seconds.clear()
        took, before = time.perf_counter() - began, self._seconds.get(kind, math.inf)
        self._seconds[kind] = min(took, PATIENCE * before)  # a list that was held up once says little
        return draft


def _kind(request: RankRequest, view: View) -> Kind:
    """Lists that cost about the same: sizes up to the next power of two."""
    configuration, n = view.configuration, len(request.candidates.object_ids)
    trial = view.trial.number if view.trial else 0  # arm B may be slow
    return (
        request.ranker,
        configuration.settings_version,
        trial,
        n.bit_length(),
        len(configuration.schema.columns).bit_length(),
    )


def _computes_only(request: RankRequest, view: View) -> bool:
    """Whether nothing has to be waited for.

    That is: policies of ours, no id that has to be looked up, and no feature to be written down first.
    """
    known, ours = view.configuration.schema.columns.__contains__, all(map(is_ours, view.policies))
    return ours and request.query_id is None and all(map(known, request.candidates.names))


def is_ours(policy: Policy) -> bool:
    """Whether a policy is one of ours: nobody knows what another does.

    >>> from rankloop.policies import PairRank
    >>> is_ours(PairRank())
    True
    """
    return type(policy).__module__.startswith("rankloop.policies.")


def count(metrics: Metrics, provenance: Provenance) -> None:
    """Count a list that was shown, and whether it is a fallback."""
    metrics.lists(provenance.ranker, provenance.mode).inc()
    if provenance.fallback:
        metrics.fallbacks(provenance.ranker, kind_of(provenance.fallback)).inc()


def reason_of(error: Exception, deadline: float) -> str:
    """Why a list could not be made, in words that say nothing about a user.

    >>> reason_of(TimeoutError(), 0.1), reason_of(ValueError("Anna"), 0.1)
    ('deadline: no list within 100 ms', 'ValueError: the list could not be made')
    """
    if isinstance(error, TimeoutError):
        return f"deadline: no list within {deadline * 1000:g} ms"
    if isinstance(error, Busy):
        return "busy: too many lists at once"
    return describe_failure(error)


def kind_of(reason: str) -> str:
    """The first word of a reason, of those we know: a label must not take any value.

    >>> kind_of("deadline: no list within 100 ms"), kind_of("ValueError: no")
    ('deadline', 'error')
    """
    word = reason.partition(":")[0]
    return word if word in ("deadline", "busy", "store", "broken") else "error"
