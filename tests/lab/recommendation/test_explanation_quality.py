"""Quality of explanations follows its definitions, and the log-linear ranker beats every count."""

from __future__ import annotations

import numpy as np
import pytest

from rankloop.errors import SettingError
from rankloop.lab.data.review_data import AccessoryShop, by_share
from rankloop.lab.recommendation.explanation_quality import (
    feature_quality,
    past_item_necessity,
    score_features_of,
    word_shares,
)
from rankloop.lab.recommendation.feature_ranker import FeatureRanker, mark_mentioned
from rankloop.recommend import IALS, FacT
from rankloop.types import FloatArray

REVIEWS = AccessoryShop(users=120, items=36).reviews()
RNG = np.random.default_rng


def test_words_have_the_shares_of_what_was_said() -> None:
    mentions = REVIEWS.mentions
    good = (mentions.sentiment == 1) & (mentions.feature == 4)
    counts = np.bincount(mentions.word[good], minlength=9)
    by_feature, by_item = word_shares(REVIEWS, np.array([0, 5]), np.array([4, 1]))
    assert by_feature[0] == pytest.approx(counts / counts.sum())
    own = np.bincount(mentions.word[good & (REVIEWS.item[mentions.review] == 0)], minlength=9)
    assert by_item[0] == pytest.approx((own + 5 * by_feature[0]) / (own.sum() + 5))
    assert by_item.sum(axis=1) == pytest.approx(1)


def test_features_are_scored_review_by_review() -> None:
    model = FacT(d=6, depth=3, min_leaf=5).fit(REVIEWS, RNG(0))
    scores = score_features_of(model, REVIEWS)
    for row in range(0, len(REVIEWS), 97):
        profile = model.profile_user(int(REVIEWS.user[row]))
        expected = model.score_features(profile, REVIEWS.item[[row]])[0]
        assert scores[row] == pytest.approx(expected, abs=1e-12)


def test_the_ranker_of_features_beats_every_count() -> None:
    parts = by_share(AccessoryShop(users=300, items=60).reviews(), RNG(0))
    ranker = FeatureRanker.fit(parts.train, RNG(1), d=8)
    there = mark_mentioned(parts.test)

    def ndcg(scores: FloatArray) -> float:
        return feature_quality(scores, there, k=5).ndcg

    learned = ndcg(ranker.scores(parts.test.user, parts.test.item))
    by_item = parts.train.count_mentions("item").toarray()[parts.test.item].astype(float)
    by_user = parts.train.count_mentions("user").toarray()[parts.test.user].astype(float)
    popular = np.tile(mark_mentioned(parts.train).mean(axis=0), (len(parts.test), 1))
    assert learned > max(ndcg(by_item), ndcg(by_user), ndcg(popular))


def test_feature_quality_follows_its_definitions() -> None:
    there = np.array([[True, False, True, False], [False, False, False, True], [False] * 4])
    scores = np.array([[0.9, 0.8, 0.1, 0.0], [0.1, 0.9, 0.0, 0.2], [1.0, 0.0, 0.0, 0.0]])
    found = feature_quality(scores, there, k=2)
    second = 1 / np.log2(3)
    assert found.ndcg == pytest.approx((1 / (1 + second) + second) / 2)
    assert (found.precision, found.recall, found.matching) == pytest.approx((0.5, 0.75, 0.5))
    assert found.f1 == pytest.approx((0.5 + 2 / 3) / 2)
    assert found.coverage == 3 / 4
    assert found.overlap == 1.0  # both name the second feature


def test_the_strongest_past_item_matters_more_than_any() -> None:
    fitted = IALS(d=8).fit(REVIEWS, RNG(0))
    users = np.arange(0, 120, 6)
    strongest, anyone = (
        past_item_necessity(fitted, users, k=5),
        past_item_necessity(fitted, users, k=5, chosen=RNG(0)),
    )
    assert strongest.necessary > anyone.necessary
    assert strongest.sufficient > anyone.sufficient


def test_quality_is_not_measured_on_nothing() -> None:
    with pytest.raises(SettingError, match="no mention"):
        feature_quality(np.ones((1, 2)), np.zeros((1, 2), bool))
    with pytest.raises(SettingError, match="no such user"):
        past_item_necessity(IALS(d=4).fit(REVIEWS, RNG(0)), np.zeros(0, int))
