"""Projection leaves the tested part of a direction as it is, and takes the rest of its variance away."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankloop.errors import RankingError, SettingError
from rankloop.learning.projection import orthonormal_basis
from rankloop.policies import DBGD, MGD, NSGD, DocumentSpace
from rankloop.policies.dueling.mgd import unit_directions
from rankloop.scorers import MLP
from rankloop.types import Feedback, FloatArray, Query, Ranking

DIMENSIONS = 40
QUERY = Query("q", np.random.default_rng(0).random((12, DIMENSIONS)))
NOTHING = np.empty((0, 0))


def clicked(*positions: int, seen: int | None = None, query: Query = QUERY) -> Feedback:
    """Ten results in the order of the query, clicked at these positions (from 0)."""
    ranks = np.arange(10)
    return Feedback(
        Ranking(query, ranks),
        np.isin(ranks, positions),
        truly_examined=None if seen is None else ranks < seen,
    )


def project(
    space: DocumentSpace, direction: FloatArray, feedback: Feedback, earlier: FloatArray = NOTHING
) -> FloatArray:
    """What becomes of a direction that won this list."""
    return space.project(direction, space.rows(feedback, feedback.ranking.query.features, earlier))


def by_singular_values(rows: FloatArray) -> FloatArray:
    """The matrix of the projection, as the paper computes it."""
    _, sizes, basis = np.linalg.svd(rows, full_matrices=False)
    basis = basis[sizes > sizes[0] * max(rows.shape) * np.finfo(rows.dtype).eps]
    return np.asarray(basis.T @ basis)


# The proof by numbers


def test_examined_results_change_their_scores_as_without_projection() -> None:
    space, feedback = DocumentSpace(k=2), clicked(1, 3)
    earlier = np.random.default_rng(1).random((4, DIMENSIONS))
    for direction in unit_directions(50, DIMENSIONS, np.random.default_rng(2)):
        projected = project(space, direction, feedback, earlier)
        for rows in (QUERY.features[:6], earlier):
            np.testing.assert_allclose(rows @ projected, rows @ direction, atol=1e-12)
        assert not np.allclose(QUERY.features[6:] @ projected, QUERY.features[6:] @ direction, atol=1e-3)


def test_the_learned_scores_of_examined_results_are_those_of_the_plain_policy() -> None:
    plain, projecting = MGD(step=1.0), MGD(step=1.0, projection=DocumentSpace())
    feedback = moved = None
    for seed in range(20):
        shown = plain.rank(QUERY, k=10, rng=np.random.default_rng(seed))
        feedback = Feedback(shown, np.arange(10) == 2)
        plain.learn(feedback)
        projecting.learn(feedback)
        if plain.updates:
            moved = QUERY.features[shown.order]
            break
    assert moved is not None
    np.testing.assert_allclose(
        projecting.score(Query("q", moved[:6])), plain.score(Query("q", moved[:6])), atol=1e-12
    )
    assert np.linalg.norm(projecting.parameters) < np.linalg.norm(plain.parameters)


def test_inside_the_space_the_expected_step_is_that_of_the_plain_policy() -> None:
    """The mean over winning directions, for a click that only examined results decide."""
    directions = unit_directions(200_000, DIMENSIONS, np.random.default_rng(3))
    examined = QUERY.features[:5]
    wins = (
        directions @ (examined[0] - examined[1:].mean(axis=0)) > 0
    )  # the clicked one rises among the others
    space = DocumentSpace(k=4)
    feedback = clicked(0)
    projector = np.array([project(space, row, feedback) for row in np.eye(DIMENSIONS)])
    plain_step, step = directions[wins].mean(axis=0), (directions[wins] @ projector).mean(axis=0)
    np.testing.assert_allclose(by_singular_values(examined) @ plain_step, step, atol=1e-12)
    # Outside of it the plain step is noise: about one standard error in each of 35 dimensions.
    noise = np.sqrt((DIMENSIONS - 5) / DIMENSIONS / wins.sum())
    assert np.linalg.norm(plain_step - step) == pytest.approx(noise, rel=0.35)
    assert np.linalg.norm(step) > 20 * noise


@pytest.mark.parametrize("examined", [1, 3, 8])
def test_variance_shrinks_to_rank_over_dimensions(examined: int) -> None:
    """20,000 samples: the standard error of the mean squared length is below 0.3 % of it, 2 % are allowed."""
    directions = unit_directions(20_000, DIMENSIONS, np.random.default_rng(4))
    space, feedback = DocumentSpace(k=0), clicked(examined - 1)
    lengths = [float(g @ g) for g in (project(space, u, feedback) for u in directions)]
    assert np.mean(lengths) == pytest.approx(examined / DIMENSIONS, rel=0.02)


# What the space is made of


@pytest.mark.parametrize(
    ("k", "clicks", "expected"), [(0, (2,), 3), (3, (0, 2), 6), (3, (8,), 10), (9, (0,), 10), (3, (), 0)]
)
def test_examined_is_all_down_to_the_last_click_and_k_more(
    k: int, clicks: tuple[int, ...], expected: int
) -> None:
    examined = DocumentSpace(k=k).find_examined(clicked(*clicks))
    assert examined.tolist() == [position < expected for position in range(10)]


def test_the_oracle_takes_what_was_truly_seen() -> None:
    oracle = DocumentSpace(examined="true", recent=0)
    assert oracle.find_examined(clicked(2, seen=4)).sum() == 4
    same = DocumentSpace(k=1, recent=0)
    direction = np.random.default_rng(5).normal(size=DIMENSIONS)
    assert np.array_equal(
        project(oracle, direction, clicked(2, seen=4)),
        project(same, direction, clicked(2)),
    )
    with pytest.raises(RankingError, match="only simulated users say"):
        oracle.find_examined(clicked(2))


def test_memory_holds_the_most_recently_examined_rows() -> None:
    policy = DBGD(projection=DocumentSpace(k=0, recent=5))
    owners, directions = np.zeros((2, 10)), np.ones((1, DIMENSIONS))
    evidence = {"owners": owners, "directions": directions}  # nobody owns anything: nobody wins
    for last in (2, 3):
        order = np.arange(10) if last == 2 else np.arange(10)[::-1]
        policy.learn(Feedback(Ranking(QUERY, order, evidence), np.arange(10) == last))
    assert policy.updates == 0
    np.testing.assert_array_equal(policy.examined, QUERY.features[[2, 9, 8, 7, 6]])
    policy.learn(Feedback(Ranking(QUERY, np.arange(10), evidence), np.zeros(10, dtype=bool)))
    assert len(policy.examined) == 5


def test_without_projection_nothing_is_remembered() -> None:
    policy = MGD()
    policy.learn(Feedback(policy.rank(QUERY, k=10, rng=np.random.default_rng(0)), np.ones(10, dtype=bool)))
    assert policy.state()["examined"].size == 0


def test_trust_interpolates() -> None:
    direction, feedback = unit_directions(1, DIMENSIONS, np.random.default_rng(6))[0], clicked(2)
    full = project(DocumentSpace(), direction, feedback)
    np.testing.assert_array_equal(project(DocumentSpace(trust=0.0), direction, feedback), direction)
    half = project(DocumentSpace(trust=0.5), direction, feedback)
    np.testing.assert_allclose(half, (full + direction) / 2)


def test_unit_keeps_the_direction_and_gives_it_length_1() -> None:
    direction, feedback = unit_directions(1, DIMENSIONS, np.random.default_rng(7))[0], clicked(2)
    full, unit = (project(DocumentSpace(unit=unit), direction, feedback) for unit in (False, True))
    np.testing.assert_allclose(unit, full / np.linalg.norm(full))
    nothing = clicked(2, query=Query("flat", np.zeros((12, DIMENSIONS))))
    assert not project(DocumentSpace(unit=True), direction, nothing).any()


# The basis


@given(
    rows=st.integers(1, 12), dimensions=st.integers(1, 12), rank=st.integers(0, 12), seed=st.integers(0, 99)
)
def test_the_basis_spans_what_singular_values_say(rows: int, dimensions: int, rank: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    rank = min(rank, rows, dimensions)
    vectors = rng.normal(size=(rows, rank)) @ rng.normal(size=(rank, dimensions))
    basis = orthonormal_basis(vectors)
    assert len(basis) == rank
    np.testing.assert_allclose(basis @ basis.T, np.eye(rank), atol=1e-9)
    if rank:
        np.testing.assert_allclose(basis.T @ basis, by_singular_values(vectors), atol=1e-6)


def test_repeated_documents_add_no_dimension() -> None:
    """A factorisation without rank detection would add arbitrary directions outside the space."""
    features = QUERY.features[[0, 1, 0, 1, 1]].astype(np.float32)
    assert len(orthonormal_basis(features)) == 2
    assert len(orthonormal_basis(np.ones((3, 4), dtype=np.int64))) == 1


# How policies take it


@pytest.mark.parametrize("kind", [DBGD, MGD, NSGD])
def test_every_dueling_bandit_takes_a_projection(kind: type[MGD]) -> None:
    policy = kind(projection=DocumentSpace())
    for seed in range(30):
        shown = policy.rank(QUERY, k=10, rng=np.random.default_rng(seed))
        policy.learn(Feedback(shown, np.random.default_rng(seed).random(10) < 0.3))
    assert policy.updates > 5
    assert policy.examined.shape == (10, DIMENSIONS)
    everything = by_singular_values(QUERY.features)  # every step lies in the space of the twelve documents
    np.testing.assert_allclose(everything @ policy.parameters, policy.parameters, atol=1e-9)


def test_only_linear_scorers_have_a_document_space() -> None:
    with pytest.raises(SettingError, match="a projection needs the features of a linear scorer"):
        MGD(scorer=MLP(), projection=DocumentSpace())
