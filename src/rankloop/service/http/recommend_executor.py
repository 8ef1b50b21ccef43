"""Recommendation executor: runs a request in a worker thread, and answers within the deadline."""

from __future__ import annotations

from functools import partial

import msgspec

from rankloop.errors import RequestError
from rankloop.service.extensions.recommend.recommend_request import RecommendRequest
from rankloop.service.extensions.recommend.recommend_response import RecommendationDraft
from rankloop.service.http.list_executor import count, reason_of
from rankloop.service.http.publisher import Publisher
from rankloop.service.http.service_metrics import Metrics
from rankloop.service.http.worker_pool import WorkerPool
from rankloop.service.service_facade import ServiceFacade


class RecommendExecutor:
    """Answers requests in time: with what the recommender chose, or with the most popular items.

    It shares the threads of the lists. Scores, a list and its reasons are one job: what comes too late is
    dropped as a whole.
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

    async def run(self, request: RecommendRequest) -> bytes:
        """The body of the response."""
        made = await self._in_time(request)
        response = made.shown(await self._publisher.publish(made.draft, urgent=request.query_id is not None))
        count(self._metrics, response.provenance)
        person = response.recommender.person if response.recommender else "nobody"
        self._metrics.recommendations(request.ranker, person).inc()
        return msgspec.json.encode(response)

    async def _in_time(self, request: RecommendRequest) -> RecommendationDraft:
        fresh = self._service.ids()  # a fallback keeps it: by it a list is in its arm of a trial
        job = partial(self._service.prepare_recommendation, request, fresh=fresh)
        try:
            return await self._workers.run(job, seconds=self._deadline)
        except RequestError:
            raise
        except Exception as error:  # whatever it is, the caller gets a list
            reason = reason_of(error, self._deadline)
            return self._service.fall_back_recommendation(request, reason, fresh=fresh)
