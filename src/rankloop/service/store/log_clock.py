"""Log time: monotone whatever the clock does, and never stopped for long by a clock that went wrong.

The log's time is the clock's, as a rule. If the clock is behind the log (it was ahead, entries were written,
and it was set back), the log's time goes on at half the clock's speed until the clock has caught up: a lag of
`J` seconds is made up for within `2 J` seconds. The line it follows meanwhile,

    line(now) = anchor.at + (now - anchor.clock) / 2,

starts at a pair (log time, clock reading) that is kept in the store, so that all processes and restarts
agree on it; there is none while the clock is right.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

GRACE = 1.0  # seconds; readings of several threads reach the log out of order, which is no clock gone wrong


@dataclass(frozen=True, slots=True)
class Anchor:
    """Where the log's time stood at a reading of a clock that was behind it."""

    at: float
    clock: float

    def line(self, now: float) -> float:
        """The log's time for a later reading of that clock."""
        return self.at + (now - self.clock) / 2


@dataclass(frozen=True, slots=True)
class Head:
    """End of the log: number and time of the last entry, and the anchor, if the clock is behind.

    >>> head = Head(at=1000.0).observe(400.0)  # the clock was ten minutes ahead and was set right
    >>> head.time(400.0), head.time(500.0), head.lag(500.0)
    (1000.0, 1050.0, 550.0)
    >>> head.time(1600.0), head.time(1700.0), head.lag(1700.0)
    (1600.0, 1700.0, 0.0)
    """

    seq: int = 0
    at: float = float("-inf")
    anchor: Anchor | None = None

    def time(self, now: float) -> float:
        """The log's time for a reading of the clock: never before the last entry, never before the clock."""
        if self.anchor is None:
            return max(now, self.at)
        return max(now, self.at, self.anchor.line(now))

    def lag(self, now: float) -> float:
        """How many seconds the clock is behind the log; 0 as a rule."""
        return self.time(now) - now

    def observe(self, now: float) -> Head:
        """The same end of the log, with the anchor that a reading of the clock calls for.

        A clock that is right, or right again, needs none. One that is behind by more than `GRACE` needs one;
        and a new one if it went back once more, so far that the line would only later reach the last entry.
        """
        if now >= self.at and (self.anchor is None or now >= self.anchor.line(now)):
            return self if self.anchor is None else replace(self, anchor=None)
        if self.anchor is None:
            return self if self.at - now <= GRACE else replace(self, anchor=Anchor(self.at, now))
        if self.at - self.anchor.line(now) <= GRACE / 2:
            return self
        return replace(self, anchor=Anchor(self.at, now))

    def after(self, seq: int, at: float) -> Head:
        """The end of the log after one more entry."""
        return replace(self, seq=seq, at=at)
