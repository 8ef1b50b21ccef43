"""Key management: keys are created, revoked and rotated by decisions in the log, without a restart."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Mapping
from typing import TypeAlias, TypeVar

from rankloop.errors import RequestError, suggest_name
from rankloop.service.core.decision_kind import sign_decision
from rankloop.service.operations.api_keys import (
    KEY,
    NAME,
    SCOPES,
    ApiKey,
    KeyRing,
    Scope,
    covers,
    fresh_key,
    hash_of,
)
from rankloop.service.store import SERVICE, Decision, Store, StoreError, Transaction, write

T = TypeVar("T")
Write: TypeAlias = Callable[[Mapping[str, object]], None]
MOST = 100  # keys that open something: each is compared with what every request brings
LONGEST_GRACE = 30 * 86_400.0  # seconds
FRESH = 0.5  # seconds: how old what this process knows of the keys may be
COMMAND_LINE = "command line"  # who decided it, where no key did


class KeyManager:
    """The keys of a service: found by what a request brings, changed by decisions in its store.

    With `watch` a thread looks every half second what was decided elsewhere; without it, `find` does. While
    the store cannot be read, keys are those that were last known.

    >>> from rankloop.service.store import open_temporary_store
    >>> keys = KeyManager(open_temporary_store(), clock=lambda: 0.0)
    >>> secret = keys.create("shop-frontend", "rank", reason="the new web shop")
    >>> keys.find(secret).name, keys.find("a guess")
    ('shop-frontend', None)
    """

    def __init__(self, store: Store, *, clock: Callable[[], float], watch: bool = False) -> None:
        self._store, self._clock = store, clock
        self._ring = KeyRing()
        self._read = float("-inf")  # when the store was last looked at, by a clock that nobody sets
        self._lock, self._stopped = threading.Lock(), threading.Event()
        self.refresh()
        self._thread = threading.Thread(target=self._watch, name="keys", daemon=True) if watch else None
        if self._thread:
            self._thread.start()

    def give(self, hashes: Mapping[Scope, str]) -> None:
        """Keys from elsewhere than the store: they open this process only, until they are revoked here."""
        with self._lock:
            self._ring, self._read = KeyRing.given(hashes), float("-inf")
        self.refresh()

    def find(self, secret: str) -> ApiKey | None:
        """The key that this is, if it opens anything."""
        return self._current().find(secret, self._clock()) if secret else None

    def opens(self, needed: Scope, secret: str) -> ApiKey | None:
        """The key that this is, if it is good for what needs this scope."""
        key = self.find(secret)
        return key if key is not None and covers(key.scope, needed) else None

    def still_opens(self, sha256: str) -> bool:
        """Whether the key of this hash opens anything: it was neither revoked nor given new bits since."""
        return self._current().known(sha256, self._clock()) is not None

    def all(self) -> list[ApiKey]:
        """Every key, also those that were revoked, the oldest first."""
        self.refresh()
        return sorted(self._ring.keys.values(), key=lambda key: (key.created, key.name))

    def create(self, name: str, scope: Scope, *, by: str = "", reason: str = "") -> str:
        """A new key; what this returns is never seen again."""
        if not NAME.fullmatch(name):
            raise RequestError(
                f"a key's name is 1 to 64 letters, digits, dots, dashes and underscores, found {name[:80]!r}"
            )
        if scope not in SCOPES:
            raise RequestError(f"no scope is called {scope!r}: {suggest_name(str(scope), SCOPES)}")
        if name in SCOPES and name != scope:
            raise RequestError(f"a key for {scope!r} must not be called {name!r}: choose another name")
        return self._change(lambda ring, append: _create(ring, append, name, scope), by, reason)

    def rotate(self, name: str, *, grace: float = 0.0, by: str = "", reason: str = "") -> str:
        """New bits for a key of this name; the old ones open for so many seconds more."""
        if not 0 <= grace <= LONGEST_GRACE:
            raise RequestError(f"grace must be 0 to {LONGEST_GRACE:.0f} seconds, found {grace:g}")
        return self._change(lambda ring, append: _rotate(ring, append, name, grace), by, reason)

    def revoke(self, name: str, *, by: str = "", reason: str = "") -> None:
        """Revoke a key: here at once, in other processes on the store within a second."""
        self._change(lambda ring, append: _revoke(ring, append, name), by, reason)

    def begin(self, *, fresh: bool = False) -> dict[Scope, str]:
        """Make sure that there are keys, and return those that are new: they are shown once, now.

        With `fresh`, everything that opened so far is replaced.
        """
        return self._change(lambda ring, append: _begin(ring, append, fresh), COMMAND_LINE, "")

    def refresh(self) -> None:
        """Take in what was decided since, by whatever process."""
        with self._lock:
            self._ring = self._ring.after_all(self._store.read_decisions(SERVICE, after=self._ring.position))
            self._read = time.monotonic()

    def close(self) -> None:
        """Stop looking."""
        self._stopped.set()
        if self._thread:
            self._thread.join()

    def _current(self) -> KeyRing:
        if self._thread is None and time.monotonic() - self._read > FRESH:
            with contextlib.suppress(StoreError):  # then those that were last known
                self.refresh()
        return self._ring

    def _change(self, change: Callable[[KeyRing, Write], T], by: str, reason: str) -> T:
        """Decide something by the keys there are inside the transaction: two processes cannot disagree."""
        at, start = self._clock(), self._ring

        def job(transaction: Transaction) -> T:
            def append(body: Mapping[str, object]) -> None:
                now, said = transaction.time(at), {"grace": 0.0, "sha256": "", "replaces": [], **body}
                transaction.append(
                    Decision(at=now, ranker=SERVICE, kind=KEY, body=said | sign_decision(by, reason))
                )

            return change(start.after_all(transaction.read_decisions(SERVICE, after=start.position)), append)

        found = write(self._store, job)
        self.refresh()
        return found

    def _watch(self) -> None:
        while not self._stopped.wait(FRESH):
            with contextlib.suppress(StoreError):
                self.refresh()


def _create(ring: KeyRing, append: Write, name: str, scope: Scope) -> str:
    if name in ring.keys:
        what = "there is" if ring.keys[name].live else "there was"
        raise RequestError(f"{what} a key {name!r}: names are used once, so that the log stays clear")
    if len(ring.live()) >= MOST:
        raise RequestError(f"there are {MOST} keys, which is the most: revoke those that nobody uses")
    secret = fresh_key(scope)
    append({"action": "create", "name": name, "scope": scope, "sha256": hash_of(secret)})
    return secret


def _rotate(ring: KeyRing, append: Write, name: str, grace: float) -> str:
    key = _named(ring, name)
    secret = fresh_key(key.scope)
    replaced = [each for each, _ in key.hashes]
    what = {"action": "rotate", "name": name, "scope": key.scope, "sha256": hash_of(secret)}
    append(what | {"replaces": replaced, "grace": grace})
    return secret


def _revoke(ring: KeyRing, append: Write, name: str) -> None:
    key = _named(ring, name)
    if [each.name for each in ring.live("admin")] == [name]:
        raise RequestError(
            f"{name!r} is the last admin key: nobody could steer this service any more. Create another one "
            "first, or give this one new bits with rotate"
        )
    replaced = [each for each, _ in key.hashes]
    append({"action": "revoke", "name": name, "scope": key.scope, "replaces": replaced})


def _begin(ring: KeyRing, append: Write, fresh: bool) -> dict[Scope, str]:
    if not fresh and ring.live("admin"):
        return {}
    shown: dict[Scope, str] = {scope: fresh_key(scope) for scope in SCOPES}
    for key in ring.live() if fresh else ():
        if key.name not in shown:
            ended = [each for each, _ in key.hashes]
            append({"action": "revoke", "name": key.name, "scope": key.scope, "replaces": ended})
    for scope, secret in shown.items():
        there = ring.keys.get(scope)
        what = {"action": "rotate" if there else "create", "name": scope, "scope": scope}
        ended = [each for each, _ in there.hashes] if there else []
        append(what | {"sha256": hash_of(secret), "replaces": ended})
    return shown


def _named(ring: KeyRing, name: str) -> ApiKey:
    found = ring.keys.get(name)
    if found is None or not found.live:
        there = [key.name for key in ring.live()]
        raise RequestError(f"no key is called {name!r}: {suggest_name(name, there)}")
    return found
