"""What is no log, no level and no column of numbers is refused in one sentence before anything is done."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from rankloop.errors import DataError, SettingError
from rankloop.evaluation import (
    ClickAccount,
    LoggedList,
    WeightedLog,
    anytime_bound,
    anytime_lower,
    difference_sequence,
    draw_probabilities,
    estimate_rewards,
    greedy_probabilities,
    mean_sequence,
    student_interval,
    weigh_lists,
    win_sequence,
)
from rankloop.policies import PDGD, PairRank, Policy, Random
from rankloop.types import FloatArray, IntArray, Query

ONES = np.ones((2, 1))
VALUES, WINS = np.array([0.0, 1.0, 1.0]), np.array([False, True, True])
QUERY = Query("q", np.eye(3))
ACCOUNT = ClickAccount(share=0.9, chance=0.05, own=0.5)

WITH_LEVEL: dict[str, Callable[[Any], object]] = {
    "estimate_rewards": lambda level: estimate_rewards(WeightedLog(ONES, ONES, ONES, ONES), level),
    "student_interval": lambda level: student_interval("clicks", VALUES, level),
    "anytime_lower": lambda level: anytime_lower(VALUES, level),
    "anytime_bound": lambda level: anytime_bound(VALUES, level),
    "mean_sequence": lambda level: mean_sequence(VALUES, level=level),
    "win_sequence": lambda level: win_sequence(WINS, level=level),
    "difference_sequence": lambda level: difference_sequence(VALUES, WINS, share=0.5, level=level),
    "the share of an arm": lambda share: difference_sequence(VALUES, WINS, share=share),
}
OF_VALUES: dict[str, Callable[[Any], object]] = {
    "student_interval": lambda values: student_interval("clicks", values),
    "anytime_lower": anytime_lower,
    "anytime_bound": anytime_bound,
    "mean_sequence": mean_sequence,
    "difference_sequence": lambda values: difference_sequence(values, WINS, share=0.5),
    "win_sequence": win_sequence,
}
NO_COLUMNS = [np.full(3, np.nan), np.array([np.inf, 0, 0]), np.full(3, 1e300), np.eye(3), np.array("a"), None]


@pytest.mark.parametrize("name", WITH_LEVEL)
@pytest.mark.parametrize("level", [0, 1, -1, 2, np.nan, np.inf, True, "0.9", None])
def test_a_level_is_a_number_between_0_and_1(name: str, level: Any) -> None:
    with pytest.raises(SettingError, match="must be between 0 and 1"):
        WITH_LEVEL[name](level)


@pytest.mark.parametrize("name", OF_VALUES)
@pytest.mark.parametrize("values", NO_COLUMNS, ids=lambda values: repr(values)[:20])
def test_values_are_one_column_of_finite_numbers(name: str, values: Any) -> None:
    with pytest.raises(DataError, match=r"must be (one column of|finite numbers)"):
        OF_VALUES[name](values)


@pytest.mark.parametrize("name", ["student_interval", "anytime_bound"])
def test_of_nothing_there_is_no_estimate(name: str) -> None:
    with pytest.raises(DataError, match="needs at least one value"):
        OF_VALUES[name](np.zeros(0))


@pytest.mark.parametrize("clusters", [np.zeros(2), np.zeros(4), np.zeros((1, 3))])
def test_every_value_has_a_cluster(clusters: IntArray) -> None:
    with pytest.raises(DataError, match="every value needs a cluster"):
        student_interval("clicks", VALUES, clusters=clusters)


@pytest.mark.parametrize("bounds", [(1, 0), (np.nan, 1), (0, np.inf), ("a", 1), (0, None)], ids=repr)
def test_bounds_are_two_numbers(bounds: tuple[Any, Any]) -> None:
    with pytest.raises(SettingError, match="the lower one first"):
        mean_sequence(VALUES, low=bounds[0], high=bounds[1])


@pytest.mark.parametrize(
    ("tables", "message"),
    [
        ([np.zeros((0, 1))] * 4, "four tables"),
        ([np.zeros((2, 0))] * 4, "four tables"),
        ([np.ones(2)] * 4, "four tables"),
        ([ONES, np.ones((3, 1)), ONES, ONES], "four tables"),
        ([np.ones((2, 2)), ONES, ONES, ONES], "four tables"),
        ([ONES * np.nan, ONES, ONES, ONES], "rewards must be finite numbers"),
        ([ONES, ONES * np.inf, ONES, ONES], "weights must be finite numbers"),
        ([ONES * 1e300, ONES * 1e300, ONES, ONES], "rewards must be finite numbers"),
        ([ONES, -ONES, ONES, ONES], "weights must be 0 or more, found -1"),
        ([np.array([["a"], ["b"]]), ONES, ONES, ONES], "rewards must be finite numbers"),
    ],
)
def test_a_weighted_log_is_four_tables_of_one_form(tables: list[FloatArray], message: str) -> None:
    with pytest.raises(DataError, match=message):
        WeightedLog(*tables)


@pytest.mark.parametrize(
    "change",
    [{name: value} for name in ("share", "chance", "own") for value in (0.0, 1.0, np.nan, "a")]
    + [{"own": 1e-300}, {"own": 0.95}, {"held": -1}, {"squares": np.nan}, {"due": np.inf}],
    ids=repr,
)
def test_an_account_that_cannot_be_kept_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(SettingError, match="an account"):
        ClickAccount(**{"share": 0.9, "chance": 0.05, "own": 0.5, **change})


@pytest.mark.parametrize(("arm", "clicked"), [("caller", True), (None, True), ("held", 2), ("held", np.nan)])
def test_a_search_is_of_an_arm_and_got_a_click_or_none(arm: Any, clicked: Any) -> None:
    with pytest.raises(SettingError, match="a search is held, owned, learned"):
        ACCOUNT.after(arm, clicked=clicked)
    with pytest.raises(SettingError, match="0 or more"):
        ACCOUNT.allows(pending=-1, advance=0)
    with pytest.raises(SettingError, match="a number of clicks"):
        ACCOUNT.allows(pending=0, advance=np.nan)


@pytest.mark.parametrize("policy", [Random(), PDGD(), PairRank(), PairRank(exploration="random")], ids=repr)
def test_when_all_are_shown_nothing_can_be_next(policy: Policy) -> None:
    everything = np.arange(3)
    assert draw_probabilities(policy, QUERY)(everything).tolist() == [0, 0, 0]
    assert greedy_probabilities(policy, QUERY)(everything).tolist() == [0, 0, 0]


def uniform(above: IntArray) -> FloatArray:
    return draw_probabilities(Random(), QUERY)(above)


def a_list(**changes: Any) -> LoggedList:
    parts = {"shown": np.array([0, 1]), "rewards": np.array([1.0, 0.0]), "scores": np.array([1.0, 2.0, 3.0])}
    return LoggedList(**{"logged": uniform, "target": uniform, **parts, **changes})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"shown": np.array([0, 0])}, "different rows"),
        ({"shown": np.array([0, 3])}, "different rows"),
        ({"shown": np.array([0, -1])}, "different rows"),
        ({"shown": np.array([0.0, 1.0])}, "shows rows"),
        ({"shown": np.zeros(0, int), "rewards": np.zeros(0)}, "shows rows"),
        ({"rewards": np.ones(1)}, "needs a reward, found 1 for 2 results"),
        ({"rewards": np.array([np.nan, 0.0])}, "rewards of a logged list must be finite"),
        ({"scores": np.full(3, np.nan)}, "scores of a logged list must be finite"),
        ({"scores": np.zeros(1)}, "different rows of its 1 candidates"),
    ],
)
def test_a_logged_list_shows_different_rows_with_a_reward_each(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError, match=message):
        a_list(**changes)


@pytest.mark.parametrize("side", ["logged", "target"])
@pytest.mark.parametrize("chances", [np.full(3, np.nan), [2.0, -0.5, -0.5], [2.0, 5.0, 5.0], [0.5, 0.5]])
def test_a_list_is_drawn_with_probabilities(side: str, chances: Any) -> None:
    wrong = a_list(**{side: lambda above: np.array(chances)})
    with pytest.raises(DataError, match="list 41 needs a probability for each of its 3 candidates"):
        weigh_lists([a_list()] * 40 + [wrong])


def test_a_log_is_lists_of_one_length() -> None:
    wrong: list[Any] = [[], [a_list(), 7], [a_list(), a_list(shown=np.array([0]), rewards=np.ones(1))]]
    for lists in wrong:
        with pytest.raises(DataError, match=r"a log needs|lists of a log"):
            weigh_lists(lists)
    with pytest.raises(SettingError, match="fewest"):
        weigh_lists([a_list()] * 40, fewest=np.nan)
    assert weigh_lists([a_list()] * 40).effective == pytest.approx(40)
