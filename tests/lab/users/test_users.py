"""Users click with the probabilities their tables say."""

from __future__ import annotations

import itertools
from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankloop.errors import DataError, SettingError
from rankloop.lab.users import (
    CASCADE_TABLES,
    AdUser,
    Cascade,
    LabelJudge,
    PositionBased,
    PresetUser,
    Stop,
    UserModel,
)
from rankloop.types import BoolArray, Query, Ranking

GRADES = np.array([0, 2, 1, 2])
SHOWN = Ranking(Query("q", np.eye(4)), np.array([1, 0, 2, 3]))  # grades 2, 0, 1, 2


def pattern_probabilities(user: Cascade) -> dict[tuple[bool, ...], float]:
    """Enumerates every course a reading can take, one result at a time."""
    chances: dict[tuple[bool, ...], float] = {}

    def read(clicks: tuple[bool, ...], chance: float) -> None:
        rank = len(clicks)
        if rank == len(SHOWN):
            chances[clicks] = chances.get(clicks, 0.0) + chance
            return
        grade = GRADES[SHOWN.order[rank]]
        for clicked in (False, True):
            here = chance * (user.click[grade] if clicked else 1 - user.click[grade])
            stop = user.stop[grade] if clicked or user.stop_at == "every" else 0.0
            rest = (False,) * (len(SHOWN) - rank - 1)
            ended = (*clicks, clicked, *rest)
            chances[ended] = chances.get(ended, 0.0) + here * stop
            read((*clicks, clicked), here * (1 - stop))

    read((), 1.0)
    return chances


def sampled(user: UserModel, rounds: int = 20_000) -> list[BoolArray]:
    rng = np.random.default_rng(5)
    return [user.respond(SHOWN, GRADES, rng).clicks for _ in range(rounds)]


@pytest.mark.parametrize("stop_at", ["click", "every"])
@pytest.mark.parametrize("name", CASCADE_TABLES)
def test_cascade_follows_the_enumerated_distribution(name: str, stop_at: Stop) -> None:
    user = PresetUser(name, stop_at).for_grades(3)
    expected = pattern_probabilities(user)
    assert sum(expected.values()) == pytest.approx(1)
    found = [tuple(clicks.tolist()) for clicks in sampled(user)]
    for clicks in itertools.product((False, True), repeat=4):
        chance = expected.get(clicks, 0.0)
        deviation = np.sqrt(chance * (1 - chance) / len(found))
        assert found.count(clicks) / len(found) == pytest.approx(chance, abs=5 * deviation + 1e-12)


@pytest.mark.parametrize("stop_at", ["click", "every"])
def test_a_cascade_tells_how_far_it_read(stop_at: Stop) -> None:
    """A reader goes on past a result, whatever stands there, with the chance the tables say."""
    user = PresetUser("navigational", stop_at).for_grades(3)
    rng = np.random.default_rng(6)
    seen = np.zeros(4)
    for _ in range(20_000):
        response = user.respond(SHOWN, GRADES, rng)
        assert response.truly_examined is not None
        assert not (response.clicks & ~response.truly_examined).any()
        seen += response.truly_examined
    stops = [
        user.stop[grade] * (user.click[grade] if stop_at == "click" else 1.0) for grade in GRADES[SHOWN.order]
    ]
    expected = np.cumprod([1.0, *(1 - stop for stop in stops[:-1])])
    np.testing.assert_allclose(seen / 20_000, expected, atol=5 * 0.5 / np.sqrt(20_000))


def test_other_users_tell_what_they_looked_at() -> None:
    rng = np.random.default_rng(7)
    for user in (PositionBased(click=(0.0,) * 3, eta=0.0), AdUser(otherwise=0.5)):
        seen = user.respond(SHOWN, GRADES, rng).truly_examined
        assert seen is not None
        assert seen.all()


