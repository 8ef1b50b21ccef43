"""Views, shares, rules and candidates that make no sense are refused before a list is made of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from rankloop.errors import RankingError, RankloopError, SettingError
from rankloop.exposure import (
    AccountRule,
    check_examination,
    choose_template,
    discounted_views,
    draw_deep,
    due_views,
    least_tolerance,
    merge_fairly,
    split_into_pages,
    views_at,
)
from rankloop.exposure.group_accounts import check_shares, group_codes

VIEWS = views_at("log2", 3)
CERTAIN = np.triu(np.ones((4, 4), dtype=bool), 1)
GROUPS, DRAWN = np.array([0, 0, 1, 1]), np.arange(4)
RNG = np.random.default_rng
NO_PAGES: list[list[list[int]]] = [[], [[]], [[2]], [[4]], [[0, 3]], [[-1, 4]]]


@pytest.mark.parametrize(
    "examination",
    [
        "LOG2",
        "__import__('os')",
        (),
        (np.nan,),
        (0.0,),
        (1.0, 2.0),
        (1.0, -0.1),
        (np.inf, 1.0),
        ("a",),
        None,
        5,
    ],
    ids=repr,
)
def test_an_examination_nobody_knows_is_refused_wherever_it_is_used(examination: Any) -> None:
    with pytest.raises(SettingError, match="examination must be"):
        check_examination(examination)
    with pytest.raises(SettingError, match="examination must be"):
        views_at(examination, 2)


@pytest.mark.parametrize("k", [0, -1, 1.5, "2", None])
def test_a_list_has_one_position_or_more(k: Any) -> None:
    for examination in ("log2", "reciprocal", (1.0, 0.5)):
        with pytest.raises(RankingError, match="1 or more"):
            views_at(examination, k)
    with pytest.raises(RankingError, match="1 or more"):
        discounted_views(k)


@pytest.mark.parametrize(
    ("shares", "counts"),
    [
        ([np.nan, 0.5], [2, 2]),
        ([np.inf, 0.5], [2, 2]),
        ([1e308, 1e308], [2, 2]),
        ([-1.0, 1.0], [2, 2]),
        ([0.5, 0.5], [-2, 5]),
        ([0.5, 0.5], [1, 1]),
        ([0.5], [2, 2]),
    ],
)
def test_views_are_due_by_shares_and_to_candidates(shares: list[float], counts: list[int]) -> None:
    with pytest.raises(RankingError, match="a share of 0 or more, and every position a candidate"):
        due_views(np.array(shares), VIEWS, np.array(counts))


def test_without_views_no_tolerance_is_the_least() -> None:
    for views in (np.zeros(0, int), np.array([-5])):
        with pytest.raises(RankingError, match="whole millionths"):
            least_tolerance(views)


def a_rule(**changes: Any) -> AccountRule:
    parts = {"views": VIEWS, "ahead": np.zeros(2, int), "due": lambda p: np.full(2, VIEWS[:p].sum() // 2)}
    return AccountRule(**{"tolerance": 100_000, "pages": [[3]], **parts, **changes})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        *(({"tolerance": value}, "tolerance must be") for value in (-1, np.nan, np.inf)),
        *(({"pages": pages}, "fill 3 positions") for pages in NO_PAGES),
        ({"ahead": np.zeros(0, int)}, "for 0 groups"),
    ],
)
def test_a_rule_that_no_list_can_keep_to_is_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(RankloopError, match=message):
        a_rule(**changes)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        *(
            ({"drawn": np.array(drawn)}, "different candidates")
            for drawn in ([0, 1], [0, 0, 1, 1], [0, 9, 1, 2])
        ),
        ({"drawn": np.array([0, -1, 1, 2])}, "different candidates"),
        *(
            ({"groups": np.array(groups)}, "a group from 0 to 1")
            for groups in ([0, 1], [0, -1, 1, 1], [0, 5, 1, 1])
        ),
        ({"certain": CERTAIN[:2, :2]}, "whether their order is certain"),
        ({"certain": CERTAIN * np.nan}, "whether their order is certain"),
        ({"ties": "first"}, "ties must be random or least"),
    ],
)
def test_a_list_is_merged_of_candidates_that_exist(changes: dict[str, Any], message: str) -> None:
    parts: dict[str, Any] = {"drawn": DRAWN, "groups": GROUPS, "certain": CERTAIN, **changes}
    with pytest.raises(RankloopError, match=message):
        merge_fairly(rule=a_rule(), rng=RNG(0), **parts)
    assert merge_fairly(DRAWN, GROUPS, CERTAIN, a_rule(), rng=RNG(0)).order.tolist() == [2, 0, 1]


DRAWS: list[tuple[Callable[[], object], str]] = [
    (lambda: draw_deep(np.ones((4, 4), dtype=bool), GROUPS, 2, RNG(0)), "contradict each other"),
    (lambda: draw_deep(CERTAIN, GROUPS, -1, RNG(0)), "0 or more"),
    (lambda: draw_deep(CERTAIN, GROUPS[:2], 2, RNG(0)), "a group for each candidate"),
    (lambda: split_into_pages(-1, 2), "0 positions or more"),
    (lambda: split_into_pages(10, 0), "one group or more"),
    (lambda: choose_template(np.zeros(0), np.zeros(0), 1, RNG(0), "random"), "chosen among some"),
    (lambda: choose_template(np.zeros(2), np.zeros(3), 1, RNG(0), "random"), "each with a cost"),
]


@pytest.mark.parametrize(("draw", "message"), DRAWS)
def test_what_cannot_be_drawn_is_refused(draw: Callable[[], object], message: str) -> None:
    with pytest.raises(RankingError, match=message):
        draw()


@pytest.mark.parametrize(
    "shares",
    [
        *(
            "fair",
            (),
            None,
            5,
            [("a", 1.0)],
            ("a", "b"),
            (("a", "b"),),
            (("a", True),),
            ((1, 1.0),),
            (([], 1.0),),
        ),
        *((("a", value),) for value in (np.nan, np.inf, -1, 0, 1e308)),
        (("a", 1), ("a", 2)),
    ],
    ids=repr,
)
def test_shares_are_a_rule_or_a_number_for_each_group(shares: Any) -> None:
    with pytest.raises(SettingError, match="shares must be equal, candidates or a share for each group"):
        check_shares(shares)


@pytest.mark.parametrize("groups", [([],), ("a", 1)])
def test_groups_are_texts(groups: Any) -> None:
    with pytest.raises(RankingError, match="the group of a candidate is a text"):
        group_codes(groups)
