"""HTTP settings: limits and deadlines; what is decided about a ranker is in its own settings."""

from __future__ import annotations

from dataclasses import dataclass

from rankloop.types import SettingError


@dataclass(frozen=True, kw_only=True)
class HttpSettings:
    """Limits and deadlines.

    >>> HttpSettings(deadline=0.02).deadline
    0.02
    """

    deadline: float = 0.1  # seconds for a list; after them the caller's own order is the answer
    patience: float = 10.0  # seconds for everything else; after them the answer is 503
    max_body: int = 8_000_000  # bytes; a larger one is refused with 413
    origins: tuple[str, ...] = ()  # web sites whose scripts may read answers (CORS); none by default
    threads: int = 8  # that rank; as many can be stuck before every list is the caller's own
    waiting: int = 64  # requests that may wait for a thread; one more gets the caller's own order, or 429
    streams: int = 16  # open at once

    def __post_init__(self) -> None:
        """Refuse limits that would refuse everything."""
        for name in ("deadline", "patience"):
            if not 0 < getattr(self, name) <= 3600:
                raise SettingError(f"{name} must be seconds, up to 3600, found {getattr(self, name)!r}")
        for name in ("max_body", "threads", "waiting", "streams"):
            if getattr(self, name) < 1:
                raise SettingError(f"{name} must be at least 1, found {getattr(self, name)!r}")
