"""Explanations measured: features and words against held-out reviews, and reasons removed or kept alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict

import numpy as np
import polars as pl

from rankloop.lab.data.review_data import Parts
from rankloop.lab.recommendation.quality import feature_quality, past_item_necessity
from rankloop.recommend import IALS, Catalogue, FacT, JointFactorization, Recommender
from rankloop.recommend.feature_ranker import FeatureRanker, mentioned
from rankloop.recommend.phrases import Phrases
from rankloop.recommend.reviews import NO_WORD
from rankloop.types import FloatArray

OWN_FEATURES = 5  # models choose among an item's own features, if it has more than these


def feature_table(
    parts: Parts, models: Mapping[str, Recommender], *, d: int = 64, k: int = 10
) -> pl.DataFrame:
    """How well features of held-out reviews are ranked, by counts, by models and by the log-linear ranker."""
    train, test = parts.train, parts.test
    by_item, by_user = (train.counts(kind).toarray().astype(float) for kind in ("item", "user"))
    base = mentioned(train).mean(axis=0)
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
        found = model.aspect_scores(test.user, test.item)
        scores[name] = np.where(many[:, None] & ~own, -np.inf, found)
    there = mentioned(test)
    rows = [
        {"features by": name, **asdict(feature_quality(each, there, k=k))} for name, each in scores.items()
    ]
    return pl.DataFrame(rows).sort("ndcg", descending=True)


def phrase_table(parts: Parts, models: Mapping[str, JointFactorization], *, k: int = 10) -> pl.DataFrame:
    """How well words of held-out reviews are ranked; restricted models choose among words of the feature."""
    mentions = parts.test.mentions
    inside = (mentions.word != NO_WORD) & (mentions.sentiment == 1)
    if (
        not inside.any()
    ):  # published test reviews come without words: some of the training reviews are held out
        keep = np.random.default_rng(47).random(len(parts.train)) < 0.9
        parts = Parts(parts.train.take(keep), parts.validation, parts.train.take(~keep))
        mentions = parts.test.mentions
        inside = (mentions.word != NO_WORD) & (mentions.sentiment == 1)
    user, item = parts.test.user[mentions.review[inside]], parts.test.item[mentions.review[inside]]
    feature, word = mentions.feature[inside], mentions.word[inside]
    phrases = Phrases.of(Catalogue.of(parts.train))
    there = np.zeros((len(word), len(parts.train.words)), bool)
    there[np.arange(len(word)), word] = True
    scores = {
        "P(word | feature)": phrases.by_feature[feature],
        "P(word | item, feature)": phrases.scores(item, feature),
    }
    for name, model in models.items():
        fitted = model.fit(parts.train, np.random.default_rng(0))
        found = fitted.word_scores(user, item, feature)
        scores[f"{name}, restricted"] = np.where(phrases.by_feature[feature] > 0, found, -np.inf)
        scores[f"{name}, unrestricted"] = found
    rows = [(name, round(feature_quality(each, there, k=k).ndcg, 4)) for name, each in scores.items()]
    return pl.DataFrame(rows, schema=["words by", f"N@{k}"], orient="row").sort(f"N@{k}", descending=True)


def necessity_table(parts: Parts, models: Mapping[str, IALS | FacT], *, users: int = 100) -> pl.DataFrame:
    """Whether items leave the top 10 without their strongest past item (PN), and stay with it alone (PS)."""
    rows = []
    chosen = np.unique(parts.test.user)[:users]
    for name, model in models.items():
        fitted = model.fit(parts.train, np.random.default_rng(0))
        for reason, rng in (("strongest", None), ("random", np.random.default_rng(0))):
            found = past_item_necessity(fitted, chosen, chosen=rng)
            rows.append((name, reason, round(found.necessary, 3), round(found.sufficient, 3)))
    return pl.DataFrame(rows, schema=["model", "past item", "PN", "PS"], orient="row")
