"""Rank response: what the caller gets, as a value and as bytes."""

from __future__ import annotations

import msgspec

from rankloop.service.core.lists.order_certainty import Grade


class Result(msgspec.Struct, frozen=True, gc=False):
    """One result of a list."""

    object_id: str
    position: int  # from 1
    score: float
    settled: bool | None  # its order against each other result is 95 % sure; None: pinned, or nobody can tell
    pinned: bool
    certainty: Grade | None = None  # the same in three grades, by the pair that is least sure
    probability: float | None = None  # of that pair's likelier order
    open: bool | None = None  # the policy may still try it out elsewhere, by its own criterion


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
    promise: str | None = None  # held or owned: in the caller's order, for a promise; or learned
    unlogged: str | None = None  # why it is not known to be written down: clicks on it may be orphans


class RankResponse(msgspec.Struct, frozen=True):
    """A list and the id under which its events are to be sent."""

    query_id: str
    ranking: tuple[Result, ...]
    provenance: Provenance

    @property
    def object_ids(self) -> list[str]:
        """What to show, best first."""
        return [result.object_id for result in self.ranking]

    @property
    def fallback(self) -> str | None:
        """Why the list is in the caller's order; `None` if it is the ranker's."""
        return self.provenance.fallback

    def to_bytes(self) -> bytes:
        """As JSON, always the same for the same list."""
        return ENCODER.encode(self)


ENCODER = msgspec.json.Encoder()
