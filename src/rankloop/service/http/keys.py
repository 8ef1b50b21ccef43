"""API keys and their scopes; they are shown once, and what is kept is their hash.

There are three, each of which may do what the one before it may:

- `page` only sends events. It may stand in a web page, where everyone can read it.
- `rank` ranks as well, and reads the metrics. It belongs on the servers that ask for lists.
- `admin` does everything: what changes a ranker, and what reveals anything about it or its users.

A key is 256 random bits, so a plain SHA-256 of it is enough: there is nothing to guess.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Self, TypeAlias, get_args

from rankloop.types import DataError

Scope: TypeAlias = Literal["page", "rank", "admin"]
SCOPES: tuple[Scope, ...] = get_args(Scope)  # each may do what those before it may


@dataclass(frozen=True)
class Keys:
    """The hashes of the keys, by what they open.

    >>> keys, shown = Keys.fresh()
    >>> keys.scope(shown["admin"]), keys.scope("guess")
    ('admin', None)
    >>> keys.opens("page", shown["rank"]), keys.opens("admin", shown["rank"])
    (True, False)
    """

    hashes: Mapping[Scope, str]

    @classmethod
    def fresh(cls) -> tuple[Self, Mapping[Scope, str]]:
        """New keys: what is to be kept, and what is to be shown, once."""
        shown: dict[Scope, str] = {scope: f"rl_{scope}_{secrets.token_urlsafe(32)}" for scope in SCOPES}
        return cls({scope: _hash(key) for scope, key in shown.items()}), shown

    def scope(self, key: str) -> Scope | None:
        """What a key opens, compared in constant time with every one there is."""
        found: Scope | None = None
        sent = _hash(key)
        for scope, known in self.hashes.items():
            if hmac.compare_digest(sent, known):
                found = scope
        return found

    def opens(self, needed: Scope, key: str) -> bool:
        """Whether a key is good for what needs this scope."""
        scope = self.scope(key)
        return scope is not None and covers(scope, needed)

    @classmethod
    def of(cls, path: Path, *, fresh: bool = False) -> tuple[Self, Mapping[Scope, str]]:
        """The keys in this file, and those that are new and to be shown now: they are never seen again."""
        if path.exists() and not fresh:
            return cls.load(path), {}
        keys, shown = cls.fresh()
        keys.save(path)
        return keys, shown

    def save(self, path: Path) -> None:
        """Keep the hashes in a file that only its owner reads; all of it is written, or nothing."""
        draft = path.with_suffix(".new")
        draft.unlink(missing_ok=True)
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            json.dump({"sha256": dict(self.hashes)}, file)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)

    @classmethod
    def load(cls, path: Path) -> Self:
        """The keys that were kept."""
        try:
            hashes = json.loads(path.read_text())["sha256"]
            return cls({scope: str(hashes[scope]) for scope in SCOPES})
        except (ValueError, KeyError, TypeError) as error:
            raise DataError(
                f"{path} is no file of keys: remove it, and `rankloop serve` makes new ones"
            ) from error


def covers(scope: Scope, needed: Scope) -> bool:
    """Whether one scope may do what needs another."""
    return SCOPES.index(scope) >= SCOPES.index(needed)


def bearer(headers: Iterable[tuple[bytes, bytes]]) -> str:
    """The key in the header of a request, or nothing.

    >>> bearer([(b"authorization", b"Bearer rl_rank_1")])
    'rl_rank_1'
    """
    sent = next((value for name, value in headers if name == b"authorization"), b"")
    kind, _, key = sent.decode("latin-1").partition(" ")
    return key.strip() if kind.lower() == "bearer" else ""


def _hash(key: str) -> str:
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()
