"""Keys over HTTP: what a request brings, and the hashes of keys that are kept in a file."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from rankloop.errors import DataError
from rankloop.service.operations.api_keys import SCOPES, Scope, fresh_key, hash_of
from rankloop.service.operations.key_manager import KeyManager


@dataclass(frozen=True)
class Keys:
    """Hashes of keys by what they open, for an app that is given its keys; others are in the store.

    >>> keys, shown = Keys.fresh()
    >>> sorted(shown), shown["rank"].startswith("rl_rank_")
    (['admin', 'page', 'rank'], True)
    """

    hashes: Mapping[Scope, str]

    @classmethod
    def fresh(cls) -> tuple[Self, Mapping[Scope, str]]:
        """New keys: what is to be kept, and what is to be shown, once."""
        shown: dict[Scope, str] = {scope: fresh_key(scope) for scope in SCOPES}
        return cls({scope: hash_of(key) for scope, key in shown.items()}), shown

    @classmethod
    def load(cls, path: Path) -> Self:
        """The keys that an earlier release kept in a file."""
        try:
            hashes = json.loads(path.read_text())["sha256"]
            return cls({scope: str(hashes[scope]) for scope in SCOPES})
        except (ValueError, KeyError, TypeError) as error:
            raise DataError(
                f"{path} is no file of keys: remove it, and `rankloop serve` makes new ones"
            ) from error


def first_keys(keys: KeyManager, path: Path, *, fresh: bool = False) -> Mapping[Scope, str]:
    """Keys for a service that starts; those that are new are to be shown now: they are never seen again.

    Keys that an earlier release kept in this file are taken into the store, once.
    """
    return keys.begin(Keys.load(path).hashes if path.exists() else {}, fresh=fresh)


def bearer(headers: Iterable[tuple[bytes, bytes]]) -> str:
    """The key in the header of a request, or nothing.

    >>> bearer([(b"authorization", b"Bearer rl_rank_1")])
    'rl_rank_1'
    """
    sent = next((value for name, value in headers if name == b"authorization"), b"")
    kind, _, key = sent.decode("latin-1").partition(" ")
    return key.strip() if kind.lower() == "bearer" else ""
