"""The doctor counts right, and warns where extraction is poor."""

from __future__ import annotations

import math
import re
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankloop.lab.reviews import Mention, ReadReview, auc, diagnose, extract, sample

PAIRS = st.lists(st.tuples(st.sampled_from([1.0, 2.0, 4.5, 5.0]), st.integers(-3, 3)), max_size=25)


def review(stars: float, *sentiments: int, user: str = "ada") -> ReadReview:
    said = tuple(Mention(f"aspect {n}", "good", each, "") for n, each in enumerate(sentiments))
    return ReadReview(user=user, item=f"item {stars}", rating=stars, mentions=said)


@given(PAIRS)
def test_auc_is_the_share_of_pairs_in_the_right_order(pairs: list[tuple[float, int]]) -> None:
    different = [sorted(two) for two in combinations(pairs, 2) if two[0][0] != two[1][0]]
    right = [(high[1] > low[1]) + (high[1] == low[1]) / 2 for low, high in different]
    found = auc([stars for stars, _ in pairs], [total for _, total in pairs])
    assert found == pytest.approx(sum(right) / len(right)) if right else math.isnan(found)


def test_the_sample_is_healthy() -> None:
    found = diagnose(extract(sample(), least=2))
    assert found.warnings() == []
    assert sum(praise for _, praise, _ in found.aspects) == found.praise
    assert sum(praise + complaints for _, praise, complaints in found.aspects) == found.mentions


@pytest.mark.parametrize(
    ("reviews", "warning"),
    [
        ([review(5, 1), review(4), review(3)], "only 33% of the reviews mention anything"),
        ([review(5, 1), review(1, -1)], "aspects kept: 1; try a smaller --least"),
        ([review(5, 1, 1), review(1, 1)], "100% of the mentions praise"),
        ([review(5, -1, -1), review(1, -1)], "0% of the mentions praise"),
        ([review(5, -1), review(1, 1)], r"hardly agree with the stars \(AUC 0.00"),
        ([review(5, 1), review(5, -1, user="ben")], "all reviews with mentions have the same stars"),
        ([review(5, 1), review(5, -1)], "1 reviews are of an item that the same user reviews again"),
        ([], "aspects kept: 0"),
    ],
)
def test_the_doctor_warns(reviews: list[ReadReview], warning: str) -> None:
    found = diagnose(reviews).warnings()
    assert any(re.search(warning, each) for each in found), found
