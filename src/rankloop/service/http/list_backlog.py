"""Backlog of requests to rank: which get a list, which their own order, and which are sent away at once.

What is ahead of a request is known in seconds: the sum of what each one that was let in is expected to take,
from its size and from what others took. A part of the deadline is for lists. When as much is ahead, only
object ids are read, and the caller's own order is the answer, which costs a tenth; another part is for those.
When that is full, too, the answer is 503, before the body is read. So the backlog is never longer than a
deadline, and gone with the load; and however large that is, lists are made as fast as they can be.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from rankloop.service.http.worker_pool import Refused

LISTS, OWN = 0.2, 0.1  # of a deadline: what may be let in of lists, and of answers in one's own order
LEAST = 0.0003  # seconds that any request takes
UNKNOWN = 50_000  # bytes, of a body that does not say
PACE, OWN_SHARE = 1e-8, 0.15  # seconds per byte before anything is known; of it, for one's own order
MEMORY = 0.1  # weight of the newest


class Ticket:
    """A request that was let in: when it came, and whether there is time for a list."""

    def __init__(self, backlog: Backlog, size: int, arrived: float) -> None:
        self._backlog, self.size, self.arrived = backlog, size, arrived
        self.expected = min(backlog.expected(size), LISTS * backlog.deadline)  # one alone is always tried
        self.own = backlog.lists + self.expected > LISTS * backlog.deadline

    def due(self, complete: float) -> float:
        """When the answer must be there; whoever sends slowly still has half of the time for it."""
        deadline = self._backlog.deadline
        return max(self.arrived + deadline, complete + deadline / 2)

    def late(self, due: float, now: float) -> bool:
        """Whether only the caller's own order can still be there in time."""
        return self.own or now + self.expected > due


class Backlog:
    """What is ahead of a request, in seconds.

    >>> backlog = Backlog(0.1)
    >>> with backlog.admit(2_000_000, 0.0) as first, backlog.admit(2_000_000, 0.0) as second:
    ...     print(first.own, second.own)
    False True
    >>> backlog.lists, backlog.own
    (0.0, 0.0)
    """

    def __init__(self, deadline: float) -> None:
        self.deadline = deadline
        self.lists = self.own = 0.0  # seconds of work that was let in and is not done
        self._seconds: dict[int, float] = {}  # of processor time, by size to the next power of two
        self._slow = 1.0  # seconds that pass for a second of processor time

    def expected(self, size: int) -> float:
        """Seconds that a list will take."""
        known = self._seconds.get(size.bit_length(), size * PACE)
        return max(max(self._slow, 1.0) * known, LEAST)

    @contextmanager
    def admit(self, size: int | None, arrived: float) -> Iterator[Ticket]:
        """Let a request in, or refuse it."""
        ticket = Ticket(self, UNKNOWN if size is None else size, arrived)
        if not ticket.own:
            self.lists += ticket.expected
            try:
                yield ticket
            finally:
                self.lists = _without(self.lists, ticket.expected)
            return
        mine = OWN_SHARE * ticket.expected
        if self.own + mine > OWN * self.deadline:
            raise Refused(503, "too many lists at once: show your own order, and ask again later", 1.0)
        self.own += mine
        try:
            yield ticket
        finally:
            self.own = _without(self.own, mine)

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Time of reading a body tells how much of the processor we get: it waits for nothing else."""
        wall, used = time.perf_counter(), time.thread_time()
        yield
        used = time.thread_time() - used
        if used > 1e-4:
            self._slow += MEMORY * ((time.perf_counter() - wall) / used - self._slow)

    def took(self, size: int, processor: float) -> None:
        """Learn from a list that was made how much one of this size takes."""
        kind = size.bit_length()
        before = self._seconds.get(kind, processor)
        self._seconds[kind] = before + MEMORY * (processor - before)


def _without(total: float, part: float) -> float:
    return total - part if total - part > 1e-9 else 0.0  # nothing is left of rounding
