"""Feedback from a list and what was done with it, as a policy learns it: as the list was shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeAlias

import numpy as np

from rankloop.policies import Policy
from rankloop.service.core.grades import Unrated
from rankloop.service.core.lists.list_seeds import generator
from rankloop.service.core.model import Model, asker_of, width_of
from rankloop.service.core.ranker_settings import BaseRankerSettings
from rankloop.service.store import Impression
from rankloop.types import Feedback, FloatArray, Ranking, Signal

NONE: Mapping[int, int] = MappingProxyType({})
BEYOND = 2**62  # every entry
Done: TypeAlias = Mapping[str, float | None]  # by action: its last value


@dataclass(frozen=True, slots=True)
class Reaction:
    """What was done with a list, as the settings read it: the results that were clicked, or their grades."""

    signal: Signal
    rewards: Mapping[int, float]  # by position; of clicks, 1 for each
    unrated: Unrated = "zero"


def reaction(
    settings: BaseRankerSettings, signal: Signal, done: Mapping[int, Done], *, silence: bool = False
) -> Reaction | None:
    """What the policy is to learn of a list, from what was done at each position; `None`: nothing.

    Clicks need one of them, unless `silence` says something, too. A grade is one also if it is 0: a lone
    thumb down teaches.

    >>> settings = BaseRankerSettings()
    >>> reaction(settings, "clicks", {3: {"click": None}}).rewards
    {3: 1.0}
    >>> reaction(settings, "clicks", {3: {"hover": 2.0}})
    """
    if signal == "clicks":
        rewards = {position: 1.0 for position, each in done.items() if settings.clicked(each)}
    else:
        grade = settings.grade_scale.grade
        rewards = {position: found for position, each in done.items() if (found := grade(each)) is not None}
    unrated: Unrated = "zero" if settings.grades is None else settings.grades.unrated
    return Reaction(signal, rewards, unrated) if rewards or silence else None


@dataclass(frozen=True, slots=True, eq=False)
class Lesson:
    """A policy, wide enough, and what it is to learn."""

    policy: Policy
    feedback: Feedback


def lesson(
    model: Model, impression: Impression, found: Reaction, *, retired: Mapping[int, int] = NONE
) -> Lesson | None:
    """The feedback on the part of the list that the policy chose; `None` if the list teaches nothing.

    Pinned results are left out: where they stood was nobody's guess. A policy of another kind than the one
    that drew the list gets evidence of its own for it, if that holds for lists of others. `retired` are the
    columns of features that were, and the entries that did it: the policy that drew the list may have had
    some of them.
    """
    if not impression.teaches:
        return None
    rewards = np.full(len(impression.order), np.nan)  # where nothing was done
    rewards[[position - 1 for position in found.rewards]] = list(found.rewards.values())
    asker = asker_of(impression.user, impression.context)
    policy, query = model.asked(
        impression.query_id, impression.features, impression.object_ids, impression.groups, asker
    )
    order = impression.order
    if impression.pinned_at.any():
        free, kept = np.flatnonzero(impression.pinned_at == 0), impression.pinned_at[order] == 0
        query, order, rewards = query.take(free), np.searchsorted(free, order[kept]), rewards[kept]
    if found.signal == "grades" and np.isnan(rewards).all():
        return None
    if type(policy).__name__ == impression.policy:
        gone = _gone(model, impression, retired)
        narrow = policy.narrowed_evidence(impression.evidence, gone)
        evidence = policy.widened_evidence(narrow, width_of(policy, query))
        return Lesson(policy, _feedback(Ranking(query, order, evidence), rewards, found))
    drawn = policy.rank(query, k=len(order), rng=generator(impression.seed))
    shown = policy.with_order(drawn, order) if policy.evidence_scope == "documents" else None
    return None if shown is None else Lesson(policy, _feedback(shown, rewards, found))


def _gone(model: Model, impression: Impression, retired: Mapping[int, int]) -> list[int]:
    """Which features of the policy that drew a list, by number, the model does not see any more."""
    if not model.retired:
        return []
    had = (
        each for each in range(max(model.retired) + 1) if not retired.get(each, BEYOND) <= impression.model
    )
    return [number for number, column in enumerate(had) if column in model.retired]


def _feedback(shown: Ranking, rewards: FloatArray, found: Reaction) -> Feedback:
    """Clicks, or grades: what was surely looked at and not rated is a 0, or unknown."""
    rated = ~np.isnan(rewards)
    clicks = Feedback(shown, rated)
    if found.signal == "clicks":
        return clicks
    known = np.arange(len(shown)) < clicks.n_examined if found.unrated == "zero" else rated
    return Feedback(shown, np.where(rated, rewards, 0.0), known, "grades")
