"""The tree: exact gains, the same routing when it grows and when it is asked, parts that sum to scores."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from types import FrameType
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from rankloop.errors import SettingError
from rankloop.lab.data.review_data import AccessoryShop
from rankloop.recommend import FacT, TreeGrower
from rankloop.recommend.factor_objectives import (
    FactorObjective,
    ImplicitSide,
    OneSide,
    RatingsAndPairs,
    pack,
    step_down,
    unpack,
)
from rankloop.recommend.factorization_tree import AT_LEAST, BELOW, STAYS, UNKNOWN, _Growing
from rankloop.recommend.opinion_profiles import share_mentions
from rankloop.recommend.reviews import Reviews, SparseArray, binarize
from rankloop.recommend.split_candidates import SplitCandidates
from rankloop.types import FloatArray

REVIEWS = AccessoryShop(users=80, items=36).reviews()
BY_USER = binarize(REVIEWS.rating_matrix())
PROFILES = share_mentions(REVIEWS.count_mentions("user"))
D = 4


def implicit(seed: int = 0) -> ImplicitSide:
    return ImplicitSide(BY_USER, np.random.default_rng(seed).normal(size=(REVIEWS.n_items, D)), 0.05)


def pairs(weight: float = 2.0) -> RatingsAndPairs:
    return RatingsAndPairs.of(REVIEWS, weight, np.random.default_rng(3))


def loss(objective: ImplicitSide, rows: list[int], vector: FloatArray) -> float:
    """The loss of a group that shares one vector, cell by cell."""
    there = objective.rows.toarray()[rows]
    predicted = objective.others @ vector
    return float((there * (1 - predicted) ** 2 + objective.unobserved * (there - predicted) ** 2).sum())


def dense(profiles: SparseArray) -> FloatArray:
    """Values, and NaN where they are unknown."""
    values = np.full(profiles.shape, np.nan)
    coordinates = sparse.coo_array(profiles)
    values[coordinates.coords] = coordinates.data
    return values


def derivatives(objective: OneSide, vectors: FloatArray, entity: int, step: float = 1e-5) -> FloatArray:
    """The slope of an entity's descent, by finite differences."""
    columns = []
    for each in np.eye(D) * step:
        moved, back = vectors.copy(), vectors.copy()
        moved[entity] += each
        back[entity] -= each
        columns.append((objective.descent(back)[entity] - objective.descent(moved)[entity]) / (2 * step))
    return np.array(columns)


def test_the_implicit_objective_has_the_derivatives_of_its_loss() -> None:
    objective, rng = implicit(), np.random.default_rng(1)
    vectors = rng.normal(size=(80, D))
    for entity in (0, 7):
        slopes = [
            (
                loss(objective, [entity], vectors[entity] - each)
                - loss(objective, [entity], vectors[entity] + each)
            )
            / 2e-5
            for each in np.eye(D) * 1e-5
        ]
        assert objective.descent(vectors)[entity] == pytest.approx(np.array(slopes), rel=1e-6)
        assert unpack(objective.curvature()[entity], D) == pytest.approx(
            derivatives(objective, vectors, entity), rel=1e-6
        )


@pytest.mark.parametrize("side", ["users", "items"])
def test_the_curvature_of_ratings_and_pairs_bounds_the_slope(side: str) -> None:
    rng = np.random.default_rng(2)
    users, items = rng.normal(size=(80, D)), rng.normal(size=(36, D))
    objective = pairs().for_users(items) if side == "users" else pairs().for_items(users)
    vectors = users if side == "users" else items
    for entity in (0, 5):
        gap = unpack(objective.curvature()[entity], D) - derivatives(objective, vectors, entity)
        assert np.linalg.eigvalsh(gap).min() > -1e-4


