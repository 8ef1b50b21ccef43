"""Prometheus metrics: what went over HTTP, and the rankers' own numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache

from prometheus_client import CollectorRegistry, Counter, Histogram, ProcessCollector
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.exposition import generate_latest
from prometheus_client.registry import Collector

from rankloop.service.http.bounded_connections import Connections
from rankloop.service.http.ranker_metrics import ranker_metrics
from rankloop.service.http.vitals import Vitals
from rankloop.service.service_facade import ServiceFacade

SECONDS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 5)


class Metrics:
    """Counters of what went over HTTP, and the rankers' own numbers at the moment they are asked for.

    A counter is called with its labels: `metrics.lists("shop", "explore").inc()`. Finding one takes longer
    than counting, and there are few, so those found once are kept.
    """

    def __init__(self, service: ServiceFacade) -> None:
        self._registry = CollectorRegistry()
        self._service = service
        self._registry.register(Vitals(service))
        ProcessCollector(registry=self._registry)
        self.requests = self._counter("requests", "requests by route and status", "route", "status")
        self.lists = self._counter("lists_shown", "lists", "ranker", "mode")
        self.fallbacks = self._counter(
            "fallbacks",
            "lists in the caller's own order: deadline, busy, store, broken or error",
            "ranker",
            "reason",
        )
        self.recommendations = self._counter(
            "recommendations",
            "recommended lists: to a user, a newcomer, or, if the recommender failed, nobody in particular",
            "ranker",
            "person",
        )
        self.refused = self._counter(
            "refused", "requests refused from their heads alone, by status", "status"
        )
        self.events = self._counter("events", "events by their verdict", "verdict")
        seconds = Histogram(
            "rankloop_request_seconds", "time to answer", ["route"], buckets=SECONDS, registry=self._registry
        )
        self.seconds: Callable[[str], Histogram] = cache(seconds.labels)

    def _counter(self, name: str, meaning: str, *labels: str) -> Callable[..., Counter]:
        return cache(Counter(f"rankloop_{name}", meaning, labels, registry=self._registry).labels)

    def watch(self, connections: Connections) -> None:
        """Count connections, too."""
        self._registry.register(_Sockets(connections))

    def text(self) -> bytes:
        """In Prometheus' text format."""
        return generate_latest(self._registry) + ranker_metrics(self._service)


class _Sockets(Collector):
    """Asks how many connections there are, and why others were closed."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    def collect(self) -> Iterator[Metric]:
        """A gauge and a counter."""
        yield GaugeMetricFamily("rankloop_connections", "open now", value=float(len(self._connections)))
        closed = CounterMetricFamily(
            "rankloop_connections_closed",
            "by us: evicted or full (too many), slow, address (too many of one), head (too long)",
            labels=["reason"],
        )
        for reason, count in sorted(self._connections.closed.items()):
            closed.add_metric([reason], count)
        yield closed

    def describe(self) -> Iterator[Metric]:
        """Nothing is known before it is asked for."""
        return iter(())
