"""Part of a trial: which arm a list belongs to."""

from __future__ import annotations

import msgspec

from rankloop.service.store import PartType


class TrialPart(msgspec.Struct, frozen=True, kw_only=True, array_like=True, tag=1):
    """Which arm of a trial a list belongs to; of an interleaved one, whose each result is."""

    trial: int  # the entry that began it
    arm: str  # A, B, or AB: both, interleaved
    owners: tuple[tuple[float, ...], ...] = ()  # [2, k] probability, given the list, that A or B put it there


PART = PartType("trial", TrialPart)
