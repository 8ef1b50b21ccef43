"""Vital numbers of the process: jobs that wait, how far learning is behind, the size of the log, memory."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from rankloop.service.service_facade import ServiceFacade
from rankloop.service.store import StoreError


class Vitals(Collector):
    """Asks the service and its store; what cannot be read just now is left out."""

    def __init__(self, service: ServiceFacade) -> None:
        self._service = service

    def collect(self) -> Iterator[Metric]:
        """Gauges, and a counter of errors."""
        service = self._service
        waiting, behind = service.store.count_waiting_jobs(), None
        yield GaugeMetricFamily("rankloop_jobs_waiting", "jobs that wait to be written", value=waiting)
        with contextlib.suppress(StoreError):
            behind = service.behind()
        if behind is not None:
            meaning = "entries of the log that the learning thread has not looked at"
            yield GaugeMetricFamily("rankloop_learner_behind", meaning, value=behind)
        meaning = "seconds since the learning thread last looked at everything"
        yield GaugeMetricFamily("rankloop_learner_age_seconds", meaning, value=service.learner_age)
        meaning = "turns of the learning thread that failed"
        yield CounterMetricFamily("rankloop_learner_errors", meaning, value=service.learner_errors)
        with contextlib.suppress(StoreError):
            meaning = "bytes that the log takes on the disk"
            yield GaugeMetricFamily("rankloop_store_bytes", meaning, value=service.store.measure_size())

    def describe(self) -> Iterator[Metric]:
        """Nothing is known before it is asked for."""
        return iter(())
