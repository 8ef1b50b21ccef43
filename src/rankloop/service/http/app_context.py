"""Application context: the service, its keys and limits, and the worker threads that all routes share."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias, TypeVar

from litestar.di import NamedDependency
from litestar.params import SkipValidation

from rankloop.service.events.event_sources import SourceHash
from rankloop.service.http.bearer_keys import Keys
from rankloop.service.http.bounded_connections import Connections
from rankloop.service.http.http_settings import HttpSettings
from rankloop.service.http.list_backlog import Backlog
from rankloop.service.http.list_executor import RankExecutor
from rankloop.service.http.publisher import Publisher
from rankloop.service.http.rate_limits import Limits
from rankloop.service.http.recent_value import RecentHealth
from rankloop.service.http.recommend_executor import RecommendExecutor
from rankloop.service.http.service_metrics import Metrics
from rankloop.service.http.worker_pool import FutureWaiter, WorkerPool
from rankloop.service.random_ids import random_id
from rankloop.service.service_facade import ServiceFacade

T = TypeVar("T")


@dataclass(kw_only=True, eq=False)
class AppContext:
    """A service, who may use it, within which limits, and the threads that do the work.

    Lists, and what admins ask for, have threads of their own, so that none waits for another kind. Events
    wait for the store, which takes no thread.
    """

    service: ServiceFacade
    keys: Keys = field(default_factory=lambda: Keys({}))  # beside those in the store
    settings: HttpSettings = field(default_factory=HttpSettings)
    routes: Sequence[Any] = ()  # beside the API: pages
    request_ids: Callable[[], str] = random_id  # for the access log
    sources: SourceHash = field(default_factory=SourceHash)  # of events
    metrics: Metrics = field(init=False)
    stopping: threading.Event = field(default_factory=threading.Event)  # set when it ends
    draining: threading.Event = field(default_factory=threading.Event)  # it will end soon

    def __post_init__(self) -> None:
        """Count, and make room for threads."""
        self.service.keys.give(self.keys.hashes)
        self.metrics = Metrics(self.service)
        self.health = RecentHealth(self.service.health)
        self.backlog = Backlog(self.settings.deadline)
        self.limits = Limits(self.settings)
        self.connections = Connections(self.settings, self.limits.requests.empty)
        self.metrics.watch(self.connections)
        threads, waiting = self.settings.threads, self.settings.waiting
        self.rank_workers = WorkerPool("rank", threads=threads, waiting=waiting)
        limits = self.settings
        publisher = Publisher(self.service, durable=limits.durable_lists, deadline=limits.deadline)
        executes = self.service, self.metrics, self.rank_workers, publisher
        self.rank_executor = RankExecutor(*executes, deadline=limits.deadline)
        self.recommend_executor = RecommendExecutor(*executes, deadline=limits.deadline)
        self.event_waiter = FutureWaiter(most=8 * waiting)
        self.admin_workers = WorkerPool("admin", threads=threads, waiting=waiting)

    async def ask(self, job: Callable[[], T]) -> T:
        """Have something done by the threads that work for admins."""
        return await self.admin_workers.run(job, seconds=self.settings.patience)

    def close(self) -> None:
        """End the threads once they have nothing more to do."""
        self.stopping.set()
        for workers in (self.rank_workers, self.admin_workers):
            workers.close()


InjectedContext: TypeAlias = NamedDependency[SkipValidation[AppContext]]  # what a route asks for