def test_the_two_readings_of_stop_differ() -> None:
    """On a bad list, a user who decides at every result to stop rarely reads to the end."""
    rng, bad = np.random.default_rng(0), np.zeros(4, dtype=int)
    readings: tuple[Stop, Stop] = ("click", "every")
    after, anywhere = (
        sum(
            PresetUser("navigational", stop).for_grades(3).respond(SHOWN, bad, rng).clicks[3]
            for _ in range(20_000)
        )
        for stop in readings
    )
    assert anywhere / after == pytest.approx((0.8 / (1 - 0.05 * 0.2)) ** 3, rel=0.2)


@pytest.mark.parametrize(
    ("name", "click", "stop"),
    [
        ("perfect", (0.0, 0.5, 1.0), (0.0, 0.0, 0.0)),
        ("navigational", (0.05, 0.5, 0.95), (0.2, 0.5, 0.9)),
        ("informational", (0.4, 0.7, 0.9), (0.1, 0.3, 0.5)),
        ("perfect", (0.0, 0.2, 0.4, 0.8, 1.0), (0.0, 0.0, 0.0, 0.0, 0.0)),
        ("navigational", (0.05, 0.3, 0.5, 0.7, 0.95), (0.2, 0.3, 0.5, 0.7, 0.9)),
        ("informational", (0.4, 0.6, 0.7, 0.8, 0.9), (0.1, 0.2, 0.3, 0.4, 0.5)),
    ],
)
def test_presets_click_and_stop_as_printed(
    name: str, click: tuple[float, ...], stop: tuple[float, ...]
) -> None:
    """For three grades as in Table 1 of PairRank, for five as in that of the paper on networks."""
    assert PresetUser(name).for_grades(len(click)) == Cascade(click=click, stop=stop, stop_at="click")


@pytest.mark.parametrize("name", CASCADE_TABLES)
@pytest.mark.parametrize("grades", [1, 2, 3, 4, 5])
def test_presets_fit_any_number_of_grades_up_to_five(name: str, grades: int) -> None:
    assert len(PresetUser(name).for_grades(grades).click) == {1: 2, 2: 2, 3: 3, 4: 5, 5: 5}[grades]


@pytest.mark.parametrize(
    "user",
    [PresetUser("navigational").for_grades(3), PositionBased(click=(0.1, 0.5, 0.9)), AdUser(0.7, 0.2)],
)
def test_luck_does_not_depend_on_what_is_shown(user: UserModel) -> None:
    """Two policies meet the same luck: a response always costs the same draws."""
    states = []
    for grades in (np.zeros(4, dtype=int), np.array([2, 0, 2, 2]), np.full(4, 2)):
        rng = np.random.default_rng(0)
        user.respond(SHOWN, grades, rng)
        states.append(rng.random())
    assert len(set(states)) == 1


def test_position_based_clicks_with_examination_times_attraction() -> None:
    user = PositionBased(click=(0.1, 0.5, 0.9), eta=1.0)
    expected = np.array([0.9, 0.1, 0.5, 0.9]) / np.array([1, 2, 3, 4])
    np.testing.assert_allclose(np.mean(sampled(user), axis=0), expected, atol=0.015)


def test_a_judge_gives_the_true_grades_of_what_was_shown() -> None:
    rng = np.random.default_rng(0)
    graded = LabelJudge().respond(SHOWN, GRADES, rng)
    assert graded.reward.tolist() == [2, 0, 1, 2]
    assert graded.signal == LabelJudge.gives
    top = LabelJudge(top_k=2).respond(SHOWN, GRADES, rng)
    assert top.judged is not None
    assert top.reward[top.judged].tolist() == [2, 0]
    assert top.n_examined == 2
    assert rng.random() == np.random.default_rng(0).random()  # no luck was needed


def test_a_judge_may_err_by_another_grade_drawn_uniformly() -> None:
    rng, judge = np.random.default_rng(0), LabelJudge(noise=0.3)
    given = np.array([judge.respond(SHOWN, GRADES, rng).reward for _ in range(6000)])
    for position, grade in enumerate([2, 0, 1, 2]):
        shares = np.bincount(given[:, position], minlength=3) / 6000
        expected = np.where(np.arange(3) == grade, 0.7, 0.15)
        np.testing.assert_allclose(shares, expected, atol=0.03)
    flipped = LabelJudge(noise=1.0).respond(SHOWN, np.array([0, 1, 1, 0]), rng)
    assert flipped.reward.tolist() == [0, 1, 0, 1]
    assert LabelJudge(noise=1.0).respond(SHOWN, np.zeros(4, dtype=int), rng).reward.tolist() == [1] * 4


