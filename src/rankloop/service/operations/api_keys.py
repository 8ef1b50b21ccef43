"""API keys: named, several for each scope; a fold of the decisions about the service, seen by every process.

A key opens what its scope does, and what the scopes before it do:

- `page` only sends events. It may stand in a web page, where everyone can read it.
- `rank` ranks as well, and reads the metrics. It belongs on the servers that ask for lists.
- `admin` does everything: what changes a ranker, and what reveals anything about it or its users.

A key is 256 random bits, so a plain SHA-256 of it is enough: there is nothing to guess. It is shown when
it is made, and only its hash is kept.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias, get_args

from rankloop.service.store import Decision

Scope: TypeAlias = Literal["page", "rank", "admin"]
SCOPES: tuple[Scope, ...] = get_args(Scope)  # each may do what those before it may
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
KEY = "key"  # the kind of a decision about one
ALWAYS = float("inf")


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiKey:
    """A key by its name: what it opens, who made it and why. The key itself is nowhere."""

    name: str
    scope: Scope
    created: float
    by: str = ""  # the name of the key that decided it; empty: it came with the service
    reason: str = ""
    rotated: float | None = None  # when it last got new bits
    revoked: float | None = None
    hashes: tuple[tuple[str, float], ...] = field(default=(), repr=False)  # and until when each opens

    @property
    def live(self) -> bool:
        """Whether it opens anything."""
        return self.revoked is None


@dataclass(frozen=True, slots=True)
class KeyRing:
    """The keys after a decision of the log: a value.

    >>> ring = KeyRing.given({"admin": hash_of("a secret")})
    >>> ring.find("a secret", 0.0).name, ring.find("a guess", 0.0)
    ('admin', None)
    """

    position: int = 0  # the last decision that was folded
    keys: Mapping[str, ApiKey] = field(default_factory=dict)  # by name

    @classmethod
    def given(cls, hashes: Mapping[Scope, str]) -> KeyRing:
        """Keys that come from elsewhere than the log: each is named like what it opens."""
        keys: dict[str, ApiKey] = {
            scope: ApiKey(name=scope, scope=scope, created=0.0, hashes=((each, ALWAYS),))
            for scope, each in hashes.items()
        }
        return cls(0, keys)

    def after_all(self, decisions: Iterable[Decision]) -> KeyRing:
        """The keys after more decisions."""
        found, keys = self.position, dict(self.keys)
        for decision in decisions:
            found, body = decision.seq, decision.body
            if decision.kind == KEY:
                keys[body["name"]] = _decided(keys.get(body["name"]), decision)
        return self if found == self.position else KeyRing(found, keys)

    def find(self, secret: str, now: float) -> ApiKey | None:
        """The key that this is, compared in constant time with every one there is."""
        return self.known(hash_of(secret), now)

    def known(self, sent: str, now: float) -> ApiKey | None:
        """The key that has this hash, as long as it opens anything."""
        found = None
        for key in self.keys.values():
            for known, until in key.hashes:
                if hmac.compare_digest(sent, known) and now < until:
                    found = key
        return found

    def live(self, scope: Scope | None = None) -> list[ApiKey]:
        """The keys that open something; only those of one scope, if one is named."""
        return [key for key in self.keys.values() if key.live and scope in (None, key.scope)]


def _decided(key: ApiKey | None, decision: Decision) -> ApiKey:
    """A key after a decision about it: the hashes that it names end, now or soon, and another may begin."""
    body, at = decision.body, decision.at
    if key is None:
        said = {"by": body.get("by", ""), "reason": body.get("reason", "")}
        key = ApiKey(name=body["name"], scope=body["scope"], created=at, **said)
    ends = dict.fromkeys(body["replaces"], at + body["grace"])
    before = [(known, min(until, ends.get(known, ALWAYS))) for known, until in key.hashes]
    fresh = [(str(body["sha256"]), ALWAYS)] if body["sha256"] else []
    hashes = tuple(each for each in [*fresh, *before] if each[1] > at)
    rotated = at if body["action"] == "rotate" else key.rotated
    return replace(key, rotated=rotated, revoked=None if hashes else at, hashes=hashes)


def covers(scope: Scope, needed: Scope) -> bool:
    """Whether one scope may do what needs another.

    >>> covers("admin", "page"), covers("page", "rank")
    (True, False)
    """
    return SCOPES.index(scope) >= SCOPES.index(needed)


def fresh_key(scope: Scope) -> str:
    """New bits; the name of the scope in front says to people what they hold."""
    return f"rl_{scope}_{secrets.token_urlsafe(32)}"


def hash_of(secret: str) -> str:
    """What is kept of a key."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()
