"""What the caller of `rank` gets, and its bytes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

from rankloop.service.show import Request, Showing


@dataclass(frozen=True, slots=True)
class Result:
    """One line of a list."""

    object_id: str
    position: int  # from 1
    score: float
    settled: bool | None  # its order against all others shown is certain; None: pinned, or nobody can tell
    pinned: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """How a list came to be."""

    ranker: str
    model: int
    settings: int
    policy: str
    mode: str
    seed: int
    explored_pairs: int
    fallback: str | None


RESULT = tuple(each.name for each in fields(Result))
MADE = tuple(each.name for each in fields(Made))


@dataclass(frozen=True, slots=True)
class RankedList:
    """A list and the id under which its events are to be sent."""

    query_id: str
    ranking: tuple[Result, ...]
    decision: Made

    @property
    def object_ids(self) -> list[str]:
        """What to show, best first."""
        return [result.object_id for result in self.ranking]

    def to_bytes(self) -> bytes:
        """As JSON, always the same for the same list."""
        return json.dumps(self.to_json(), allow_nan=False, ensure_ascii=False, separators=(",", ":")).encode()

    def to_json(self) -> dict[str, Any]:
        """As plain values."""
        return {
            "query_id": self.query_id,
            "ranking": [{name: getattr(result, name) for name in RESULT} for result in self.ranking],
            "decision": {name: getattr(self.decision, name) for name in MADE},
        }

    def digest(self) -> bytes:
        """A short stand-in for the bytes."""
        return hashlib.blake2b(self.to_bytes(), digest_size=16).digest()


def answer(request: Request, showing: Showing, object_ids: Sequence[str], made: Made) -> RankedList:
    """Put a list into words."""
    results = []
    for position, row in enumerate(showing.order.tolist(), start=1):
        pinned = bool(request.pinned_at[row])
        settled = showing.settled.get(row)
        results.append(Result(object_ids[row], position, float(showing.scores[row]), settled, pinned))
    return RankedList(request.query_id, tuple(results), made)
