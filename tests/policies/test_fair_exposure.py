"""FairExp keeps its accounts, FairCo steers towards its target; without groups both are what they extend."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankloop.checks import small_world
from rankloop.errors import RankingError, SettingError
from rankloop.exposure import VIEW, Examination, count_violations, least_tolerance, views_at
from rankloop.lab.baselines.fairco import FairCo
from rankloop.lab.baselines.fairswap import FairSwapPairRank, FairSwapTopRank
from rankloop.lab.baselines.ips import IPS
from rankloop.lab.data import FeatureGroups, load
from rankloop.lab.users import PresetUser
from rankloop.learning.item_keys import item_key
from rankloop.policies import FairExpPairRank, FairExpTopRank, PairRank, Policy, TopRank
from rankloop.query_set import QuerySet
from rankloop.service import RankerSettings
from rankloop.service.core.ranker_settings import check_policy_can_serve
from rankloop.types import Feedback, Query, Ranking

USER = PresetUser("informational").for_grades(5)
WORLD = load("linear(queries=30, min_documents=25)", groups=FeatureGroups(feature=1, threshold=0.4)).train


def live(
    policy: Policy, *, rounds: int = 60, k: int = 10, world: QuerySet = WORLD, seed: int = 0
) -> list[Ranking]:
    rng, lists = np.random.default_rng(seed), []
    for number in range(rounds):
        judged = world[number % len(world)]
        ranking = policy.rank(judged.query, k=k, rng=rng)
        policy.shown(ranking)
        policy.learn(USER.respond(ranking, judged.relevance, rng))
        lists.append(ranking)
    return lists


def unfairness(lists: list[Ranking], beta: float, examination: Examination = "log2") -> list[float]:
    """UF after every list, by its definition."""
    sums, total = [], 0.0
    for ranking in lists:
        values = views_at(examination, len(ranking)) / VIEW
        groups = [ranking.query.groups[row] for row in ranking.order.tolist()]
        total += sum(
            value if group == "A" else -beta * value for value, group in zip(values, groups, strict=True)
        )
        sums.append(total)
    return sums


def account(policy: FairExpPairRank | FairExpTopRank, name: str) -> float:
    return float(policy.account[policy.groups.tolist().index(item_key(name))]) / VIEW


FAIR = [
    FairExpPairRank(beta=1.0, tolerance=0.6),
    FairExpPairRank(beta=1.22, tolerance=0.7, ties="least"),
    FairExpPairRank(beta=0.8, tolerance=0.6, exploration="random"),
    FairSwapPairRank(beta=1.0, tolerance=0.6),
    FairExpTopRank(beta=1.22, tolerance=0.7),
    FairSwapTopRank(beta=1.0, tolerance=0.6, learned_pairs="block"),
]


@pytest.mark.parametrize("policy", FAIR, ids=repr)
def test_unfairness_never_leaves_the_tolerance_where_there_are_enough_candidates(
    policy: FairExpPairRank | FairExpTopRank,
) -> None:
    policy = policy.from_state(policy.state())
    beta = policy.beta or 1.0
    assert policy.tolerance >= (1 + beta) * least_tolerance(views_at("log2", 10)) / VIEW
    found = unfairness(live(policy), beta)
    assert max(map(abs, found)) <= policy.tolerance
    assert (1 + beta) * account(policy, "A") == pytest.approx(found[-1], abs=1e-3)
    assert policy.account.sum() == 0


@given(shares=st.lists(st.floats(0.1, 1), min_size=2, max_size=4), seed=st.integers(0, 99))
@settings(max_examples=15)
def test_accounts_are_what_was_granted_minus_what_was_due(shares: list[float], seed: int) -> None:
    rng, names = np.random.default_rng(seed), "wxyz"[: len(shares)]
    policy = FairExpPairRank(shares=tuple(zip(names, shares, strict=True)), tolerance=1.0)
    granted, total = dict.fromkeys(names, 0.0), 0.0
    for _ in range(5):
        groups = rng.choice(list(names), size=30).tolist()
        ranking = policy.rank(Query("q", rng.random((30, 3)), groups=groups), k=6, rng=rng)
        policy.shown(ranking)
        for look, row in zip((views_at("log2", 6) / VIEW).tolist(), ranking.order.tolist(), strict=True):
            granted[groups[row]] += look
            total += look
    for name, share in zip(names, shares, strict=True):
        assert account(policy, name) == pytest.approx(granted[name] - share / sum(shares) * total, abs=1e-4)


def test_what_cannot_be_given_is_owed_or_forgiven() -> None:
    only_b = Query("q", np.eye(4), groups=("B",) * 4)
    shown = Ranking(only_b, np.arange(3), {"seed": np.array(1)})
    owed, forgiven = FairExpPairRank(beta=1.0), FairExpPairRank(beta=1.0, due="attainable")
    for policy in (owed, forgiven):
        policy.shown(shown)
    views = views_at("log2", 3).sum() / VIEW
    assert account(owed, "A") == pytest.approx(-views / 2, abs=1e-6)
    assert account(forgiven, "A") == account(forgiven, "B") == 0.0


def test_by_candidates_each_group_is_due_its_part_of_them() -> None:
    policy = FairExpPairRank(shares="candidates")
    query = Query("q", np.eye(4), groups=("x", "x", "x", "y"))
    policy.shown(Ranking(query, np.array([0]), {"seed": np.array(1)}))
    assert account(policy, "x") == pytest.approx(1 - 3 / 4)


def test_lists_of_anybody_are_booked_as_they_were_shown() -> None:
    policy, judged = FairExpPairRank(beta=1.0), WORLD[0]
    drawn = policy.rank(judged.query, k=10, rng=np.random.default_rng(0))
    others = policy.with_order(drawn, np.flatnonzero(np.array(judged.query.groups) == "A")[:3])
    assert others is not None
    policy.shown(others)
    assert account(policy, "A") == pytest.approx(views_at("log2", 3).sum() / VIEW / 2, abs=1e-6)


@pytest.mark.parametrize(("fair", "plain"), [(FairExpPairRank(), PairRank()), (FairExpTopRank(), TopRank())])
def test_without_groups_it_is_the_plain_policy_to_the_bit(fair: Policy, plain: Policy) -> None:
    nobodys = replace(WORLD, groups=())
    ours, theirs = live(fair, world=nobodys), live(plain, world=nobodys)
    assert all(np.array_equal(a.order, b.order) for a, b in zip(ours, theirs, strict=True))
    for name, value in plain.state().items():
        np.testing.assert_array_equal(value, fair.state()[name])


def test_one_group_changes_nothing_about_a_list() -> None:
    fair, plain = FairExpPairRank(), PairRank()
    alike = replace(WORLD, groups=("a",) * len(WORLD.features))
    for seed in range(5):
        lists = [
            policy.rank(alike[0].query, k=10, rng=np.random.default_rng(seed)).order
            for policy in (fair, plain)
        ]
        np.testing.assert_array_equal(lists[0], lists[1])
    live(fair, world=alike)
    assert fair.account.tolist() == [0]


def test_certain_orders_are_violated_only_where_the_accounts_ask_for_it() -> None:
    strict, loose = FairExpPairRank(beta=1.0, tolerance=0.6), FairExpPairRank(beta=1.0, tolerance=1e6)
    violated = dict.fromkeys((0.6, 1e6), 0)
    for policy in (strict, loose):
        live(policy, rounds=150)
        for judged in WORLD:  # nothing is learned from these
            ranking = policy.rank(judged.query, k=10, rng=np.random.default_rng(0))
            policy.shown(ranking)
            violated[policy.tolerance] += count_violations(ranking.order, policy.certain_orders(judged.query))
    assert violated[1e6] == 0 < violated[0.6]


def test_a_long_list_of_many_groups_is_settled_page_by_page() -> None:
    rng = np.random.default_rng(0)
    groups = tuple(rng.choice(["a", "b", "c", "d"], size=80))
    policy = FairExpPairRank(tolerance=2.0)
    for _ in range(10):
        policy.shown(policy.rank(Query("q", rng.random((80, 3)), groups=groups), k=25, rng=rng))
    assert np.abs(policy.account).max() <= 2.0 * VIEW


# FairCo and IPS


@pytest.mark.parametrize("exposure", ["mean", "total"])
def test_without_control_fairco_is_ips(exposure: str) -> None:
    fairco, ips = FairCo(control=0.0, exposure=exposure), IPS()  # type: ignore[arg-type]
    ours, theirs = live(fairco), live(ips)
    assert all(np.array_equal(a.order, b.order) for a, b in zip(ours, theirs, strict=True))
    np.testing.assert_array_equal(fairco.parameters, ips.parameters)


def test_estimates_are_the_ridge_regression_of_corrected_clicks() -> None:
    policy, rows, targets = IPS(ridge=2.0), [], []
    rng = np.random.default_rng(0)
    for judged in [WORLD[number] for number in range(20)]:
        ranking = policy.rank(judged.query, k=8, rng=rng)
        feedback = USER.respond(ranking, judged.relevance, rng)
        policy.learn(feedback)
        rows.append(np.hstack((np.ones((8, 1)), judged.query.features[ranking.order])))
        targets.append(feedback.clicks / (views_at("log2", 8) / VIEW))
    x, y = np.vstack(rows), np.concatenate(targets)
    expected = np.linalg.solve(2.0 * np.eye(x.shape[1]) + x.T @ x, x.T @ y)
    np.testing.assert_allclose(policy.parameters, expected, rtol=1e-6, atol=1e-9)


def test_told_a_ratio_of_totals_fairco_comes_to_it_and_by_means_it_does_not() -> None:
    merit = (("A", 1.5), ("B", 1.0))
    told, own = FairCo(exposure="total", merit=merit), FairCo()
    sums = [abs(unfairness(live(policy, rounds=300), 1.5)[-1]) for policy in (told, own)]
    assert sums[0] < 20 < sums[1]


def test_the_error_is_that_of_the_definition() -> None:
    policy = FairCo(exposure="mean")
    live(policy, rounds=40)
    keys = policy.groups.tolist()
    candidates = {item_key("A"): 0, item_key("B"): 0}
    for number in range(40):
        for group in WORLD[number % len(WORLD)].query.groups:
            candidates[item_key(group)] += 1
    assert [candidates[key] for key in keys] == policy.candidates.tolist()
    merits = [policy.features[row] @ policy.parameters / candidates[key] for row, key in enumerate(keys)]
    ratios = [
        40 * policy.received[row] / VIEW / candidates[key] / merits[row] for row, key in enumerate(keys)
    ]
    np.testing.assert_allclose(policy._ratios(), ratios, rtol=1e-9)


# What is refused


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: FairExpPairRank(beta=1.0, shares="candidates"), "leave out one of it"),
        (lambda: FairExpPairRank(shares=(("A", -1.0),)), "shares must be equal, candidates or a share"),
        (lambda: FairExpPairRank(shares=(("A", 1.0), ("A", 2.0))), "shares must be equal, candidates"),
        (lambda: FairExpPairRank(examination=(0.5, 0.9)), "never rise from one position to the next"),
        (lambda: FairCo(merit=(("A", 0.0), ("B", 1.0))), "positive for each group"),
    ],
)
def test_settings_without_a_meaning_are_refused(make: object, says: str) -> None:
    with pytest.raises(SettingError, match=says):
        make()  # type: ignore[operator]


def test_a_group_without_a_share_is_refused() -> None:
    policy = FairExpPairRank(beta=1.0)
    with pytest.raises(RankingError, match="given to the groups A, B, and a candidate belongs to 'C'"):
        policy.rank(Query("q", np.eye(2), groups=("A", "C")), k=2, rng=np.random.default_rng(0))


def test_examination_that_is_to_be_measured_or_too_few_are_asked_for() -> None:
    query = Query("q", np.eye(3), groups=("A", "B", "B"))
    with pytest.raises(SettingError, match="is for a sweep, which measures it on its users"):
        FairExpPairRank(examination="measured").rank(query, k=3, rng=np.random.default_rng(0))
    with pytest.raises(RankingError, match="numbers for 2 positions, and the list has 3"):
        FairExpPairRank(examination=(1.0, 0.5)).rank(query, k=3, rng=np.random.default_rng(0))


@pytest.mark.parametrize(
    ("policy", "says"),
    [
        (FairExpPairRank(), "serve pairrank with the ranker's fair setting"),
        (FairExpTopRank(), "serve pairrank with the ranker's fair setting"),
        (FairCo(), "serve pairrank with the ranker's fair setting"),
        (IPS(), "explores nothing, for comparison with fair policies: serve pairrank"),
        (TopRank(), "each list of a service has an id of its own: serve pairrank"),
    ],
)
def test_a_service_says_what_to_serve_instead(policy: Policy, says: str) -> None:
    with pytest.raises(SettingError, match=f"^{type(policy).__name__} cannot be served: it .*{says}"):
        check_policy_can_serve(RankerSettings(policy=policy))


def test_worlds_of_the_checks_have_groups_so_that_laws_are_tried_with_them() -> None:
    world = small_world()
    assert set(world[0].query.groups) == {"A", "B"}
    policy = FairExpPairRank()
    ranking = policy.rank(world[0].query, k=5, rng=np.random.default_rng(0))
    policy.shown(ranking)
    policy.learn(Feedback(ranking, np.ones(5, dtype=bool)))
    assert policy.account.size == 2
