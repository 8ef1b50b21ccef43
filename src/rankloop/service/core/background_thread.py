"""Learning thread: woken by events, and by the clock."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

from rankloop.service.operator_log import warn_operator

LOGGER = logging.getLogger("rankloop.service")
EVERY = 0.5  # seconds, if nothing happens


class LearningThread:
    """Calls `learn` whenever it is woken, and now and then.

    An error is kept to be looked at and does not end the thread: the model stays as it was, and lists go on.
    """

    def __init__(self, learn: Callable[[], None], *, every: float = EVERY, name: str = "learner") -> None:
        self.error, self.errors = "", 0  # the last one, unless it has recovered; how many there were
        self.looked_at = time.monotonic()  # when it last got through
        self._learn, self._every = learn, every
        self._woken, self._stopped = threading.Event(), False
        self._thread = threading.Thread(target=self._work, name=name, daemon=True)
        self._thread.start()

    def wake(self) -> None:
        """There is something to learn."""
        self._woken.set()

    def stop(self) -> None:
        """Finish what is being learned, then end."""
        self._stopped = True
        self._woken.set()
        self._thread.join()

    def _work(self) -> None:
        while not self._stopped:
            self._woken.wait(self._every)
            self._woken.clear()
            try:
                self._learn()
                self.error, self.looked_at = "", time.monotonic()
            except Exception as error:  # whatever it is, ranking goes on
                self._failed(error)

    def _failed(self, error: Exception) -> None:
        found, self.errors = f"{type(error).__name__}: {error}", self.errors + 1
        if found != self.error:
            warn_operator(
                LOGGER,
                "learning failed, and is tried again",
                where="the learning thread",
                why=error,
                do="see what /v1/doctor says; lists and events go on",
            )
        self.error = found
