"""Reviews, users, items, answers and lists that make no sense are refused in one sentence."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from rankloop.errors import DataError, RequestError, SettingError
from rankloop.lab.data.review_data import AccessoryShop
from rankloop.lab.recommenders import FMF
from rankloop.recommend import (
    IALS,
    MTER,
    Catalogue,
    EvidenceALS,
    FacT,
    FittedRecommender,
    MostPopular,
    Recommender,
    ask_next,
    explain_items,
    find_top_items,
    rank_held_out,
    read_answers,
)
from rankloop.recommend.reviews import Mentions, Reviews

REVIEWS, OTHERS = (AccessoryShop(users=users, items=24).reviews() for users in (60, 30))
SMALLER = AccessoryShop(users=60, items=12).reviews()
NAN = float("nan")
KINDS: dict[str, Recommender] = {
    "MostPopular": MostPopular(),
    "IALS": IALS(d=6),
    "EvidenceALS": EvidenceALS(d=6),
    "FacT": FacT(d=6, depth=3, min_leaf=5),
    "MTER": MTER(dims=(3, 3, 3, 3), iterations=5),
    "FMF": FMF(d=6, depth=3, min_leaf=5),
}
NO_USERS: list[list[Any]] = [[0.0, 0, 1], [NAN, 0, 1], [-1, 0, 1], [0, 0, 9], ["a"] * 3]
NO_RATINGS: list[list[Any]] = [[NAN, 3, 4], [0, 3, 4], ["5", "3", "4"], [True] * 3]
PLACING = [name for name, kind in KINDS.items() if kind.places_newcomers]


@pytest.fixture(scope="module")
def models() -> dict[str, FittedRecommender]:
    shop = Catalogue.of(REVIEWS)
    return {
        name: FittedRecommender(kind.fit(REVIEWS, np.random.default_rng(0)), shop, "digest")
        for name, kind in KINDS.items()
    }


def some_reviews(**changes: Any) -> Reviews:
    parts: dict[str, Any] = {
        "user": np.array([0, 0, 1]),
        "item": np.array([0, 1, 1]),
        "rating": np.array([5.0, 3.0, 4.0]),
        "users": ("anna", "ben"),
        "items": ("case", "cable"),
        "features": ("fit",),
        "tokens": ("slim",),
    }
    return Reviews(**{**parts, **changes})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        *(
            ({"user": np.array(user)}, "user")
            for user in ([0.0, 0, 1], [NAN, 0, 1], [-1, 0, 1], [0, 0, 9], ["a"] * 3)
        ),
        ({"user": [0, 0, 1]}, "the user of every review must be whole numbers, as one array"),
        ({"user": np.zeros((1, 3), int)}, "the user of every review"),
        ({"item": np.array([None, 1, 1])}, "the item of every review"),
        *(
            ({"rating": np.array(rating)}, "rating")
            for rating in ([NAN, 3, 4], [0, 3, 4], ["5", "3", "4"], [True] * 3)
        ),
        ({"time": np.array([NAN, 1, 2])}, "the time of every review must be whole numbers"),
        ({"highest": NAN}, "the highest rating"),
        ({"highest": "5"}, "the highest rating"),
        *(({"users": users}, "users must") for users in ("ab", ("anna", "anna"), (1, 2), None)),
        ({"items": ("case", "case")}, "items must have different names"),
        ({"features": "fit"}, "features must be a sequence of texts"),
        ({"attributes": np.zeros((2, 1))}, "as a sparse array"),
        ({"attributes": sparse.csr_array((3, 3))}, "attributes must be 2 items x 1 tokens"),
        ({"attributes": sparse.csr_array(np.full((2, 1), NAN))}, "attributes must be finite"),
    ],
)
def test_reviews_are_numbers_of_names_that_differ(changes: dict[str, Any], message: str) -> None:
    assert len(some_reviews()) == 3
    with pytest.raises(DataError, match=message):
        some_reviews(**changes)


@pytest.mark.parametrize("review", [np.array([0.0]), np.array(["a"]), np.array([[0]])])
def test_a_mention_is_of_the_row_of_a_review(review: Any) -> None:
    with pytest.raises(DataError, match="the review of mentions must be whole numbers"):
        Mentions(review, np.array([0]), np.array([1]))


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("user", [-1, 60, 1.5, NAN, "a", None, True], ids=repr)
def test_a_user_is_a_row_that_was_learned_from(
    name: str, user: Any, models: dict[str, FittedRecommender]
) -> None:
    with pytest.raises(SettingError, match="users are whole numbers from 0 to 59"):
        models[name].model.profile_user(user)


NO_ITEMS: list[Any] = [[-1], [24], [1.7], [NAN], ["a"], [None], [True], [[1]], [2**70], 5, None]


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("items", NO_ITEMS, ids=repr)
def test_items_are_rows_of_the_catalogue(name: str, items: Any, models: dict[str, FittedRecommender]) -> None:
    fitted = models[name]
    with pytest.raises(SettingError, match="items are whole numbers from 0 to 23"):
        explain_items(fitted, fitted.model.profile_user(0), items)
    if name in PLACING:
        with pytest.raises(SettingError, match="items are whole numbers from 0 to 23"):
            fitted.model.profile_newcomer(items)


@pytest.mark.parametrize("name", PLACING)
@pytest.mark.parametrize(
    "answers",
    [
        {"a": 1},
        {0: NAN},
        {0: "much"},
        {0: True},
        {0: 2},
        {NAN: 1},
        {0.5: 1},
        {-1: 1},
        {None: 1},
        {0: None},
        [1],
        "x",
        5,
    ],
    ids=repr,
)
def test_answers_are_much_little_or_skipped(
    name: str, answers: Any, models: dict[str, FittedRecommender]
) -> None:
    with pytest.raises(SettingError, match=r"answers are 1 \(much\), -1 \(little\) or 0 \(skipped\)"):
        models[name].model.profile_newcomer((), answers)


@pytest.mark.parametrize("name", KINDS)
def test_users_and_lists_are_of_the_shop_that_was_learned_from(
    name: str, models: dict[str, FittedRecommender]
) -> None:
    model = models[name].model
    with pytest.raises(SettingError, match="learned from reviews of 24 items, found reviews of 12"):
        model.with_users_of(SMALLER)
    for held_out, known in ((SMALLER, []), (OTHERS, []), (REVIEWS, [OTHERS])):
        with pytest.raises(SettingError, match="reviews of the same 60 users and 24 items"):
            rank_held_out(model, held_out, known=known)


@pytest.mark.parametrize("answer", ["maybe", "MUCH", "", None, 1, ["much"]], ids=repr)
@pytest.mark.parametrize("asks", [ask_next, read_answers])
def test_an_interview_takes_the_words_of_its_choices(
    asks: Callable[[FittedRecommender, Any], object], answer: Any, models: dict[str, FittedRecommender]
) -> None:
    fitted = models["FacT"]
    first = ask_next(fitted, {}).question
    assert first is not None
    with pytest.raises(RequestError, match="an answer is much, little, skip, found"):
        asks(fitted, {first.question: answer})
    for answers in (None, [first.question], "much"):
        with pytest.raises(RequestError, match="answers stand by question"):
            asks(fitted, answers)
    with pytest.raises(RequestError, match="was not asked"):
        asks(fitted, {"__import__('os')": "much"})


@pytest.mark.parametrize("size", [0, -1, 1.5, "2", None], ids=repr)
def test_a_list_has_one_item_or_more(size: Any, models: dict[str, FittedRecommender]) -> None:
    lists = rank_held_out(models["IALS"].model, REVIEWS, known=[], size=5)
    calls: list[Callable[[], object]] = [
        lambda: lists.ndcg(size),
        lambda: lists.released_ndcg(size),
        lambda: find_top_items(np.eye(3), None, size),
    ]
    for call in calls:
        with pytest.raises(SettingError, match="1 or more"):
            call()


@pytest.mark.parametrize("scores", [np.zeros(3), np.zeros((2, 0)), np.full((1, 2), NAN)])
def test_scores_are_numbers_of_users_and_items(scores: Any) -> None:
    with pytest.raises(SettingError, match=r"scores (are a row|that are no numbers)"):
        find_top_items(scores, None, 1)


@pytest.mark.parametrize("name", KINDS)
def test_what_is_refused_changes_nothing(name: str, models: dict[str, FittedRecommender]) -> None:
    model = models[name].model
    before = {key: value.copy() for key, value in model.state().items()}
    for call in (lambda: model.profile_user(-1), lambda: model.with_users_of(SMALLER)):
        with pytest.raises(SettingError):
            call()
    with pytest.raises(SettingError, match="no reviews"):
        replace(KINDS[name]).fit(REVIEWS.select(np.zeros(len(REVIEWS), bool)), np.random.default_rng(0))
    assert all((model.state()[key] == value).all() for key, value in before.items())
