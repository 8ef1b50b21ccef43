"""Feedback from a list and its clicks, as a policy learns it: as the list was shown."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from rankloop.policies import Policy
from rankloop.service.learning.model import Model
from rankloop.service.serving.seeds import generator
from rankloop.store import Impression
from rankloop.types import Feedback, Query, Ranking


@dataclass(frozen=True, slots=True, eq=False)
class Lesson:
    """A policy, wide enough, and what it is to learn."""

    policy: Policy
    feedback: Feedback


def lesson(model: Model, impression: Impression, clicked: Iterable[int]) -> Lesson | None:
    """The feedback on the part of the list that the policy chose; `None` if the list teaches nothing.

    `clicked` are positions. Pinned results are left out: where they stood was nobody's guess. A policy of
    another kind than the one that drew the list gets evidence of its own for it, if that holds for lists of
    others.
    """
    if not impression.teaches:
        return None
    clicks = np.zeros(len(impression.order), dtype=bool)
    clicks[[position - 1 for position in clicked]] = True
    policy, features = model.ready(impression.features)
    query, order = (
        Query(impression.query_id, features, impression.object_ids, impression.groups),
        impression.order,
    )
    if impression.pinned_at.any():
        free, kept = np.flatnonzero(impression.pinned_at == 0), impression.pinned_at[order] == 0
        query, order, clicks = query.take(free), np.searchsorted(free, order[kept]), clicks[kept]
    if policy.name == impression.policy:
        evidence = policy.widened_evidence(impression.evidence, features.shape[1])
        return Lesson(policy, Feedback(Ranking(query, order, evidence), clicks))
    drawn = policy.rank(query, k=len(order), rng=generator(impression.seed))
    shown = policy.as_shown(drawn, order) if policy.evidence_about == "documents" else None
    return None if shown is None else Lesson(policy, Feedback(shown, clicks))
