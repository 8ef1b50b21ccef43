"""Prometheus metrics: what went over HTTP, and the rankers' own numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cache

from prometheus_client import CollectorRegistry, Counter, Histogram
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.exposition import generate_latest
from prometheus_client.registry import Collector

from rankloop.explorers.fair import LOOK
from rankloop.service.service import RankingService

SECONDS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 5)
GAUGES = {
    "model": "version of the model in use",
    "position": "last entry of the log that was folded",
    "lists": "lists learned from",
    "open": "lists with clicks whose window has not closed",
    "refused": "lists that could not be learned from",
    "early": "lists closed before their window, because too many were open",
    "unlogged": "lists that could not be written down",
}


class Metrics:
    """Counters of what went over HTTP, and the rankers' own numbers at the moment they are asked for.

    A counter is called with its labels: `metrics.lists("shop", "explore").inc()`. Finding one takes longer
    than counting, and there are few, so those found once are kept.
    """

    def __init__(self, service: RankingService) -> None:
        self._registry = CollectorRegistry()
        self._registry.register(_Rankers(service))
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
        self.events = self._counter("events", "events by what was made of them", "verdict")
        seconds = Histogram(
            "rankloop_request_seconds", "time to answer", ["route"], buckets=SECONDS, registry=self._registry
        )
        self.seconds: Callable[[str], Histogram] = cache(seconds.labels)

    def _counter(self, name: str, meaning: str, *labels: str) -> Callable[..., Counter]:
        return cache(Counter(f"rankloop_{name}", meaning, labels, registry=self._registry).labels)

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
        yield from self._exposure(health.rankers)
        yield from self._trials(health.rankers)

    def _exposure(self, rankers: Iterable[str]) -> Iterator[Metric]:
        """Without the names of groups: there may be any number of them, and they may be people's."""
        off = GaugeMetricFamily(
            "rankloop_ranker_exposure_off",
            "looks by which the account of a group is off, ahead or behind: the most of all groups",
            labels=["ranker"],
        )
        groups = GaugeMetricFamily(
            "rankloop_ranker_exposure_groups", "groups in the account in force", labels=["ranker"]
        )
        for ranker in rankers:
            if account := self._service.account(ranker):
                off.add_metric([ranker], max(map(abs, account.values())) / LOOK)
                groups.add_metric([ranker], len(account))
        yield off
        yield groups

    def _trials(self, rankers: Iterable[str]) -> Iterator[Metric]:
        """Of the trial that runs: the interval by which it is decided, and its sessions by arm."""
        bound = GaugeMetricFamily(
            "rankloop_trial",
            "estimate and bounds of the trial that runs",
            labels=["ranker", "trial", "bound"],
        )
        sessions = GaugeMetricFamily(
            "rankloop_trial_sessions", "sessions that count", labels=["ranker", "trial", "arm"]
        )
        for ranker in rankers:
            report = self._service.recent_trial(ranker)
            if report is None:
                continue
            number, found = str(report.trial), report.outcomes[0]
            for arm, count in report.sessions.items():
                sessions.add_metric([ranker, number, arm], count)
            if found.estimate is not None:
                for name in ("estimate", "lower", "upper"):
                    bound.add_metric([ranker, number, name], getattr(found, name))
        yield bound
        yield sessions

    def describe(self) -> Iterator[Metric]:
        """Nothing is known before it is asked for."""
        return iter(())
