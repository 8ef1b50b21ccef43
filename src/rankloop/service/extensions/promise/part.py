"""Part of a promise: which search a list belongs to, and its arm."""

from __future__ import annotations

from typing import Literal

import msgspec

from rankloop.service.store import PartType


class PromisePart(msgspec.Struct, frozen=True, kw_only=True, array_like=True, tag=1):
    """Which search a list belongs to under a promise, and whether that is free of the caller's order."""

    promise: int  # the entry with which the promise began
    arm: Literal["held", "owned", "learned"]  # the caller's order for sure, or by a coin; or what was learned
    search: str  # the query_id of its first list


PART = PartType("promise", PromisePart)
