"""Rank response: what the caller gets, as a value and as bytes."""

from __future__ import annotations

import msgspec


class Result(msgspec.Struct, frozen=True, gc=False):
    """One result of a list."""

    object_id: str
    position: int  # from 1
    score: float
    settled: bool | None  # its order against all others shown is certain; None: pinned, or nobody can tell
    pinned: bool


class Provenance(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How a list came to be; what has to do with fair exposure or a trial only where there is one."""

    ranker: str
    model: int
    settings: int
    policy: str
    mode: str
    seed: int
    explored_pairs: int
    fallback: str | None
    fairness_cost: int | None = None  # pairs that were turned for fair exposure
    within: bool | None = None  # after this list every group's account is within the tolerance
    trial: int | None = None  # the one that runs
    arm: str | None = None  # A, B, or AB: both, interleaved


class RankResponse(msgspec.Struct, frozen=True):
    """A list and the id under which its events are to be sent."""

    query_id: str
    ranking: tuple[Result, ...]
    provenance: Provenance

    @property
    def object_ids(self) -> list[str]:
        """What to show, best first."""
        return [result.object_id for result in self.ranking]

    def to_bytes(self) -> bytes:
        """As JSON, always the same for the same list."""
        return ENCODER.encode(self)


ENCODER = msgspec.json.Encoder()