@given(seed=st.integers(0, 200))
def test_the_gain_of_every_predicate_is_what_a_slow_look_at_all_members_gives(seed: int) -> None:
    rng = np.random.default_rng(seed)
    objective, settings = implicit(seed), TreeGrower(depth=1, min_leaf=5)
    growing = _Growing(settings, objective, SplitCandidates.of(PROFILES, 3), D)
    rows = np.sort(rng.choice(80, 50, replace=False))
    rows = rows[growing.bins.known[rows]]
    vectors = np.tile(rng.normal(size=D), (80, 1))
    descent, curvature = objective.descent(vectors), unpack(objective.curvature(), D)
    candidates = growing.bins.candidates(rows, 5)[0]
    gains, _ = growing.gains(rows, descent[rows], candidates)
    values = dense(PROFILES)
    for candidate, gain in zip(candidates, gains, strict=True):
        feature, threshold = growing.bins.predicate(int(candidate))
        own = values[rows, feature]
        groups = [rows[own >= threshold], rows[own < threshold], rows[np.isnan(own)]]
        kept = [group for group in groups if len(group) >= 5]
        slow = sum(
            0.5
            * descent[group].sum(0)
            @ np.linalg.solve(curvature[group].sum(0) + 2 * np.eye(D), descent[group].sum(0))
            for group in kept
        )
        assert gain == pytest.approx(slow if len(kept) >= 2 else 0.0)


def test_histogram_sums_are_sums_over_members() -> None:
    bins, rows = SplitCandidates.of(PROFILES, 3), np.arange(0, 80, 2)
    values = np.random.default_rng(0).normal(size=(len(rows), D))
    candidates, groups = bins.candidates(rows, 5)
    high, known, n_high, n_known = bins.sums(groups, values)
    branches = bins.branches(rows, candidates)
    assert high == pytest.approx((branches == AT_LEAST) @ values)
    assert known == pytest.approx((branches != UNKNOWN) @ values)
    assert n_high.tolist() == (branches == AT_LEAST).sum(1).tolist()
    assert n_known.tolist() == (branches != UNKNOWN).sum(1).tolist()


@pytest.mark.parametrize(
    "objective",
    [implicit(), pairs().for_users(implicit().others)],
)
def test_whoever_is_asked_is_routed_as_when_the_tree_grew(objective: OneSide) -> None:
    growing = _Growing(TreeGrower(depth=4, min_leaf=4), objective, SplitCandidates.of(PROFILES, 4), D)
    tree = growing.tree()
    assert tree.depth >= 2
    assert (tree.route(PROFILES) == growing.node).all()
    inner = np.flatnonzero(tree.feature >= 0)
    assert any(tree.children[node, UNKNOWN] != STAYS for node in inner), "the unknown branch is populated"
    counts = np.bincount(growing.node, minlength=len(tree.feature))
    assert all(counts[node] >= 4 for node in range(1, len(tree.feature)) if tree.feature[node] < 0)


def test_without_a_profile_one_stays_at_the_root() -> None:
    tree = TreeGrower(depth=3, min_leaf=4).grow(implicit(), PROFILES, D)
    assert tree.feature[0] >= 0
    assert tree.route(sparse.csr_array((2, PROFILES.shape[1]))).tolist() == [0, 0]


def test_a_tree_without_depth_is_one_ridge_vector() -> None:
    objective = implicit()
    tree = TreeGrower(depth=0, regularisation=0.7).grow(objective, PROFILES, D)
    matrix = unpack(objective.curvature().sum(0), D) + 2 * 0.7 * np.eye(D)
    goal = objective.descent(np.zeros((80, D))).sum(0)
    assert tree.vectors[0] == pytest.approx(np.linalg.solve(matrix, goal))
    everybody = list(range(80))
    best = loss(objective, everybody, tree.vectors[0]) + 0.7 * tree.vectors[0] @ tree.vectors[0]
    for each in np.eye(D) * 1e-3:
        near = tree.vectors[0] + each
        assert loss(objective, everybody, near) + 0.7 * near @ near > best


def test_a_deeper_tree_explains_more() -> None:
    objective = implicit()
    losses = []
    for depth in (0, 1, 3):
        tree = TreeGrower(depth=depth, min_leaf=4, regularisation=0.01).grow(objective, PROFILES, D)
        node = tree.route(PROFILES)
        losses.append(sum(loss(objective, [row], tree.vectors[node[row]]) for row in range(80)))
    assert losses == sorted(losses, reverse=True)
    assert losses[2] < losses[0]


@pytest.fixture(scope="module")
def models() -> dict[float, FacT]:
    return {
        weight: FacT(d=6, depth=4, min_leaf=4, leaf_weight=weight).fit(REVIEWS, np.random.default_rng(0))
        for weight in (0.1, 1.0, 1e9, float("inf"))
    }


