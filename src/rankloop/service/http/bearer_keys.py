"""Keys over HTTP: what a request brings, and the hashes of keys that an app is given."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Self

from rankloop.service.operations.api_keys import SCOPES, Scope, fresh_key, hash_of


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


def bearer(headers: Iterable[tuple[bytes, bytes]]) -> str:
    """The key in the header of a request, or nothing.

    >>> bearer([(b"authorization", b"Bearer rl_rank_1")])
    'rl_rank_1'
    """
    sent = next((value for name, value in headers if name == b"authorization"), b"")
    kind, _, key = sent.decode("latin-1").partition(" ")
    return key.strip() if kind.lower() == "bearer" else ""
