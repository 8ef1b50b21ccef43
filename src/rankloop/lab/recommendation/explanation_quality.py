"""Quality of explanations: features, words and past items, against what held-out reviews say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass

import numpy as np
import polars as pl
from scipy import sparse

from rankloop.errors import SettingError
from rankloop.lab.data.review_data import Parts
from rankloop.lab.recommendation.feature_ranker import FeatureRanker, mark_mentioned
from rankloop.metrics.rank_discounts import rank_discounts
from rankloop.recommend import (
    IALS,
    FacT,
    JointFactorization,
    Recommender,
    UserProfile,
    find_top_items,
)
from rankloop.recommend.reviews import NO_WORD, Reviews
from rankloop.types import BoolArray, FloatArray, IntArray

OWN_FEATURES = 5  # models choose among an item's own features, if it has more than these


def feature_table(
    parts: Parts, models: Mapping[str, Recommender], *, d: int = 64, k: int = 10
) -> pl.DataFrame:
    """Measure how well counts, models and the log-linear ranker rank features of held-out reviews."""
    train, test = parts.train, parts.test
    by_item, by_user = (train.count_mentions(kind).toarray().astype(float) for kind in ("item", "user"))
    base = mark_mentioned(train).mean(axis=0)
    scores: dict[str, FloatArray] = {
        "popular": np.tile(base, (len(test), 1)),
        "the user's": by_user[test.user] + base,
        "the item's": by_item[test.item] + base,
        "log-linear, 10 sources": FeatureRanker.fit(train, np.random.default_rng(0), d=d).scores(
            test.user, test.item
        ),
    }
    own = by_item[test.item] > 0
    many = own.sum(axis=1) > OWN_FEATURES
    for name, model in models.items():
        found = score_features_of(model, test)
        scores[name] = np.where(many[:, None] & ~own, -np.inf, found)
    there = mark_mentioned(test)
    rows = [
        {"features by": name, **asdict(feature_quality(each, there, k=k))} for name, each in scores.items()
    ]
    return pl.DataFrame(rows).sort("ndcg", descending=True)


def phrase_table(parts: Parts, models: Mapping[str, JointFactorization], *, k: int = 10) -> pl.DataFrame:
    """Measure how well words of held-out reviews are ranked; restricted models choose among the feature's."""
    mentions = parts.test.mentions
    inside = (mentions.word != NO_WORD) & (mentions.sentiment == 1)
    if (
        not inside.any()
    ):  # published test reviews come without words: some of the training reviews are held out
        keep = np.random.default_rng(47).random(len(parts.train)) < 0.9
        parts = Parts(parts.train.select(keep), parts.validation, parts.train.select(~keep))
        mentions = parts.test.mentions
        inside = (mentions.word != NO_WORD) & (mentions.sentiment == 1)
    user, item = parts.test.user[mentions.review[inside]], parts.test.item[mentions.review[inside]]
    feature, word = mentions.feature[inside], mentions.word[inside]
    by_feature, by_item = word_shares(parts.train, item, feature)
    there = np.zeros((len(word), len(parts.train.words)), bool)
    there[np.arange(len(word)), word] = True
    scores = {
        "P(word | feature)": by_feature,
        "P(word | item, feature)": by_item,
    }
    for name, model in models.items():
        fitted = model.fit(parts.train, np.random.default_rng(0))
        found = fitted.score_words(user, item, feature)
        scores[f"{name}, restricted"] = np.where(by_feature > 0, found, -np.inf)
        scores[f"{name}, unrestricted"] = found
    rows = [(name, round(feature_quality(each, there, k=k).ndcg, 4)) for name, each in scores.items()]
    return pl.DataFrame(rows, schema=["words by", f"N@{k}"], orient="row").sort(f"N@{k}", descending=True)


def necessity_table(parts: Parts, models: Mapping[str, IALS | FacT], *, users: int = 100) -> pl.DataFrame:
    """Measure whether items leave the top 10 without their strongest past item, and stay with it alone."""
    rows = []
    chosen = np.unique(parts.test.user)[:users]
    for name, model in models.items():
        fitted = model.fit(parts.train, np.random.default_rng(0))
        for reason, rng in (("strongest", None), ("random", np.random.default_rng(0))):
            found = past_item_necessity(fitted, chosen, chosen=rng)
            rows.append((name, reason, round(found.necessary, 3), round(found.sufficient, 3)))
    return pl.DataFrame(rows, schema=["model", "past item", "PN", "PS"], orient="row")


def score_features_of(model: Recommender, reviews: Reviews) -> FloatArray:
    """Score the features of each reviewed item for its user, [n_reviews, n_features]."""
    scores = np.zeros((len(reviews), len(reviews.features)))
    for user in np.unique(reviews.user).tolist():
        rows = np.flatnonzero(reviews.user == user)
        scores[rows] = model.score_features(model.profile_user(user), reviews.item[rows])
    return scores


def word_shares(
    reviews: Reviews, items: IntArray, features: IntArray, *, smoothing: float = 5.0
) -> tuple[FloatArray, FloatArray]:
    r"""Return how likely each word is to praise a feature, and a feature of an item, both [n, n_words].

    $P(w \mid j, k) = (n_{jkw} + \alpha P(w \mid k)) / (n_{jk} + \alpha)$.

    >>> from rankloop.lab.data.review_data import AccessoryShop
    >>> reviews = AccessoryShop(users=60, items=24).reviews()
    >>> [each.shape for each in word_shares(reviews, np.array([3]), np.array([5]))]
    [(1, 9), (1, 9)]
    """
    mentions, k, n = reviews.mentions, len(reviews.features), len(reviews.words)
    inside = (mentions.word != NO_WORD) & (mentions.sentiment == 1)
    feature, word = mentions.feature[inside], mentions.word[inside]
    total = np.bincount(feature * n + word, minlength=k * n).reshape(k, n).astype(float)
    by_feature = (total / np.maximum(total.sum(axis=1, keepdims=True), 1))[features]
    cell = reviews.item[mentions.review[inside]] * k + feature
    shape = (reviews.n_items * k, n)
    own = sparse.csr_array((np.ones(len(cell)), (cell, word)), shape=shape)[items * k + features].toarray()
    return by_feature, (own + smoothing * by_feature) / (own.sum(axis=1, keepdims=True) + smoothing)


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
    count, discount = there.sum(axis=1), rank_discounts(k)
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
        profile = model.profile_user(user)
        for item in _top(model, profile, past, k):
            reason = _choose_reason(model, profile, item, chosen)
            left.append(item not in _top(model, model.profile_newcomer(past[past != reason]), past, k))
            stayed.append(item in _top(model, model.profile_newcomer([reason]), past, k))
    if not left:
        raise SettingError("reasons can be removed from users with two past items, found no such user")
    return Necessity(float(np.mean(left)), float(np.mean(stayed)))


def _choose_reason(
    model: IALS | FacT, profile: UserProfile, item: int, chosen: np.random.Generator | None
) -> int:
    if chosen is not None:
        return int(chosen.choice(profile.items))
    parts = model.split_scores(profile, np.array([item]))
    past = [
        (amount, source.index)
        for source, amount in zip(parts.sources, parts.amounts[0], strict=True)
        if source.kind == "past item"
    ]
    return max(past, key=lambda part: part[0])[1]


def _top(model: IALS | FacT, profile: UserProfile, seen: IntArray, k: int) -> list[int]:
    scores = np.array(model.score_profile(profile))
    scores[seen] = -np.inf
    return [int(each) for each in find_top_items(scores[None], None, k)[0]]