@pytest.mark.parametrize("weight", [0.1, 1.0, float("inf")])
def test_parts_sum_to_the_score(models: dict[float, FacT], weight: float) -> None:
    model, items = models[weight], np.arange(0, 36, 5)
    for user in range(0, 80, 9):
        parts = model.split_scores(model.profile_user(user), items)
        assert parts.exact
        assert parts.scores == pytest.approx(model.score_users(np.array([user]))[0, items], abs=1e-12)


def test_the_dial_goes_from_past_items_to_rules(models: dict[float, FacT]) -> None:
    leaves, items = models[float("inf")], np.array([3])
    assert models[1e9].user_factors == pytest.approx(leaves.user_factors, abs=1e-6)
    assert (leaves.user_factors == leaves.node_vectors[leaves.leaf]).all()
    shares = []
    for weight in (0.1, 1.0, float("inf")):
        model = models[weight]
        parts = [model.split_scores(model.profile_user(user), items) for user in range(20)]
        shares.append(np.mean([(each.sum_kind("rule") / each.scores)[0] for each in parts]))
    assert shares == sorted(shares)
    assert shares[-1] == pytest.approx(1)


def test_a_newcomer_with_the_same_items_stands_near_and_answers_lead_down_the_tree(
    models: dict[float, FacT],
) -> None:
    model = models[0.1]
    profile = model.profile_newcomer(model.past(0))
    root, children = int(model.tree.feature[0]), model.tree.children[0]
    for answer, branch in ((1, AT_LEAST), (-1, BELOW), (0, UNKNOWN)):
        following = children[branch] if children[branch] != STAYS else 0
        assert model.profile_newcomer(answers={root: answer}).node == following
    assert model.profile_newcomer().node == 0
    parts = model.split_scores(profile, np.array([5]))
    assert parts.scores[0] == pytest.approx(model.score_profile(profile)[5], abs=1e-12)


def test_features_get_what_their_rules_add(models: dict[float, FacT]) -> None:
    model, items = models[1.0], np.array([3, 20, 8])
    for user in range(0, 80, 7):
        profile = model.profile_user(user)
        found = np.zeros((3, len(REVIEWS.features)))
        for place, item in enumerate(items):  # one item at a time
            parts = model.split_scores(profile, np.array([item]))
            for source, amount in zip(parts.sources, parts.amounts[0], strict=True):
                if source.answer == "much" and source.index < len(REVIEWS.features):
                    found[place, source.index] += amount
        assert model.score_features(profile, items) == pytest.approx(found, abs=1e-12)


def test_features_of_many_items_need_one_linear_solve(
    models: dict[float, FacT], monkeypatch: pytest.MonkeyPatch
) -> None:
    model, solved = models[1.0], 0
    profile, solve = model.profile_user(7), np.linalg.solve

    def count(matrix: FloatArray, goal: FloatArray) -> FloatArray:
        nonlocal solved
        solved += 1
        return solve(matrix, goal)

    monkeypatch.setattr(np.linalg, "solve", count)
    model.score_features(profile, np.arange(30))
    assert solved == 1


# objectives of both sides


@pytest.mark.parametrize("side", ["users", "items"])
def test_the_descent_of_ratings_and_pairs_is_that_of_the_loss(side: str) -> None:
    objective, rng = pairs(), np.random.default_rng(5)
    both = {"users": rng.normal(size=(80, D)), "items": rng.normal(size=(36, D))}
    one = objective.for_users(both["items"]) if side == "users" else objective.for_items(both["users"])
    slopes = []
    for each in np.eye(D) * 1e-5:
        values = []
        for sign in (1, -1):
            moved = {name: vectors.copy() for name, vectors in both.items()}
            moved[side][7] += sign * each
            values.append(objective.loss(**moved))
        slopes.append((values[1] - values[0]) / 2e-5)
    assert one.descent(both[side])[7] == pytest.approx(np.array(slopes), rel=1e-5)


def test_the_implicit_loss_counts_every_cell() -> None:
    model = FacT(d=D)
    objective = model.make_objective(REVIEWS, np.random.default_rng(0))
    rng = np.random.default_rng(1)
    users, items = rng.normal(size=(80, D)), rng.normal(size=(36, D))
    there, predicted = BY_USER.toarray(), users @ items.T
    slow = (there * (1 - predicted) ** 2 + model.unobserved * (there - predicted) ** 2).sum()
    assert objective.loss(users, items) == pytest.approx(slow)


