"""One ad for a visitor: exact propensities, ads that come and go, rows learned in batches or one by one."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit, ndtr

from rankloop.errors import RankingError
from rankloop.exploration import (
    draw,
    epsilon_greedy_propensities,
    highest_of_normals,
    inverse_gap_propensities,
)
from rankloop.lab.data import load
from rankloop.lab.users import AdUser
from rankloop.learning.item_keys import item_key
from rankloop.learning.rows import draw_negatives
from rankloop.policies import (
    AdForest,
    AdLogistic,
    AdPolicy,
    AUCRanker,
    BatchAdPolicy,
    LinUCB,
    SquareCB,
    ThompsonLogistic,
)
from rankloop.types import Context, Feedback, FloatArray, Query, Ranking

Make = Callable[[], AdPolicy]
BATCH: dict[str, Callable[..., BatchAdPolicy]] = {
    "auc": AUCRanker,
    "auc, platt": partial(AUCRanker, threshold="platt"),
    "logistic": AdLogistic,
    "forest": partial(AdForest, trees=20),
}
ONLINE: dict[str, Make] = {"linucb": LinUCB, "thompson": ThompsonLogistic, "squarecb": SquareCB}
ALL: dict[str, Make] = {**BATCH, **ONLINE}
every = pytest.mark.parametrize("make", ALL.values(), ids=ALL.keys())


def visitor(features: FloatArray, *ads: str) -> Query:
    return Query("visitor", np.empty((len(ads), 0)), ads, context=Context("", np.asarray(features, float)))


def lived(policy: AdPolicy, *, rounds: int = 300, seed: int = 0) -> tuple[AdPolicy, list[bool]]:
    """A life in the small world of ads, and which rounds were clicked."""
    train, user, rng = load("ads(queries=400, ads=4)").train, AdUser(), np.random.default_rng(seed)
    clicked = []
    for number in range(rounds):
        judged = train[number % len(train)]
        feedback = user.respond(policy.rank(judged.query, k=1, rng=rng), judged.relevance, rng)
        policy.learn(feedback)
        clicked.append(bool(feedback.clicks[0]))
    return policy, clicked


# Propensities


@every
def test_ads_are_shown_as_often_as_their_propensities_say(make: Make) -> None:
    policy, _ = lived(make())
    query = load("ads(queries=400, ads=4)").test[0].query
    chances = policy.propensities(query)
    assert chances.min() >= 0
    assert chances.sum() == pytest.approx(1, abs=1e-12)
    shown = [policy.rank(query, k=1, rng=np.random.default_rng(seed)) for seed in range(600)]
    counts = np.bincount([int(ranking.order[0]) for ranking in shown], minlength=4)
    assert (np.abs(counts - 600 * chances) <= 5 * np.sqrt(600 * chances * (1 - chances)) + 1e-9).all()
    for ranking in shown[:3]:
        np.testing.assert_array_equal(ranking.evidence["propensities"], chances)


@given(st.lists(st.integers(0, 3), min_size=1, max_size=6), st.floats(0, 1))
def test_epsilon_greedy_is_the_mean_over_who_is_taken_for_the_best(scores: list[int], epsilon: float) -> None:
    values = np.array(scores, dtype=np.float64)
    best = np.flatnonzero(values == values.max())
    if values.size == 1:
        expected = np.ones(1)
    else:
        others = np.full(values.size, epsilon / (values.size - 1))
        expected = np.mean([np.where(np.arange(values.size) == b, 1 - epsilon, others) for b in best], axis=0)
    np.testing.assert_allclose(epsilon_greedy_propensities(values, epsilon), expected, atol=1e-12)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=6), st.floats(0.1, 1e4))
def test_inverse_gaps_are_a_distribution_with_the_best_on_top(rewards: list[float], gamma: float) -> None:
    values = np.array(rewards)
    chances = inverse_gap_propensities(values, gamma)
    assert chances.sum() == pytest.approx(1, abs=1e-9)
    assert chances.argmax() in np.flatnonzero(values == values.max()) or np.ptp(chances) < 1e-9
    for value, chance in zip(values, chances, strict=True):
        if value < values.max():
            assert chance == pytest.approx(1 / (values.size + gamma * (values.max() - value)))


@given(st.floats(-3, 3), st.floats(-3, 3), st.floats(0.01, 5), st.floats(0.01, 5))
def test_of_two_normal_numbers_the_higher_is_known(a: float, b: float, wide: float, narrow: float) -> None:
    found = highest_of_normals(np.array([a, b]), np.array([wide, narrow]))
    assert found[0] == pytest.approx(float(ndtr((a - b) / np.hypot(wide, narrow))), abs=3e-3)


def test_of_many_normal_numbers_the_highest_is_as_often_as_drawn() -> None:
    rng = np.random.default_rng(0)
    means, deviations = rng.normal(size=7), rng.random(7) + 0.05
    draws = (means + deviations * rng.normal(size=(200_000, 7))).argmax(axis=1)
    np.testing.assert_allclose(
        highest_of_normals(means, deviations), np.bincount(draws, minlength=7) / 200_000, atol=5e-3
    )


def test_nothing_impossible_is_drawn() -> None:
    rng = np.random.default_rng(0)
    assert {draw(np.array([0.0, 0.3, 0.7, 0.0]), rng) for _ in range(200)} == {1, 2}


# Learning


@every
def test_visitors_get_what_they_like_sooner_than_by_chance(make: Make) -> None:
    _, clicked = lived(make(), rounds=1200)
    assert np.mean(clicked[-300:]) > 0.5  # by chance: a quarter


@pytest.mark.parametrize("make", BATCH.values(), ids=BATCH.keys())
def test_a_log_at_once_teaches_what_its_rows_teach(make: Callable[..., BatchAdPolicy]) -> None:
    train, rng = load("ads(queries=200, ads=3)").train, np.random.default_rng(1)
    assert train.contexts is not None
    shown = rng.integers(3, size=200)
    clicks = np.array([bool(train[row].relevance[ad]) for row, ad in enumerate(shown)])
    keys = np.array([item_key(f"ad {ad + 1}") for ad in shown], dtype=np.uint64)
    at_once, one_by_one = make(batch=200), make(batch=200)
    at_once.learn_rows(train.contexts, keys, clicks)
    for row in range(200):
        ranking = Ranking(train[row].query, np.array([shown[row]]))
        one_by_one.learn(Feedback(ranking, clicks[row : row + 1]))
    for name, value in at_once.state().items():
        if name not in at_once.rewritten_names():
            np.testing.assert_array_equal(one_by_one.state()[name], value, err_msg=name)
    assert at_once.ready.all()


def test_a_step_of_linucb_is_ridge_regression() -> None:
    rng = np.random.default_rng(2)
    policy, rows, clicks = LinUCB(prior=0.5), rng.random((40, 3)), rng.random(40) < 0.3
    policy.learn_rows(rows, np.full(40, item_key("tea"), dtype=np.uint64), clicks)
    design = np.hstack((np.ones((40, 1)), rows))
    covariance = np.linalg.inv(design.T @ design + np.eye(4) / 0.5)
    np.testing.assert_allclose(policy.covariances[0], covariance, atol=1e-12)
    np.testing.assert_allclose(policy.means[0], covariance @ design.T @ clicks, atol=1e-12)


def test_a_step_of_a_logistic_belief_is_where_its_objective_is_flat() -> None:
    policy, x = ThompsonLogistic(prior=2.0), np.array([0.5, -1.0])
    policy.learn_rows(x[None], np.array([item_key("tea")], dtype=np.uint64), np.array([False]))
    row, mean = np.concatenate(([1.0], x)), policy.means[0]
    np.testing.assert_allclose(mean / 2.0 + expit(mean @ row) * row, 0.0, atol=1e-7)


def test_undersampling_takes_so_many_rows_for_each_click() -> None:
    rows = np.arange(30.0)[:, None]
    few = draw_negatives(rows, 4, share=2.0, seed=0).ravel().tolist()
    assert len(few) == 8
    assert few == sorted(set(few))
    assert few == draw_negatives(rows, 4, share=2.0, seed=0).ravel().tolist()
    assert few != draw_negatives(rows, 4, share=2.0, seed=1).ravel().tolist()
    for positives, share in ((20, 2.0), (1, None)):
        assert draw_negatives(rows, positives, share=share, seed=0) is rows


def test_old_rows_are_forgotten_clicks_last() -> None:
    policy = AUCRanker(memory=5, batch=1)
    for number in range(40):
        ranking = Ranking(visitor(np.array([number]), "tea"), np.array([0]))
        policy.learn(Feedback(ranking, np.array([number % 10 == 0])))
    assert sorted(policy.rows_with_click.ravel().tolist()) == [0.0, 10.0, 20.0, 30.0]
    assert sorted(policy.rows_without_click.ravel().tolist()) == [35.0, 36.0, 37.0, 38.0, 39.0]


# Ads that come and go


@every
def test_a_new_ad_gets_its_chance_and_a_withdrawn_one_is_not_missed(make: Make) -> None:
    policy, _ = lived(make())
    features = load("ads(queries=400, ads=4)").test[0].query.context.features
    before = policy.state()
    rest = visitor(features, "ad 1", "ad 3")
    assert policy.propensities(rest).shape == (2,)
    fresh = visitor(features, "ad 1", "ad 2", "ad 3", "ad 4", "new")
    if isinstance(policy, LinUCB):
        assert policy._belief(fresh)[1][4] == policy._belief(fresh)[1].max()  # nothing is less sure
    else:
        assert policy.propensities(fresh)[4] > 0
    for name, value in policy.state().items():
        np.testing.assert_array_equal(value, before[name], err_msg=name)
    train, rng, shown = load("ads(queries=400, ads=4)").train, np.random.default_rng(5), []
    for number in range(1500):  # "ad 1" is withdrawn, and those who liked it like the new one
        judged = train[number % 400]
        query = visitor(judged.query.context.features, "new", "ad 2", "ad 3", "ad 4")
        ranking = policy.rank(query, k=1, rng=rng)
        policy.learn(AdUser().respond(ranking, judged.relevance, rng))
        shown += [bool(ranking.order[0] == 0)] if judged.relevance[0] else []
    assert np.mean(shown[-100:]) > 0.5


@pytest.mark.parametrize("make", BATCH.values(), ids=BATCH.keys())
@pytest.mark.parametrize("clicked", [True, False])
def test_an_ad_with_one_kind_of_row_is_never_the_best(
    make: Callable[..., BatchAdPolicy], clicked: bool
) -> None:
    policy = make(batch=1)
    for number in range(20):
        query = visitor(np.array([number % 3]), "plain", "lopsided")
        policy.learn(Feedback(Ranking(query, np.array([0])), np.array([number % 2 == 0])))
        policy.learn(Feedback(Ranking(query, np.array([1])), np.array([clicked])))
    scores = policy.score(visitor(np.array([1.0]), "unknown", "plain", "lopsided"))
    assert scores.argmax() == 1
    assert scores[0] == scores[2]


@every
def test_nothing_known_of_a_visitor_reads_as_zeros_and_other_widths_are_refused(make: Make) -> None:
    policy, _ = lived(make())
    names = ("ad 1", "ad 2", "ad 3", "ad 4")
    nobody, zeros = visitor(np.zeros(0), *names), visitor(np.zeros(8), *names)
    np.testing.assert_array_equal(policy.score(nobody), policy.score(zeros))
    before = policy.state()
    strange = Ranking(visitor(np.zeros(5), *names), np.array([0]))
    for attempt in (
        lambda: policy.score(strange.query),
        lambda: policy.learn(Feedback(strange, np.array([True]))),
        lambda: policy.learn_rows(np.zeros((1, 5)), np.zeros(1, np.uint64), np.array([True])),
        lambda: policy.learn_rows(np.zeros((2, 8)), np.zeros(1, np.uint64), np.array([True])),
    ):
        with pytest.raises(RankingError):
            attempt()
    for name, value in policy.state().items():
        np.testing.assert_array_equal(value, before[name], err_msg=name)


@every
def test_visitors_of_whom_nothing_is_known_teach_too_and_features_may_come_later(make: Make) -> None:
    policy, rng = make(), np.random.default_rng(0)
    for number in range(80):
        query = visitor(np.zeros(0), "tea", "coffee")
        ranking = policy.rank(query, k=1, rng=rng)
        policy.learn(Feedback(ranking, np.array([bool(ranking.order[0]) and number % 4 > 0])))
    for number in range(800):
        query = visitor(np.array([number % 2]), "tea", "coffee")
        ranking = policy.rank(query, k=1, rng=rng)
        policy.learn(Feedback(ranking, ranking.order == number % 2))
    for side in (0, 1):
        assert policy.score(visitor(np.array([side]), "tea", "coffee")).argmax() == side


@every
def test_contributions_say_what_spoke_for_an_ad(make: Make) -> None:
    policy, _ = lived(make(), rounds=600)
    query = load("ads(queries=400, ads=4)").test[0].query
    found = policy.explain_scores(query)
    assert found.shape == (4, 8)
    if not isinstance(policy, AdForest):
        empty = Query("nobody", query.features, query.doc_ids, context=Context("", np.zeros(8)))
        np.testing.assert_allclose(found.sum(axis=1), policy.score(query) - policy.score(empty), atol=1e-9)
