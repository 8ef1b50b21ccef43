"""What the caller of `rank` gets, and its bytes."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from json.encoder import encode_basestring as text
from math import isfinite
from typing import Any, NamedTuple

from rankloop.service.show import Request, Showing


class Result(NamedTuple):
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


WORDS = {True: "true", False: "false", None: "null"}


@dataclass(frozen=True)
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
        return self._bytes

    @cached_property
    def _bytes(self) -> bytes:
        """What `json` makes of `to_json`, in a fifth of the time."""
        ranking = ",".join(map(_line, self.ranking))
        query_id, made = text(self.query_id), _made(self.decision)
        return f'{{"query_id":{query_id},"ranking":[{ranking}],"decision":{made}}}'.encode()

    def to_json(self) -> dict[str, Any]:
        """As plain values."""
        return {
            "query_id": self.query_id,
            "ranking": [each._asdict() for each in self.ranking],
            "decision": asdict(self.decision),
        }

    def digest(self) -> bytes:
        """A short stand-in for the bytes."""
        return hashlib.blake2b(self.to_bytes(), digest_size=16).digest()


def _line(result: Result) -> str:
    name, position, score, settled, pinned = result
    if not isfinite(score):
        raise ValueError(f"a score must be finite, found {score}")
    return (
        f'{{"object_id":{text(name)},"position":{position},"score":{score!r},'
        f'"settled":{WORDS[settled]},"pinned":{WORDS[pinned]}}}'
    )


def _made(made: Made) -> str:
    fallback = "null" if made.fallback is None else text(made.fallback)
    return (
        f'{{"ranker":{text(made.ranker)},"model":{made.model},"settings":{made.settings},'
        f'"policy":{text(made.policy)},"mode":{text(made.mode)},"seed":{made.seed},'
        f'"explored_pairs":{made.explored_pairs},"fallback":{fallback}}}'
    )


def answer(request: Request, showing: Showing, object_ids: Sequence[str], made: Made) -> RankedList:
    """Put a list into words."""
    rows, pinned = showing.order.tolist(), request.pinned_at[showing.order].astype(bool).tolist()
    scores, settled = showing.scores[showing.order].tolist(), showing.settled
    results = tuple(
        Result(object_ids[row], position, score, settled.get(row), pin)
        for position, (row, score, pin) in enumerate(zip(rows, scores, pinned, strict=True), start=1)
    )
    return RankedList(request.query_id, results, made)