@pytest.mark.parametrize("weight", [0.0, 1.0, 5.0])
def test_every_half_step_of_the_start_descends(weight: float) -> None:
    objective, rng = pairs(weight), np.random.default_rng(0)
    users: FloatArray = rng.normal(size=(80, D))
    items: FloatArray = rng.normal(size=(36, D))

    def value() -> float:
        return objective.loss(users, items) + float((users**2).sum() + (items**2).sum())

    values = [value()]
    for _ in range(20):
        users = step_down(objective.for_users(items), users, 1.0)
        values.append(value())
        items = step_down(objective.for_items(users), items, 1.0)
        values.append(value())
    assert all(later <= earlier * (1 + 1e-12) for earlier, later in pairwise(values))
    assert values[-1] < 0.5 * values[0]


@pytest.mark.parametrize(("weight", "rounds"), [(None, 6), (1.0, 6), (1.0, 1)])
def test_the_best_pair_of_trees_is_kept(weight: float | None, rounds: int) -> None:
    """By a slow reference: all rounds, and of those before a small gain the one with the lowest value."""
    model = FacT(d=D, depth=3, item_depth=2, min_leaf=4, pair_weight=weight, rounds=rounds)
    model._keep_tokens(REVIEWS)
    objective = model.make_objective(REVIEWS, np.random.default_rng(0))
    found = model._alternate(objective, REVIEWS, np.random.default_rng(1))
    profiles, item_profiles = model.profiles(REVIEWS), model._item_profiles(REVIEWS)
    _, items = objective.start(D, np.random.default_rng(1))
    tried: list[tuple[float, FloatArray, FloatArray]] = []
    for _ in range(rounds):
        user_tree = model._grower(3).grow(objective.for_users(items), profiles, D)
        users = user_tree.vectors[user_tree.route(profiles)]
        item_tree = model._grower(2).grow(objective.for_items(users), item_profiles, D)
        items = item_tree.vectors[item_tree.route(item_profiles)]
        jumps = [
            tree.vectors[node] - (tree.vectors[tree.parent[node]] if node else 0)
            for tree in (user_tree, item_tree)
            for node in range(len(tree.feature))
        ]
        tried.append((objective.loss(users, items) + sum(float(each @ each) for each in jumps), users, items))
    values = [value for value, _, _ in tried]
    stop = next((k for k in range(1, rounds) if values[k] > min(values[:k]) * 0.999), rounds - 1)
    best = int(np.argmin(values[: stop + 1]))
    assert (found.users == tried[best][1]).all()
    assert (found.items == tried[best][2]).all()


def test_the_paths_of_both_trees_sum_to_the_score() -> None:
    model = FacT(d=D, depth=3, item_depth=2, min_leaf=4, pair_weight=1.0)
    model._keep_tokens(REVIEWS)
    rng = np.random.default_rng(0)
    found = model._alternate(model.make_objective(REVIEWS, rng), REVIEWS, rng)
    assert found.item_tree is not None
    user = found.user_tree.route(model.profiles(REVIEWS))
    item = found.item_tree.route(model._item_profiles(REVIEWS))
    for row, column in ((0, 0), (7, 20), (79, 35)):
        ours, theirs = found.user_tree.steps(int(user[row])), found.item_tree.steps(int(item[column]))
        score = found.users[row] @ found.items[column]
        assert (ours @ theirs.T).sum() == pytest.approx(score, abs=1e-9)


def test_without_an_item_tree_items_keep_the_vectors_of_the_start() -> None:
    model = FacT(d=D, depth=2, min_leaf=4)
    fitted = model.fit(REVIEWS, np.random.default_rng(0))
    _, items = model.make_objective(REVIEWS, np.random.default_rng(0)).start(D, np.random.default_rng(0))
    assert (fitted.item_factors == items).all()
    assert not len(fitted.item_node_vectors)


def test_the_model_of_the_thesis_is_learned() -> None:
    model = FacT(d=4, depth=2, item_depth=2, min_leaf=4, pair_weight=1.0, leaf_weight=float("inf"))
    fitted = model.fit(REVIEWS, np.random.default_rng(0))
    ratings = fitted.score_users(REVIEWS.user)[np.arange(len(REVIEWS)), REVIEWS.item]
    assert np.abs(ratings - REVIEWS.rating).mean() < np.abs(REVIEWS.rating).mean() / 2
    assert len(fitted.item_node_vectors) > 1


# another objective


