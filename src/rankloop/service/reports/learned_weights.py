"""What a ranker has learned: a weight for each feature, in numbers and in words, and between two versions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from rankloop.naming import write_name
from rankloop.policy import KnowsDeviations
from rankloop.service.core.lists.order_certainty import Grade, grade_of
from rankloop.service.core.model import Model, callers_order
from rankloop.service.core.ranker import Ranker
from rankloop.service.reports.feature_wording import Strength, better, changed, strength
from rankloop.service.reports.pair_explanation import OWN_ORDER
from rankloop.types import FloatArray, Query

TYPICAL = 10  # candidates: the caller's order is weighed from the first to the last of so many


@dataclass(frozen=True, slots=True)
class LearnedWeight:
    """What a feature is worth: log-odds of a choice, for a step of 1 of it as the policy sees it.

    With `scaling="query"` that is from the least to the greatest of a list; with `"running"` it is a standard
    deviation.
    """

    feature: str
    weight: float
    spread: float | None  # standard deviation of the weight; None: the policy cannot tell
    certainty: Grade | None  # of its sign
    probability: float | None  # of its sign
    better: str  # in words, as in "shorter is better"
    strength: Strength


@dataclass(frozen=True, slots=True)
class Learned:
    """What a version of a ranker's model has learned."""

    ranker: str
    version: int
    policy: str
    lists: int
    weights: tuple[LearnedWeight, ...]  # the heaviest first
    exact: bool  # the score is the sum of weights times features; otherwise of each feature alone
    reason: str = ""  # why there are no weights


@dataclass(frozen=True, slots=True)
class WeightChange:
    """A weight in two versions."""

    feature: str
    before: float
    after: float
    change: str  # in words
    better: str  # what is better now
    certainty: Grade | None  # of that


@dataclass(frozen=True, slots=True)
class LearnedBetween:
    """What two versions of a ranker's model differ in."""

    ranker: str
    before: int
    after: int
    lists: int  # learned from in between
    changes: tuple[WeightChange, ...]  # the largest first
    reason: str = ""  # why they cannot be compared


def learned(ranker: Ranker, version: int | None = None) -> Learned:
    """What a version has learned; without one, what is in use."""
    model = ranker.view.model if version is None else ranker.history.model(version)
    told = model.version, write_name(model.policy), model.lists
    reason = _without_weights(model)
    if reason:
        return Learned(ranker.name, *told, (), False, reason)
    names = names_of(ranker, model)
    weights, exact = weights_of(model, len(names))
    spreads = _spreads(model, len(names))
    own, labels = _own_order(model, len(names)), list(names)
    if own is not None:
        labels, weights = [*labels, OWN_ORDER], np.append(weights, own[0])
        spreads = None if spreads is None else np.append(spreads, own[1])
    largest = float(np.abs(weights).max(initial=0.0))
    by_size = np.argsort(-np.abs(weights), kind="stable").tolist()
    found = tuple(
        _weight(labels[i], float(weights[i]), None if spreads is None else float(spreads[i]), largest)
        for i in by_size
    )
    return Learned(ranker.name, *told, found, exact)


def learned_between(ranker: Ranker, before: int, after: int | None = None) -> LearnedBetween:
    """What has changed from one version to another; without one, to what is in use."""
    one, other = learned(ranker, before), learned(ranker, after)
    reason = one.reason or other.reason
    numbers = ranker.name, one.version, other.version, other.lists - one.lists
    if reason:
        return LearnedBetween(*numbers, (), reason)
    was = {each.feature: each.weight for each in one.weights}
    now = {each.feature: each.weight for each in other.weights}
    sure = {each.feature: each.certainty for each in other.weights}
    largest = max((abs(each) for each in (*was.values(), *now.values())), default=0.0)
    names = sorted({*was, *now}, key=lambda name: (-abs(now.get(name, 0.0) - was.get(name, 0.0)), name))
    changes = [(name, was.get(name, 0.0), now.get(name, 0.0)) for name in names]
    return LearnedBetween(
        *numbers,
        tuple(
            WeightChange(name, old, new, changed(old, new, largest), in_words(name, new), sure.get(name))
            for name, old, new in changes
        ),
    )


def names_of(ranker: Ranker, model: Model) -> Sequence[str]:
    """The features that a model has learned with, by column."""
    kept = [
        n for column, n in enumerate(ranker.view.configuration.schema.names) if column not in model.retired
    ]
    return kept[: model.width]


def weights_of(model: Model, width: int) -> tuple[FloatArray, bool]:
    """What the score of a result gains by each feature alone, and whether these add up."""
    policy, one = model.policy, np.eye(width)
    nothing = policy.score(Query("weights", np.zeros((1, width))))[0]
    gained = np.asarray(policy.score(Query("weights", one)) - nothing, dtype=np.float64)
    both = policy.score(Query("weights", np.vstack([2 * one.sum(axis=0), -one.sum(axis=0)]))) - nothing
    return gained, bool(np.allclose(both, [2 * gained.sum(), -gained.sum()], rtol=1e-3, atol=1e-6))


def in_words(feature: str, weight: float) -> str:
    """What is better, by the sign of a weight; of the caller's order, too.

    >>> in_words(OWN_ORDER, 0.2), in_words("price", -1.0)
    ('what you put higher is better', 'cheaper is better')
    """
    if feature == OWN_ORDER:
        return f"what you put {'higher' if weight >= 0 else 'lower'} is better"
    return better(feature, weight)


def _weight(name: str, weight: float, spread: float | None, largest: float) -> LearnedWeight:
    known = spread is not None and np.isfinite(spread) and spread > 0
    probability = float(ndtr(abs(weight) / spread)) if known and spread else None
    return LearnedWeight(
        feature=name,
        weight=weight,
        spread=spread if known else None,
        certainty=None if probability is None else grade_of(probability),
        probability=probability,
        better=in_words(name, weight),
        strength=strength(weight, largest),
    )


def _without_weights(model: Model) -> str:
    if model.policy.reads == "context":
        return "this policy learns who likes which object, not what features are worth"
    if model.policy.identifies_by == "ids":
        return "this policy knows candidates by their ids, not by features"
    if not model.lists or not model.width:
        return "nothing was learned yet: it begins with the first list that gets a click"
    return ""


def _spreads(model: Model, width: int) -> FloatArray | None:
    """The standard deviation of each weight: that of a result with this feature alone, against nothing."""
    if not isinstance(model.policy, KnowsDeviations):
        return None
    rows = np.arange(width + 1)
    found = model.policy.order_deviations(Query("weights", np.vstack([np.eye(width), np.zeros(width)])), rows)
    return None if found is None else np.asarray(found[:-1, -1], dtype=np.float64)


def _own_order(model: Model, width: int) -> tuple[float, float] | None:
    """What the caller's own order is worth from the first to the last of typical candidates; its spread."""
    policy = model.policy
    if not policy.layout.extra:
        return None
    ends = np.array([0, TYPICAL - 1])
    query = Query("weights", np.zeros((TYPICAL, width)), caller_scores=callers_order(TYPICAL))
    spreads = policy.order_deviations(query, ends) if isinstance(policy, KnowsDeviations) else None
    first, last = policy.score(query)[ends].tolist()
    return first - last, float("nan") if spreads is None else float(spreads[0, 1])
