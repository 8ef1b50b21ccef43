"""The tree: exact gains, the same routing when it grows and when it is asked, parts that sum to scores."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from rankloop.errors import SettingError
from rankloop.lab.data.review_data import Shop
from rankloop.recommend import FacT, Grower, Recommender
from rankloop.recommend.factor_objectives import Implicit, Objective, pack, unpack
from rankloop.recommend.factorization_tree import AT_LEAST, BELOW, STAYS, UNKNOWN, _Growing
from rankloop.recommend.opinion_profiles import mention_shares
from rankloop.recommend.pair_objectives import item_pairs, user_pairs
from rankloop.recommend.recommender import ones_like
from rankloop.recommend.reviews import SparseArray
from rankloop.recommend.split_candidates import Bins
from rankloop.types import FloatArray

REVIEWS = Shop(users=80, items=36).reviews()
BY_USER = ones_like(REVIEWS.matrix())
PROFILES = mention_shares(REVIEWS.counts("user"))
D = 4


def implicit(seed: int = 0) -> Implicit:
    return Implicit(BY_USER, np.random.default_rng(seed).normal(size=(REVIEWS.n_items, D)), 0.05)


def loss(objective: Implicit, rows: list[int], vector: FloatArray) -> float:
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


def derivatives(objective: Objective, vectors: FloatArray, entity: int, step: float = 1e-5) -> FloatArray:
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
    objective = (
        user_pairs(REVIEWS.matrix(), items, 2.0, rng)
        if side == "users"
        else item_pairs(REVIEWS.matrix(), users, items, 2.0, rng)
    )
    vectors = users if side == "users" else items
    for entity in (0, 5):
        gap = unpack(objective.curvature()[entity], D) - derivatives(objective, vectors, entity)
        assert np.linalg.eigvalsh(gap).min() > -1e-4


@given(seed=st.integers(0, 200))
def test_the_gain_of_every_predicate_is_what_a_slow_look_at_all_members_gives(seed: int) -> None:
    rng = np.random.default_rng(seed)
    objective, settings = implicit(seed), Grower(depth=1, min_leaf=5)
    growing = _Growing(settings, objective, Bins.make(PROFILES, 3), D)
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
    bins, rows = Bins.make(PROFILES, 3), np.arange(0, 80, 2)
    values = np.random.default_rng(0).normal(size=(len(rows), D))
    candidates, groups = bins.candidates(rows, 5)
    high, known, n_high, n_known = bins.sums(groups, values)
    branches = bins.branches(rows, candidates)
    assert high == pytest.approx((branches == AT_LEAST) @ values)
    assert known == pytest.approx((branches != UNKNOWN) @ values)
    assert n_high.tolist() == (branches == AT_LEAST).sum(1).tolist()
    assert n_known.tolist() == (branches != UNKNOWN).sum(1).tolist()


@pytest.mark.parametrize(
    "objective", [implicit(), user_pairs(REVIEWS.matrix(), implicit().others, 1.0, np.random.default_rng(0))]
)
def test_whoever_is_asked_is_routed_as_when_the_tree_grew(objective: Objective) -> None:
    growing = _Growing(Grower(depth=4, min_leaf=4), objective, Bins.make(PROFILES, 4), D)
    tree = growing.tree()
    assert tree.depth >= 2
    assert (tree.route(PROFILES) == growing.node).all()
    inner = np.flatnonzero(tree.feature >= 0)
    assert any(tree.children[node, UNKNOWN] != STAYS for node in inner), "the unknown branch is populated"
    counts = np.bincount(growing.node, minlength=len(tree.feature))
    assert all(counts[node] >= 4 for node in range(1, len(tree.feature)) if tree.feature[node] < 0)


def test_without_a_profile_one_stays_at_the_root() -> None:
    tree = Grower(depth=3, min_leaf=4).grow(implicit(), PROFILES, D)
    assert tree.feature[0] >= 0
    assert tree.route(sparse.csr_array((2, PROFILES.shape[1]))).tolist() == [0, 0]


def test_a_tree_without_depth_is_one_ridge_vector() -> None:
    objective = implicit()
    tree = Grower(depth=0, regularisation=0.7).grow(objective, PROFILES, D)
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
        tree = Grower(depth=depth, min_leaf=4, regularisation=0.01).grow(objective, PROFILES, D)
        node = tree.route(PROFILES)
        losses.append(sum(loss(objective, [row], tree.vectors[node[row]]) for row in range(80)))
    assert losses == sorted(losses, reverse=True)
    assert losses[2] < losses[0]


@pytest.fixture(scope="module")
def models() -> dict[float, FacT]:
    return {
        rho: FacT(d=6, depth=4, min_leaf=4, rho=rho).fit(REVIEWS, np.random.default_rng(0))
        for rho in (0.1, 1.0, 1e9, float("inf"))
    }


def sums_to_the_score(model: Recommender, user: int, item: int) -> bool:
    taste = model.taste_of(user)
    reasons = model.reasons(taste, item)
    expected = model.score(np.array([user]))[0, item]
    assert reasons.exact
    assert reasons.score == pytest.approx(expected, abs=1e-12)
    return bool(abs(sum(part.amount for part in reasons.parts) - expected) < 1e-12)


def test_parts_sum_to_the_score(models: dict[float, FacT]) -> None:
    for model in (models[0.1], models[1.0], models[float("inf")]):
        assert all(
            sums_to_the_score(model, user, item) for user in range(0, 80, 9) for item in range(0, 36, 5)
        )


def test_the_dial_goes_from_past_items_to_rules(models: dict[float, FacT]) -> None:
    leaves = models[float("inf")]
    assert models[1e9].user_factors == pytest.approx(leaves.user_factors, abs=1e-6)
    assert (leaves.user_factors == leaves.node_vectors[leaves.leaf]).all()
    shares = [
        np.mean([models[rho].reasons(models[rho].taste_of(user), 3).share("rule") for user in range(20)])
        for rho in (0.1, 1.0, float("inf"))
    ]
    assert shares == sorted(shares)
    assert shares[-1] == pytest.approx(1)


def test_a_newcomer_with_the_same_items_stands_near_and_answers_lead_down_the_tree(
    models: dict[float, FacT],
) -> None:
    model = models[0.1]
    taste = model.taste(model.past(0))
    assert taste.vector.shape == (6,)
    root = int(model.tree.feature[0])
    following = model.tree.children[0, AT_LEAST]
    assert int(model.taste(answers={root: 1}).given["leaf"]) == (following if following != STAYS else 0)
    assert int(model.taste().given["leaf"]) == 0
    assert (
        abs(sum(part.amount for part in model.reasons(taste, 5).parts) - model.score_taste(taste)[5]) < 1e-12
    )


def test_trees_with_items_and_the_thesis_objective_are_learned() -> None:
    model = FacT(d=4, depth=2, item_depth=2, min_leaf=4, loss="rating+bpr", rho=float("inf"))
    fitted = model.fit(REVIEWS, np.random.default_rng(0))
    assert np.isfinite(fitted.score(np.arange(80))).all()
    assert len(fitted.item_node_vectors) > 1


def test_settings_without_a_meaning_are_refused() -> None:
    for settings in ({"rho": 0.0}, {"aspects": False, "attributes": False}, {"loss": "hinge"}):
        with pytest.raises(SettingError):
            FacT(**settings)
    with pytest.raises(SettingError):
        Grower(min_leaf=0)


def test_a_packed_matrix_is_unpacked() -> None:
    matrix = np.arange(9.0).reshape(3, 3)
    symmetric = matrix + matrix.T
    assert (unpack(pack(symmetric), 3) == symmetric).all()
    assert {AT_LEAST, BELOW, UNKNOWN} == {0, 1, 2}
