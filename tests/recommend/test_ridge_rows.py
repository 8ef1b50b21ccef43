"""Alternating least squares against a dense and slow reference."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from rankloop.lab.data.review_data import AccessoryShop
from rankloop.recommend import IALS, EvidenceALS
from rankloop.recommend.ridge_rows import EvidenceBlock, RowRidge
from rankloop.types import FloatArray


def dense(blocks: list[EvidenceBlock], ridge: RowRidge, prior: FloatArray, pull: float) -> FloatArray:
    """Normal equations row by row over every cell, observed or not."""
    d, solved = prior.shape[1], []
    for row in range(len(prior)):
        matrix, goal, penalty = np.zeros((d, d)), np.zeros(d), 0.0
        for block in blocks:
            there = block.rows.toarray()[row]
            for entry, vector in enumerate(block.factors):
                weight = block.weight * (there[entry] + ridge.unobserved)
                matrix += weight * np.outer(vector, vector)
                goal += weight * there[entry] * vector  # the target is 1 where it is there
                penalty += ridge.regularisation * weight
        matrix += pull * penalty * np.eye(d)
        solved.append(np.linalg.solve(matrix, goal + pull * penalty * prior[row]))
    return np.array(solved)


@given(seed=st.integers(0, 1000), pull=st.sampled_from([0.1, 1.0, 30.0]))
def test_every_row_solves_its_normal_equations(seed: int, pull: float) -> None:
    rng = np.random.default_rng(seed)
    d, n = 4, 6  # rows with fewer and with more entries than dimensions
    shapes = [(7, 1.0), (3, 0.6)]
    blocks = [
        EvidenceBlock(
            sparse.csr_array((rng.random((n, entries)) < 0.5).astype(float)),
            rng.normal(size=(entries, d)),
            weight,
        )
        for entries, weight in shapes
    ]
    ridge, prior = RowRidge(0.03, 0.01), rng.normal(size=(n, d))
    assert ridge.solve(blocks, prior=prior, strength=pull) == pytest.approx(
        dense(blocks, ridge, prior, pull), rel=1e-6, abs=1e-9
    )


@pytest.mark.parametrize("model", [IALS(d=6), EvidenceALS(d=6)])
def test_a_user_folded_in_gets_the_vector_they_were_learned_with(model: IALS) -> None:
    fitted = model.fit(AccessoryShop(users=40, items=24).reviews(), np.random.default_rng(0))
    for user in range(5):
        assert fitted.profile_newcomer(fitted.past(user)).vector == pytest.approx(
            fitted.user_factors[user], abs=1e-10
        )


def test_without_evidence_it_is_plain_als() -> None:
    reviews = AccessoryShop(users=40, items=24).reviews()
    plain = IALS(d=6).fit(reviews, np.random.default_rng(0))
    same = EvidenceALS(d=6, regularisation=0.03, token_weight=0.0).fit(reviews, np.random.default_rng(0))
    assert same.score_users(np.arange(40)) == pytest.approx(plain.score_users(np.arange(40)))


def test_a_title_gives_a_vector_to_an_item_that_nobody_reviewed() -> None:
    reviews = AccessoryShop(users=60, items=24).reviews()
    rest = reviews.select(reviews.item != 3)
    lonely = IALS(d=6).fit(rest, np.random.default_rng(0)).item_factors[3]
    known = EvidenceALS(d=6).fit(rest, np.random.default_rng(0)).item_factors[3]
    assert np.abs(lonely).max() == 0
    assert np.abs(known).max() > 0.01