def test_a_judge_can_grade_what_was_not_shown() -> None:
    shown = Ranking(SHOWN.query, np.array([2, 1]), {"seed": np.array(7)})
    graded = LabelJudge(whole_query=True).respond(shown, GRADES, np.random.default_rng(0))
    assert graded.ranking.order.tolist() == [2, 1, 0, 3]
    assert graded.reward.tolist() == [1, 2, 0, 2]
    assert graded.ranking.evidence["seed"] == 7


def test_a_grade_beyond_the_table_is_explained() -> None:
    with pytest.raises(DataError, match=r"knows the grades 0\.\.1 but met grade 2"):
        PresetUser("perfect").for_grades(2).respond(SHOWN, GRADES, np.random.default_rng(0))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: Cascade(click=(0.5, 1.2), stop=(0.0, 0.0)),
            r"each a number from 0 to 1\), found \(0.5, 1.2\)",
        ),
        (lambda: Cascade(click=(0.5,), stop=(0.0, 0.0)), "1 grades but stop has 2"),
        (lambda: Cascade(click=(0.5,), stop=(0.0,), stop_at="never"), "'click' or 'every', found 'never'"),  # type: ignore[arg-type]
        (lambda: PresetUser("nobody"), "one of perfect, navigational, informational"),
        (lambda: PresetUser("perfect").for_grades(6), "up to 5 grades, found 6"),
        (lambda: Cascade(click=(), stop=()), "a probability for each grade, found none"),
        (lambda: PositionBased(click=(0.5,), eta=-1), "eta must be a finite number of at least 0"),
        (lambda: LabelJudge(top_k=0), "at least 1"),
        (lambda: LabelJudge(noise=1.5), "noise must be a number from 0 to 1, found 1.5"),
        (lambda: LabelJudge(top_k=3, whole_query=True), "less than the list and whole_query more"),
    ],
)
def test_impossible_users_are_refused(make: type, message: str) -> None:
    with pytest.raises(SettingError, match=message):
        make()


@pytest.mark.parametrize("grades", [2, 3, 5])
def test_both_readings_of_stop_are_the_same_for_those_who_never_stop_and_only_for_them(grades: int) -> None:
    shown = Ranking(Query("q", np.eye(10)), np.arange(10))
    relevance = np.arange(10) % grades
    for name in CASCADE_TABLES:
        at_click, at_every = (
            [
                PresetUser(name, stop)
                .for_grades(grades)
                .respond(shown, relevance, np.random.default_rng(seed))
                .clicks
                for seed in range(30)
            ]
            for stop in get_args(Stop)
        )
        assert np.array_equal(at_click, at_every) is PresetUser(name).never_stops


@given(
    grades=st.lists(st.integers(0, 4), min_size=1, max_size=12),
    seed=st.integers(0, 2**32),
    name=st.sampled_from(sorted(CASCADE_TABLES)),
    stop_at=st.sampled_from(get_args(Stop)),
)
def test_a_cascade_with_the_same_coins_reads_as_one_result_at_a_time(
    grades: list[int], seed: int, name: str, stop_at: Stop
) -> None:
    """Slow and clear, to the bit: the first row of coins is for clicks, the second one for stops."""
    user, n = PresetUser(name, stop_at).for_grades(5), len(grades)
    coins = np.random.default_rng(seed).random((2, n))
    clicks, seen = [False] * n, [False] * n
    for position, grade in enumerate(grades):
        seen[position] = True
        clicks[position] = bool(coins[0, position] < user.click[grade])
        if (clicks[position] or stop_at == "every") and coins[1, position] < user.stop[grade]:
            break
    shown = Ranking(Query("q", np.eye(n)), np.arange(n))
    found = user.respond(shown, np.array(grades), np.random.default_rng(seed))
    assert found.truly_examined is not None
    assert (found.clicks.tolist(), found.truly_examined.tolist()) == (clicks, seen)
