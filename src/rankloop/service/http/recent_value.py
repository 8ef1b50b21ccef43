"""Recent health: looked at anew only so often that it takes a twentieth of a core, whoever asks for it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from rankloop.service.reports.health import Health

SHARE = 0.05  # of a core
LITTLE = 0.001  # seconds: what takes no longer is always looked at anew


class RecentHealth:
    """Everybody may ask how a service is, without a key, and a look at thousands of rankers takes a while.

    >>> looks = iter([Health({}), Health({}, error="no disk")]).__next__
    >>> used, now = iter([0.0, 0.01, 0.5, 0.5]).__next__, iter([0.0, 0.1, 0.3]).__next__
    >>> health = RecentHealth(looks, used=used, now=now)  # a look took 10 ms: it is good for 200
    >>> [health.look().ok for _ in range(3)]
    [True, True, False]
    """

    def __init__(
        self,
        look: Callable[[], Health],
        *,
        used: Callable[[], float] = time.thread_time,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._look, self._used, self._now = look, used, now
        self._found: Health | None = None
        self._until = 0.0
        self._looking = threading.Lock()

    def look(self) -> Health:
        """How the service is, or was a moment ago; those who ask while somebody looks wait for that."""
        with self._looking:
            now = self._now()
            if self._found is None or now >= self._until:
                began = self._used()
                self._found = self._look()
                took = self._used() - began
                self._until = now + (took / SHARE if took > LITTLE else 0.0)
            return self._found
