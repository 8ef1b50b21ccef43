"""Quality of explanations: whether they name what people write about, and whether the score needs them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankloop.errors import SettingError
from rankloop.recommend.fact import FacT
from rankloop.recommend.held_out_ranking import best_items
from rankloop.recommend.ials import IALS
from rankloop.recommend.recommender import Taste
from rankloop.types import BoolArray, FloatArray, IntArray


@dataclass(frozen=True, slots=True)
class FeatureQuality:
    """How well the first k features of explanations match the features that held-out reviews mention."""

    ndcg: float
    precision: float
    recall: float
    f1: float
    matching: float  # FMR: the first feature is one that the review mentions
    coverage: float  # FCR: share of all features that are ever named
    overlap: float  # DIV: features that two explanations share, on average; less is more diverse


def feature_quality(scores: FloatArray, there: BoolArray, *, k: int = 10) -> FeatureQuality:
    """Compare scored features, [n, n_features], with those that each review mentions.

    >>> there = np.array([[True, False, True]])
    >>> round(feature_quality(np.array([[0.3, 0.9, 0.1]]), there, k=2).precision, 2)
    0.5
    """
    asked = there.any(axis=1)
    if not asked.any():
        raise SettingError("features are compared with those that reviews mention, found no mention")
    scores, there = scores[asked], there[asked]
    k = min(k, scores.shape[1])
    order = np.argsort(-scores, axis=1, kind="stable")[:, :k]
    hits = np.take_along_axis(there, order, axis=1)
    count, discount = there.sum(axis=1), 1 / np.log2(np.arange(2, k + 2))
    ideal = np.cumsum(discount)[np.minimum(count, k) - 1]
    precision, recall = hits.mean(axis=1), hits.sum(axis=1) / count
    both = np.maximum(precision + recall, 1e-300)
    named = np.bincount(order.ravel(), minlength=scores.shape[1])
    n = len(order)
    return FeatureQuality(
        ndcg=float((hits @ discount / ideal).mean()),
        precision=float(precision.mean()),
        recall=float(recall.mean()),
        f1=float((2 * precision * recall / both).mean()),
        matching=float(hits[:, 0].mean()),
        coverage=float((named > 0).mean()),
        overlap=float((named * (named - 1)).sum() / max(n * (n - 1), 1)),
    )


@dataclass(frozen=True, slots=True)
class Necessity:
    """Whether recommended items leave the list without their reason (PN), and stay with nothing else (PS)."""

    necessary: float
    sufficient: float


def past_item_necessity(
    model: IALS | FacT, users: IntArray, *, k: int = 10, chosen: np.random.Generator | None = None
) -> Necessity:
    """Remove, or keep alone, the past item that adds most to each of the top k, or one that is drawn."""
    left, stayed = [], []
    for user in users.tolist():
        past = model.past(user)
        if len(past) < 2:
            continue
        taste = model.taste_of(user)
        for item in _top(model, taste, past, k):
            reason = _reason(model, taste, item, chosen)
            left.append(item not in _top(model, model.taste(past[past != reason]), past, k))
            stayed.append(item in _top(model, model.taste([reason]), past, k))
    if not left:
        raise SettingError("reasons can be removed from users with two past items, found no such user")
    return Necessity(float(np.mean(left)), float(np.mean(stayed)))


def _reason(model: IALS | FacT, taste: Taste, item: int, chosen: np.random.Generator | None) -> int:
    if chosen is not None:
        return int(chosen.choice(taste.items))
    parts = [part for part in model.reasons(taste, item).parts if part.kind == "past item"]
    return max(parts, key=lambda part: part.amount).index


def _top(model: IALS | FacT, taste: Taste, seen: IntArray, k: int) -> list[int]:
    scores = np.array(model.score_taste(taste))
    scores[seen] = -np.inf
    return [int(each) for each in best_items(scores[None], None, k)[0]]
