"""Lists and both protocols against slow references."""

from __future__ import annotations

from dataclasses import dataclass
from math import log2

import numpy as np
import pytest

from rankloop.errors import SettingError
from rankloop.lab.data.review_data import AccessoryShop, by_share
from rankloop.recommend import MostPopular, find_top_items, rank_held_out
from rankloop.recommend.recommender import FactorModel
from rankloop.recommend.reviews import Reviews
from rankloop.types import FloatArray


@dataclass(kw_only=True, eq=False)
class Given(FactorModel):
    """Scores that are given."""

    def _learn(self, reviews: Reviews, rng: np.random.Generator) -> None:
        self.user_factors = rng.normal(size=(reviews.n_users, 3)).round(1)  # ties
        self.item_factors = rng.normal(size=(reviews.n_items, 3)).round(1)


def dcg(gains: list[float], k: int) -> float:
    return sum(gain / log2(1 + rank) for rank, gain in enumerate(gains[:k], 1))


def slow(
    scores: FloatArray, seen: set[int], truth: dict[int, float], k: int, size: int
) -> tuple[float, float]:
    """A@k and C2@k of one user, straight from their definitions."""
    order = sorted(
        (item for item in range(len(scores)) if item not in seen), key=lambda item: (-scores[item], item)
    )
    gains = [truth.get(item, 0.0) for item in order[:size]]
    plain = dcg(gains, k) / dcg(sorted(truth.values(), reverse=True), k)
    best = dcg(sorted(gains, reverse=True), k)
    return plain, dcg(gains, k) / best if best else float("nan")


@pytest.mark.parametrize("k", [1, 5, 10])
def test_both_protocols_follow_their_definitions(k: int) -> None:
    parts = by_share(AccessoryShop(users=40, items=120).reviews(), np.random.default_rng(1))
    model = Given().fit(parts.train, np.random.default_rng(2))
    known = [parts.train, parts.validation]
    lists = rank_held_out(model, parts.test, known=known)
    for row, user in enumerate(lists.users):
        seen = {int(item) for part in known for item in part.item[part.user == user]}
        mine = parts.test.user == user
        truth = dict(zip(parts.test.item[mine].tolist(), parts.test.rating[mine].tolist(), strict=True))
        expected = slow(model.score_users(np.array([user]))[0], seen, truth, k, 100)
        assert (lists.ndcg(k)[row], lists.released_ndcg(k)[row]) == pytest.approx(expected, nan_ok=True)


def test_everyone_with_a_held_out_review_counts_once() -> None:
    parts = by_share(AccessoryShop(users=40, items=24).reviews(), np.random.default_rng(1))
    lists = rank_held_out(
        MostPopular().fit(parts.train, np.random.default_rng(0)), parts.test, known=[parts.train]
    )
    assert lists.users.tolist() == sorted(set(parts.test.user.tolist()))
    assert np.isfinite(lists.ndcg(10)).all()


def test_an_item_that_was_never_reviewed_stays_in_the_ideal_list() -> None:
    parts = by_share(AccessoryShop(users=40, items=24).reviews(), np.random.default_rng(1))
    train = parts.train.select(parts.train.item != parts.test.item[0])
    lists = rank_held_out(
        MostPopular().fit(train, np.random.default_rng(0)), parts.test, known=[train], size=24
    )
    assert lists.ideal.sum() == parts.test.rating.sum()


def test_what_was_seen_is_never_recommended_and_lists_may_be_short() -> None:
    parts = by_share(AccessoryShop(users=20, items=12).reviews(), np.random.default_rng(1))
    lists = rank_held_out(
        MostPopular().fit(parts.train, np.random.default_rng(0)), parts.test, known=[parts.train]
    )
    for user, items in zip(lists.users, lists.items, strict=True):
        mine = set(parts.train.item[parts.train.user == user].tolist())
        assert not mine & set(items.tolist())
        assert sorted({*items.tolist(), *mine} - {-1}) == list(range(12))


def test_scores_that_are_no_numbers_are_refused() -> None:
    with pytest.raises(SettingError, match="no numbers"):
        find_top_items(np.array([[np.nan, 1.0]]), None, 1)
