"""All that the routes share."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from litestar.di import NamedDependency
from litestar.params import SkipValidation

from rankloop.service.http.keys import Keys
from rankloop.service.http.metrics import Metrics
from rankloop.service.http.pace import Pace
from rankloop.service.http.settings import HttpSettings
from rankloop.service.http.workers import Waiting, Workers
from rankloop.service.service import RankingService
from rankloop.spelling import Catalogue, catalogue


@dataclass(kw_only=True, eq=False)
class Face:
    """A service, who may use it, within which limits, and the threads that do the work.

    Lists, and what admins ask for, have threads of their own, so that none waits for another kind. Events
    wait for the store, which takes no thread.
    """

    service: RankingService
    keys: Keys
    settings: HttpSettings = field(default_factory=HttpSettings)
    known: Catalogue = field(default_factory=catalogue)  # policies that settings may name
    routes: Sequence[Any] = ()  # beside the API: pages
    metrics: Metrics = field(init=False)
    stopping: threading.Event = field(default_factory=threading.Event)  # streams end when it is set
    streams: int = 0  # open now
    pace: Pace = field(default_factory=Pace, init=False)

    def __post_init__(self) -> None:
        """Count, and make room for threads."""
        self.metrics = Metrics(self.service)
        threads, waiting = self.settings.threads, self.settings.waiting
        self.ranking = Workers("rank", threads=threads, waiting=waiting)
        self.recording = Waiting(most=8 * waiting)
        self.noting = Workers("note", threads=1, waiting=waiting)
        self.asking = Workers("ask", threads=threads, waiting=waiting)

    def close(self) -> None:
        """End the streams, and the threads once they have nothing more to do."""
        self.stopping.set()
        for workers in (self.ranking, self.noting, self.asking):
            workers.close()


GivenFace: TypeAlias = NamedDependency[SkipValidation[Face]]  # what a route asks for