@dataclass(frozen=True, eq=False)
class SquaredErrors:
    """Squared errors of ratings alone, from random vectors: an objective that the library does not have."""

    ratings: SparseArray

    def loss(self, users: FloatArray, items: FloatArray) -> float:
        return float(((self.ratings.toarray() - users @ items.T)[self.ratings.toarray() > 0] ** 2).sum())

    def start(self, d: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        users, items = (rng.normal(size=(n, d)) for n in self.ratings.shape)
        return users, items

    def for_users(self, items: FloatArray) -> OneSide:
        return SquaredSide(self.ratings.toarray(), items)

    def for_items(self, users: FloatArray) -> OneSide:
        return SquaredSide(self.ratings.toarray().T, users)


@dataclass(frozen=True, eq=False)
class SquaredSide:
    ratings: FloatArray  # [n, n_others] 0 where there is none
    others: FloatArray
    steps: int = 1

    def descent(self, vectors: FloatArray) -> FloatArray:
        errors = np.where(self.ratings > 0, self.ratings - vectors @ self.others.T, 0.0)
        return np.asarray(2 * errors @ self.others)

    def curvature(self) -> FloatArray:
        return np.array([pack(2 * self.others[row > 0].T @ self.others[row > 0]) for row in self.ratings])


class RatingFacT(FacT):
    def make_objective(self, reviews: Reviews, rng: np.random.Generator) -> FactorObjective:
        return SquaredErrors(reviews.rating_matrix())


def test_another_objective_is_learned_by_the_same_start_trees_and_parts() -> None:
    rating = REVIEWS.rating
    settings: dict[str, Any] = {
        "d": D,
        "min_leaf": 2,
        "tree_regularisation": 0.1,
        "leaf_weight": float("inf"),
    }
    model = RatingFacT(depth=5, item_depth=5, rounds=6, **settings)
    fitted, again = (model.fit(REVIEWS, np.random.default_rng(3)) for _ in range(2))
    predicted = fitted.score_users(REVIEWS.user)[np.arange(len(REVIEWS)), REVIEWS.item]
    assert ((predicted - rating) ** 2).mean() < 0.8 * rating.var()  # and not what Implicit is after: 1
    assert (fitted.score_users(np.arange(9)) == again.score_users(np.arange(9))).all()
    objective = model.make_objective(REVIEWS, np.random.default_rng(0))
    flat = RatingFacT(depth=0, item_depth=0, **settings).fit(REVIEWS, np.random.default_rng(3))
    grown, alone = (objective.loss(each.user_factors, each.item_factors) for each in (fitted, flat))
    assert grown < 0.9 * alone
    profile, items = fitted.profile_user(7), np.arange(5)
    parts = fitted.split_scores(profile, items)
    assert parts.exact
    assert parts.scores == pytest.approx(fitted.score_profile(profile)[items], abs=1e-12)


# speed


def count_calls(work: Callable[[], Any]) -> int:
    """How many functions in Python are called."""
    calls = 0

    def seen(frame: FrameType, event: str, argument: object) -> None:
        nonlocal calls
        calls += event == "call" and "rankloop" in frame.f_code.co_filename

    sys.setprofile(seen)
    try:
        work()
    finally:
        sys.setprofile(None)
    return calls


def test_a_newcomer_is_routed_without_looking_at_the_whole_tree() -> None:
    calls = []
    for depth in (1, 8):
        tree = TreeGrower(depth=depth, min_leaf=1, regularisation=0.01).grow(implicit(), PROFILES, D)
        calls.append((len(tree.feature), count_calls(partial(tree.route, PROFILES[[0]]))))
    (few, least), (many, most) = calls
    assert many > few + 50
    assert most - least <= 20  # a call or two for each question


def test_settings_without_a_meaning_are_refused() -> None:
    for settings in ({"leaf_weight": 0.0}, {"pair_weight": -1.0}, {"rounds": 0}):
        with pytest.raises(SettingError):
            FacT(**settings)
    with pytest.raises(SettingError):
        TreeGrower(min_leaf=0)


def test_a_packed_matrix_is_unpacked() -> None:
    matrix = np.arange(9.0).reshape(3, 3)
    symmetric = matrix + matrix.T
    assert (unpack(pack(symmetric), 3) == symmetric).all()
    assert {AT_LEAST, BELOW, UNKNOWN} == {0, 1, 2}
