"""What a list and its clicks teach: the feedback for a policy, as it was shown."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from rankloop.policies import Policy
from rankloop.service.model import Model
from rankloop.service.seeds import luck
from rankloop.store import Impression
from rankloop.types import Feedback, Query, Ranking


@dataclass(frozen=True, slots=True, eq=False)
class Lesson:
    """A policy, wide enough, and what it is to learn."""

    policy: Policy
    feedback: Feedback


def lesson(model: Model, impression: Impression, places: Iterable[int]) -> Lesson | None:
    """The feedback on the part of the list that the policy chose; `None` if the list teaches nothing.

    Pinned results are left out: their place was nobody's guess. A policy of another kind than the one that
    drew the list gets evidence of its own for it, unless its evidence is about places.
    """
    if not impression.teaches:
        return None
    clicks = np.zeros(len(impression.order), dtype=bool)
    clicks[list(places)] = True
    policy, features = model.ready(impression.features)
    order = impression.order
    if impression.pinned_at.any():
        free, kept = np.flatnonzero(impression.pinned_at == 0), impression.pinned_at[order] == 0
        features, order, clicks = features[free], np.searchsorted(free, order[kept]), clicks[kept]
    query = Query(impression.query_id, features)
    if policy.name == impression.policy:
        evidence = policy.widened_evidence(impression.evidence, features.shape[1])
    elif policy.evidence_about == "documents":
        draw = policy.rank(query, k=len(order), rng=luck(impression.seed))
        evidence = dict(draw.evidence)
    else:
        return None
    return Lesson(policy, Feedback(Ranking(query, order, evidence), clicks))
