"""Replica: a process among others on one database: who learns, what is new, and what time it is.

All of it goes over one connection: advisory locks, one for each ranker, which the server gives to another
process when the connection ends; notifications of what was written; and the server's clock, so that the log
has one clock, whatever those of the machines say.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

import psycopg

from rankloop.service.store.postgres.postgres_connections import (
    Connection,
    connect,
    guard,
    learner_lock,
    listen,
    sentence,
)
from rankloop.service.store.store import StoreError

LOGGER = logging.getLogger("rankloop.store")
EVERY = 1.0  # seconds between two looks at locks and clock
GATHER = 0.05  # seconds in which notifications are taken for one
TRUST = 5.0  # seconds after the last look for which a lock is taken to be held
FIRST, MOST = 0.1, 2.0  # seconds between two tries to connect; twice as many after each
ROUND_TRIP = 0.5  # seconds; a reading of the clock that took longer is passed over


class Replica:
    """A replica's part in the election, its ear, and its clock.

    A thread looks after the connection, and makes a new one when it is lost: meanwhile this process leads
    nothing, hears nothing, and its clock goes on. `close` lets others lead.
    """

    shared = True

    def __init__(self, url: str) -> None:
        self._url = url
        self._wanted: frozenset[str] = frozenset()
        self._held: frozenset[str] = frozenset()
        self._looked = float("-inf")  # by the clock that never jumps
        self._offset: float | None = None
        self._tell: Callable[[], object] = lambda: None
        self._stopped = threading.Event()
        self._connection = self._open()  # an address that is wrong is an error now
        self._look()
        self._thread = threading.Thread(target=self._work, name="replica", daemon=True)
        self._thread.start()

    def leads(self, ranker: str) -> bool:
        """Whether this process is its learner; the first question makes it a candidate."""
        if ranker not in self._wanted:
            self._wanted |= {ranker}
        return ranker in self._held and time.monotonic() - self._looked < TRUST

    def now(self) -> float:
        """The database's clock, read without asking: a clock that never jumps, and what it differs by."""
        return time.monotonic() + (self._offset or 0.0)

    def listen(self, tell: Callable[[], object]) -> None:
        """Have something called whenever another process, or this one, has written."""
        self._tell = tell

    def close(self) -> None:
        """Let others lead."""
        self._stopped.set()
        self._thread.join(2 * EVERY)
        self._connection.close()

    def _work(self) -> None:
        pause = FIRST
        while not self._stopped.is_set():
            try:
                if self._connection.closed:
                    self._connection = self._open()
                    self._tell()
                self._look()
                pause = FIRST
                self._hear()
            except (psycopg.Error, StoreError) as error:
                if self._held or pause == FIRST:
                    LOGGER.warning("the database is away, and this replica leads nothing: %s", _plain(error))
                self._held = frozenset()
                self._connection.close()
                self._stopped.wait(pause)
                pause = min(2 * pause, MOST)

    def _open(self) -> Connection:
        connection = connect(self._url)
        guard(connection)
        listen(connection)
        self._held = frozenset()
        return connection

    def _look(self) -> None:
        """Read the clock, which says that the server is there, and take the locks that are free."""
        began = time.monotonic()
        ((now,),) = self._connection.execute("SELECT extract(epoch FROM clock_timestamp())::double precision")
        ended = time.monotonic()
        if self._offset is None or ended - began < ROUND_TRIP:
            self._offset = now - (began + ended) / 2
        self._looked = ended
        free = {name for name in self._wanted - self._held if learner_lock(self._connection, name)}
        self._held |= free

    def _hear(self) -> None:
        """Wait for a notification, not too long, and pass it on together with those that follow at once."""
        for _ in self._connection.notifies(timeout=EVERY, stop_after=1):
            self._tell()
            self._stopped.wait(GATHER)


def _plain(error: Exception) -> str:
    return sentence(error) if isinstance(error, psycopg.Error) else str(error)
