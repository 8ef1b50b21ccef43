"""Learning thread: woken by events, and by the clock."""

from __future__ import annotations

import threading
from collections.abc import Callable

EVERY = 0.5  # seconds, if nothing happens


class LearningThread:
    """Calls `learn` whenever it is woken, and now and then.

    An error is kept to be looked at and does not end the thread: the model stays as it was, and lists go on.
    """

    def __init__(self, learn: Callable[[], None], *, every: float = EVERY) -> None:
        self.error = ""
        self._learn, self._every = learn, every
        self._woken, self._stopped = threading.Event(), False
        self._thread = threading.Thread(target=self._work, name="learner", daemon=True)
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
                self.error = ""
            except Exception as error:  # whatever it is, ranking goes on
                self.error = f"{type(error).__name__}: {error}"
