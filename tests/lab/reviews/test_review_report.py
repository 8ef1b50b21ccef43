"""The report counts right, and warns where reviews or extraction are poor."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankloop.lab.data.review_data import AccessoryShop, read_reviews
from rankloop.lab.reviews import compute_auc, extract, report_reviews, write_extracted
from rankloop.recommend.reviews import Mentions, Reviews
from tests.lab.reviews.samples import sample

PAIRS = st.lists(st.tuples(st.sampled_from([1.0, 2.0, 4.5, 5.0]), st.integers(-3, 3)), max_size=25)
SHOP = AccessoryShop(users=200, items=40).reviews()


def reviews_of(*told: tuple[float, tuple[int, ...]]) -> Reviews:
    """Reviews by one user each of one item, each with its stars and its sentiments."""
    rows = [row for row, (_, sentiments) in enumerate(told) for _ in sentiments]
    said = [sentiment for _, sentiments in told for sentiment in sentiments]
    count = max((len(sentiments) for _, sentiments in told), default=0)
    feature = [number for _, sentiments in told for number in range(len(sentiments))]
    return Reviews(
        user=np.arange(len(told)),
        item=np.zeros(len(told), int),
        rating=np.array([stars for stars, _ in told]),
        users=tuple(map(str, range(len(told)))),
        items=("lamp",),
        mentions=Mentions(np.array(rows, int), np.array(feature, int), np.array(said, int)),
        features=tuple(f"feature {number}" for number in range(count)),
    )


@given(PAIRS)
def test_auc_is_the_share_of_pairs_in_the_right_order(pairs: list[tuple[float, int]]) -> None:
    different = [sorted(two) for two in combinations(pairs, 2) if two[0][0] != two[1][0]]
    right = [(high[1] > low[1]) + (high[1] == low[1]) / 2 for low, high in different]
    found = compute_auc([stars for stars, _ in pairs], [total for _, total in pairs])
    assert found == pytest.approx(sum(right) / len(right)) if right else math.isnan(found)


def test_a_sample_is_counted(tmp_path: Path) -> None:
    extracted = extract(sample(), least=2)
    write_extracted(extracted, tmp_path / "out.jsonl")
    found = report_reviews(read_reviews(tmp_path / "out.jsonl"))
    said = [mention for review in extracted for mention in review.mentions]
    assert (found.reviews, found.mentions) == (len(extracted), len(said))
    assert sum(good for _, good, _ in found.features) == sum(each.sentiment > 0 for each in said)
    assert found.coverage == sum(bool(review.mentions) for review in extracted) / len(extracted)
    sums = [
        (review.rating, sum(m.sentiment for m in review.mentions)) for review in extracted if review.mentions
    ]
    assert found.auc == pytest.approx(compute_auc(*map(list, zip(*sums, strict=True))))
    assert found.auc > 0.8


@pytest.mark.parametrize(
    ("reviews", "warning"),
    [
        (reviews_of((5, (1,)), (4, ()), (3, ())), "only 33% of the reviews mention a feature"),
        (reviews_of((5, (1,)), (1, (-1,))), "features: 1; try a smaller --least"),
        (reviews_of((5, (1, 1)), (1, (1,))), "100% of the mentions praise"),
        (reviews_of((5, (-1, -1)), (1, (-1,))), "0% of the mentions praise"),
        (reviews_of((5, (-1,)), (1, (1,))), r"hardly agree with the stars \(AUC 0.00"),
        (reviews_of((5, (1,)), (5, (-1,))), "all reviews with mentions have the same stars"),
        (reviews_of((5, (1,)), (1, (-1,))), "1.0 reviews of a user in the mean"),
        (reviews_of((5, ()), (5, ())), "no review mentions a feature"),
        (replace(SHOP, titles=()), "items have no titles"),
        (replace(SHOP, time=None), "reviews have no time"),
        (replace(SHOP, rating=np.full(len(SHOP), 5.0)), "100% of the reviews have the same stars"),
    ],
)
def test_what_is_poor_is_said(reviews: Reviews, warning: str) -> None:
    found = report_reviews(reviews).warnings()
    assert any(re.search(warning, each) for each in found), found


def test_a_good_shop_has_nothing_to_warn_of() -> None:
    total = np.bincount(SHOP.mentions.review, SHOP.mentions.sentiment, len(SHOP))
    stars = np.clip(3.0 + total, 1.0, 5.0).astype(np.float64)
    assert report_reviews(replace(SHOP, rating=stars)).warnings() == []


def test_reviews_are_counted_and_all_that_is_poor_is_said(tmp_path: Path) -> None:
    found = report_reviews(SHOP)
    assert (found.reviews, found.users, found.items) == (len(SHOP), 200, len(set(SHOP.item)))
    assert sum(found.stars) == found.reviews
    assert sum(good + bad for _, good, bad in found.features) == found.mentions == len(SHOP.mentions)
    assert found.density == len(SHOP) / (found.users * found.items)
    path = tmp_path / "reviews.csv"
    path.write_text("user,item,rating\n" + "".join(f"u{n},i{n % 4},5\n" for n in range(12)))
    poor = " ".join(report_reviews(read_reviews(path)).warnings())
    for word in (
        "1.0 reviews of a user",
        "100% of the users have a single",
        "100% of the reviews have the same",
    ):
        assert word in poor
    for word in ("no review mentions a feature", "no titles", "no time"):
        assert word in poor
