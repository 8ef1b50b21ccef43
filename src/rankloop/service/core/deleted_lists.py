"""Tombstones: lists that were deleted on request, known again by a short salted hash."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable

from rankloop.service.store import Decision

DELETE = "delete"  # the kind of the decisions that hold them
LENGTH = 10  # hexadecimal digits of a list's hash: enough to know it again, too few to tell whose it was


def tombstone(salt: str, query_id: str) -> str:
    """What is left of a list.

    >>> tombstone("00", "q1")
    '7c44c2f1f5'
    """
    return hmac.new(bytes.fromhex(salt), query_id.encode(), hashlib.sha256).hexdigest()[:LENGTH]


def lies_under(query_id: str, decisions: Iterable[Decision]) -> bool:
    """Whether a list of this id was deleted by one of these; wrong once in $2^{40}$ for each that was."""
    return any(
        tombstone(each.body["salt"], query_id) in each.body["tombstones"]
        for each in decisions
        if each.kind == DELETE
    )


def hash_person(salt: str, name: str, value: str) -> str:
    """What is left of a person's id: enough to know it again in a restored backup.

    A guess costs a thousand hashes, and the digits are too few to be sure of it.

    >>> hash_person("00", "client_id", "client-4711")
    '8b2cda052e'
    """
    key = f"{name}\0{value}".encode()
    return hashlib.pbkdf2_hmac("sha256", key, bytes.fromhex(salt), 1000).hex()[:LENGTH]
