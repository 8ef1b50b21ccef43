"""HTTP settings: limits and deadlines; what is decided about a ranker is in its own settings."""

from __future__ import annotations

from dataclasses import dataclass

from rankloop.errors import SettingError

AT_LEAST_ONE = ("max_head", "max_connections", "address_connections", "page_body", "buffered")


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
    drain: float = 0.0  # seconds between SIGTERM and the end in which it still answers, and is not ready
    durable_lists: bool = False  # a list is answered when it is durable, or says that it is not
    max_head: int = 32_768  # bytes of a request's first line and headers
    head_seconds: float = 10.0  # in which they must be there
    body_seconds: float = 30.0  # in which a body must be there, and an answer must be taken
    max_connections: int = 1000  # at once; half of them without a key
    address_connections: int = 100  # of one address
    page_body: int = 65_536  # bytes that whoever has the page key may send at once, as a beacon may
    buffered: int = 256_000_000  # bytes of bodies in memory at once; one more gets 503
    address_rate: float = 50.0  # events per second from one address with the page key; ten times that at once
    request_rate: float = 100.0  # requests per second from one address with the page key or none; the same
    page_rate: float = 1000.0  # events per second with one page key, from all addresses; the same
    key_rate: float = 0.0  # events per second with one other key; 0: no limit
    proxies: tuple[str, ...] = ()  # whose word on the client's address is taken; none by default

    def __post_init__(self) -> None:
        """Refuse limits that would refuse everything."""
        for name in ("deadline", "patience", "head_seconds", "body_seconds"):
            if not 0 < getattr(self, name) <= 3600:
                raise SettingError(f"{name} must be seconds, up to 3600, found {getattr(self, name)!r}")
        if not 0 <= self.drain <= 3600:
            raise SettingError(f"drain must be seconds, up to 3600, found {self.drain!r}")
        for name in ("address_rate", "request_rate", "page_rate", "key_rate"):
            if not 0 <= getattr(self, name) <= 1e9:
                raise SettingError(f"{name} must be 0 (no limit) or more, found {getattr(self, name)!r}")
        for name in ("max_body", "threads", "waiting", *AT_LEAST_ONE):
            if getattr(self, name) < 1:
                raise SettingError(f"{name} must be at least 1, found {getattr(self, name)!r}")
