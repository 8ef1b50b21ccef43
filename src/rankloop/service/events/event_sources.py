"""Source of an event: a keyed hash of the address, or of the client, that it came from.

An address is personal data, and is never stored. With the key, which is in the data folder and nowhere in
the log, the operator can find the events of an address that is known; without it, nobody can.
"""

from __future__ import annotations

import hashlib
import os
import secrets
from pathlib import Path
from typing import Self

SIZE = 9  # bytes of a hash: as good as never the same for two


class SourceHash:
    """Hashes of addresses and clients under one key.

    >>> hashed, address = SourceHash(b"a secret"), "192.0.2.7"
    >>> hashed.address(address) == hashed.address(address) != SourceHash(b"other").address(address)
    True
    >>> hashed.address("")  # nobody looked
    ''
    """

    def __init__(self, key: bytes | None = None) -> None:
        self._key = key or secrets.token_bytes(32)

    @classmethod
    def of(cls, path: Path) -> Self:
        """With the key in this file, which only its owner reads; it is made if it is not there."""
        if not path.exists():
            draft = path.with_suffix(f".{os.getpid()}")
            with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
                file.write(secrets.token_bytes(32))
                file.flush()
                os.fsync(file.fileno())
            try:
                os.link(draft, path)  # of several processes, one makes it
            except FileExistsError:
                pass
            finally:
                draft.unlink()
        return cls(path.read_bytes())

    def address(self, address: str) -> str:
        """The source of whatever comes from an address."""
        return f"a{self._hash(address)}" if address else ""

    def client(self, client_id: str) -> str:
        """The source of whatever a client did, as your own servers report it."""
        return f"c{self._hash(client_id)}" if client_id else ""

    def _hash(self, text: str) -> str:
        return hashlib.blake2b(text.encode(), key=self._key, digest_size=SIZE).hexdigest()
