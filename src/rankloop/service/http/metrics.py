"""Numbers for Prometheus."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache

from prometheus_client import CollectorRegistry, Counter, Histogram
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.exposition import generate_latest
from prometheus_client.registry import Collector

from rankloop.service.service import RankingService

SECONDS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 5)
GAUGES = {
    "model": "version of the model in use",
    "position": "last entry of the log that was folded",
    "lists": "lists learned from",
    "open": "lists with clicks whose window has not closed",
    "refused": "lists that could not be learned from",
    "unlogged": "lists that could not be written down",
}


class Metrics:
    """Counters of what went over HTTP, and the rankers' own numbers at the moment they are asked for."""

    def __init__(self, service: RankingService) -> None:
        self._registry = CollectorRegistry()
        self.requests = Counter(
            "rankloop_requests", "requests by route and status", ["route", "status"], registry=self._registry
        )
        self.seconds = Histogram(
            "rankloop_request_seconds", "time to answer", ["route"], buckets=SECONDS, registry=self._registry
        )
        self.lists = Counter("rankloop_lists_shown", "lists", ["ranker", "mode"], registry=self._registry)
        self.fallbacks = Counter(
            "rankloop_fallbacks",
            "lists in the caller's own order: deadline, busy, store or error",
            ["ranker", "reason"],
            registry=self._registry,
        )
        self.unlogged = Counter(
            "rankloop_fallbacks_unlogged", "fallbacks that could not be written down", registry=self._registry
        )
        self.events = Counter(
            "rankloop_events", "events by what was made of them", ["verdict"], registry=self._registry
        )
        # finding a counter by its labels takes longer than counting, and there are few
        self._count: Callable[..., Counter] = cache(self.requests.labels)
        self._time: Callable[..., Histogram] = cache(self.seconds.labels)
        self._list: Callable[..., Counter] = cache(self.lists.labels)
        self._registry.register(_Rankers(service))

    def answered(self, route: str, status: int, seconds: float) -> None:
        """Count an answer."""
        self._count(route, str(status)).inc()
        self._time(route).observe(seconds)

    def shown(self, ranker: str, mode: str) -> None:
        """Count a list."""
        self._list(ranker, mode).inc()

    def text(self) -> bytes:
        """In Prometheus' text format."""
        return generate_latest(self._registry)


class _Rankers(Collector):
    """Asks the service how its rankers are."""

    def __init__(self, service: RankingService) -> None:
        self._service = service

    def collect(self) -> Iterator[Metric]:
        """A gauge for each number of each ranker."""
        health = self._service.health()
        yield GaugeMetricFamily("rankloop_healthy", "1 if nothing is in trouble", value=float(health.ok))
        for name, meaning in GAUGES.items():
            gauge = GaugeMetricFamily(f"rankloop_ranker_{name}", meaning, labels=["ranker"])
            for ranker, state in health.rankers.items():
                gauge.add_metric([ranker], float(getattr(state, name)))
            yield gauge
        modes = GaugeMetricFamily(
            "rankloop_ranker_mode", "1 for the mode in force", labels=["ranker", "mode"]
        )
        for ranker, state in health.rankers.items():
            modes.add_metric([ranker, state.mode], 1.0)
        yield modes

    def describe(self) -> Iterator[Metric]:
        """Nothing is known before it is asked for."""
        return iter(())
