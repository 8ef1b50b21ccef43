"""Seeds that stick: the same session asking the same thing meets the same luck."""

from __future__ import annotations

import hashlib
import json


def sticky_seed(*words: str) -> int:
    """A seed that depends on these words and nothing else.

    >>> sticky_seed("shop", "session-1", "red shoes") == sticky_seed("shop", "session-1", "red shoes")
    True
    >>> sticky_seed("shop", "session-1", "red shoes") == sticky_seed("shop", "session-1", "red", "shoes")
    False
    """
    digest = hashlib.blake2b(json.dumps(words).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little") >> 1  # 63 bits: a signed integer of any database
