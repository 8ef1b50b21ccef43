"""Rank response: what the caller gets, as a value and as bytes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
import numpy as np

from rankloop.service.core.lists.list_draft import ListDraft
from rankloop.service.core.lists.list_numbers import ListNumbers
from rankloop.service.core.lists.order_certainty import Grade, grade_of


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


def describe_list(draft: ListDraft, parts: Mapping[str, Any], numbers: ListNumbers) -> RankResponse:
    """Describe a list that was placed, with the parts that extensions recorded about it."""
    inputs = draft.inputs
    view = inputs.view
    provenance = Provenance(
        ranker=inputs.request.ranker,
        model=view.model.version,
        settings=view.configuration.settings_version,
        policy="" if inputs.asked is None else type(view.model.policy).__name__,
        mode=view.configuration.mode,
        seed=inputs.seed,
        explored_pairs=numbers.explored_pairs,
        fallback=inputs.fallback or None,
        **_describe_parts(parts),
    )
    return RankResponse(inputs.query_id, _describe_results(draft, numbers), provenance)


def _describe_parts(parts: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if fair := parts.get("fair"):
        found["fairness_cost"] = None if fair.within is None else fair.turned
        found["within"] = fair.within
    if trial := parts.get("trial"):
        found |= {"trial": trial.trial, "arm": trial.arm}
    if promise := parts.get("promise"):
        found["promise"] = promise.arm
    return found


def _describe_results(draft: ListDraft, numbers: ListNumbers) -> tuple[Result, ...]:
    candidates = draft.inputs.request.candidates
    scores, names, pins = draft.inputs.scores[draft.order], candidates.object_ids, candidates.pinned_at
    if not np.isfinite(scores).all():
        raise ValueError(f"a score must be finite, found {scores}")
    rows = zip(draft.order.tolist(), scores.tolist(), strict=True)
    return tuple(
        _describe_result(names[row], position, score, bool(pins and pins[row]), numbers, row)
        for position, (row, score) in enumerate(rows, start=1)
    )


def _describe_result(
    name: str, position: int, score: float, pinned: bool, numbers: ListNumbers, row: int
) -> Result:
    sure = numbers.sure.get(row)
    if sure is None:
        return Result(name, position, score, None, pinned, open=numbers.open.get(row))
    grade = grade_of(sure)
    return Result(name, position, score, grade == "settled", pinned, grade, sure, numbers.open.get(row))
