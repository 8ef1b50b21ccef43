"""Browser sessions: the admin key is shown once, then a cookie stands for it."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

COOKIE = "rankloop_session"
LASTS = 12 * 3600.0  # seconds
MOST = 100  # at once; the oldest ends when another begins


@dataclass(frozen=True, slots=True)
class Session:
    """Someone who has shown the admin key. `token` is in every form, so that no other site can send one."""

    ends: float
    key: str = "admin"  # the name of the key that was shown
    sha256: str = field(default="", repr=False)  # and its hash: a name may get other bits
    token: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)

    def sent(self, token: object) -> bool:
        """Whether a form is one of ours."""
        return isinstance(token, str) and hmac.compare_digest(token.encode(), self.token.encode())


class Sessions:
    """The sessions of one process, by the hash of their cookie; a restart ends them.

    >>> sessions = Sessions()
    >>> cookie = sessions.begin()
    >>> sessions.find(cookie) is None, sessions.find("guess") is None
    (False, True)
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._known: dict[bytes, Session] = {}
        self._lock = threading.Lock()

    def begin(self, key: str = "admin", sha256: str = "") -> str:
        """A new session of whoever showed this key; what its cookie says."""
        cookie = secrets.token_urlsafe(32)
        with self._lock:
            now = self._clock()
            living = {name: each for name, each in self._known.items() if each.ends > now}
            begun = Session(now + LASTS, key, sha256)
            self._known = dict([*living.items()][-MOST + 1 :]) | {_hash(cookie): begun}
        return cookie

    def find(self, cookie: str | None) -> Session | None:
        """The session that a cookie stands for."""
        found = self._known.get(_hash(cookie)) if cookie else None
        return found if found and found.ends > self._clock() else None

    def end(self, cookie: str | None) -> None:
        """Sign out."""
        with self._lock:
            self._known.pop(_hash(cookie or ""), None)


def _hash(cookie: str) -> bytes:
    return hashlib.sha256(cookie.encode("utf-8", "surrogatepass")).digest()
