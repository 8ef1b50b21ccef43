"""MTER: gradients are those of the loss, and contracted pairs are pairs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from rankloop.lab.data.review_data import AccessoryShop
from rankloop.lab.recommenders import MTERS, MTERSA, read_recommender
from rankloop.recommend import MTER, JointFactorization
from rankloop.recommend.joint_factorization import NegativeSampler, TrainingBatch
from rankloop.recommend.opinion_tensors import (
    TuckerFactors,
    build_opinion_cells,
    build_word_cells,
    compute_cell_gradients,
    compute_pair_gradients,
    predict,
)
from rankloop.recommend.reviews import Mentions

REVIEWS = AccessoryShop(users=20, items=15).reviews()
TENSORS = build_opinion_cells(REVIEWS), build_word_cells(REVIEWS, "user"), build_word_cells(REVIEWS, "item")
KINDS = [
    MTER(dims=(3, 4, 2, 3), zeros=0.5),
    MTER(dims=(2, 2, 2, 2), signed=True, mean=False),
    MTERS(d=3),
    MTERSA(d=3),
]


def begun(model: JointFactorization) -> JointFactorization:
    twin = replace(model)
    twin._begin(REVIEWS, np.random.default_rng(3))
    return twin


def loss(model: JointFactorization, batch: TrainingBatch) -> float:
    """The loss of a batch, from whole tensors."""
    weights, pair_weight = model._weights(batch)
    if isinstance(model, MTER):
        core = model.opinion_core, model.user_core, model.item_core
        mode = (
            (model.users, model.items, model.features),
            (model.users, model.features, model.words),
            (model.items, model.features, model.words),
        )
        whole = [np.einsum("abc,ia,jb,kc->ijk", g, *three) for g, three in zip(core, mode, strict=True)]
    else:
        assert isinstance(model, MTERS)
        whole = [np.einsum("ir,jr,kr->ijk", *map(model._factor, modes)) for modes in model.modes]
    total = sum(
        weight * ((tensor[tuple(index.T)] - value) ** 2).sum()
        for tensor, (index, value), weight in zip(whole, batch.cells, weights, strict=True)
    )
    overall = whole[0][:, :, -1]
    margin = batch.sign * (overall[batch.user, batch.better] - overall[batch.user, batch.worse])
    return float(total + pair_weight * np.logaddexp(0, -margin).sum())


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: f"{type(kind).__name__} {kind.mean}")
def test_gradients_are_those_of_the_loss(kind: JointFactorization) -> None:
    model = begun(kind)
    batch = model.draw(REVIEWS, TENSORS, NegativeSampler.of(REVIEWS), np.random.default_rng(5))
    rng = np.random.default_rng(6)
    for name, parts in model.gradients(batch).items():
        values = getattr(model, name)
        whole = np.zeros(values.shape)
        for gradient, rows in parts:
            np.add.at(whole, np.arange(len(whole)) if rows is None else rows, gradient)
        for cell in zip(*(rng.integers(size, size=4) for size in values.shape), strict=True):
            values[cell] += 1e-5
            high = loss(model, batch)
            values[cell] -= 2e-5
            low = loss(model, batch)
            values[cell] += 1e-5
            assert whole[cell] == pytest.approx((high - low) / 2e-5, rel=1e-4, abs=1e-5), name


def test_contracted_pairs_are_uncontracted_pairs() -> None:
    rng = np.random.default_rng(0)
    user, better, worse = rng.random((6, 3)), rng.random((6, 4)), rng.random((6, 4))
    core, overall, sign = rng.random((3, 4, 2)), rng.random(2), rng.choice([-1.0, 1.0], 6)
    found = compute_pair_gradients(user, better - worse, sign, core, overall, 2.0)
    rows = np.tile(overall, (6, 1))
    margin = predict(TuckerFactors(user, better, rows, core)) - predict(
        TuckerFactors(user, worse, rows, core)
    )
    slope = -2.0 * sign / (1 + np.exp(sign * margin))
    # the derivative of a prediction: that of its squared error around a value that is a half away
    ours, theirs = (
        compute_cell_gradients(parts := TuckerFactors(user, items, rows, core), predict(parts) - 0.5, slope)
        for items in (better, worse)
    )
    assert found.user == pytest.approx(ours.first - theirs.first)
    assert found.better == pytest.approx(ours.second)
    assert found.core == pytest.approx(ours.core - theirs.core)
    assert found.overall == pytest.approx((ours.third - theirs.third).sum(0))


def test_cells_follow_their_formulas() -> None:
    mentions = Mentions(
        np.array([0, 0, 0, 1]), np.array([2, 2, 3, 2]), np.array([1, -1, 1, -1]), np.array([0, 1, 0, 1])
    )
    reviews = replace(REVIEWS, mentions=mentions)
    cells = build_opinion_cells(reviews)
    values = {tuple(index): value for index, value in zip(cells.index.tolist(), cells.value, strict=True)}
    user, item = REVIEWS.user.tolist(), REVIEWS.item.tolist()
    assert values[user[0], item[0], 2] == 1 + 4 / 2  # praise and blame: a sum of 0 is known
    assert values[user[0], item[0], 3] == pytest.approx(1 + 4 / (1 + np.exp(-1)))
    assert values[user[0], item[0], 10] == REVIEWS.rating[0]
    words = build_word_cells(reviews, "user")
    assert sorted(map(tuple, words.index.tolist())) == [
        (user[0], 2, 0),
        (user[0], 3, 0),
    ]  # positive ones alone
    assert words.value == pytest.approx(1 + 4 * (2 / (1 + np.exp(-1)) - 1))


@pytest.mark.parametrize("name", ["MTER", "MTER@engineered", "MTER@zeros"])
def test_a_preset_starts_near_the_middle_and_stays_allowed(name: str) -> None:
    kind = read_recommender(name)
    assert isinstance(kind, MTER)
    model = begun(kind)
    model._finish()
    assert 2 < float(model.score_users(np.arange(20)).mean()) < 5
    fitted = replace(kind, iterations=20).fit(REVIEWS, np.random.default_rng(0))
    least = min(float(getattr(fitted, each).min()) for each in fitted.parameters())
    assert (least < 0) == fitted.signed


@pytest.mark.parametrize("kind", [MTER, MTERS, MTERSA])
def test_without_pairs_ratings_are_approached(kind: type[JointFactorization]) -> None:
    model = kind(pair_weight=1e-6, iterations=150, validation_share=0.0)
    first = begun(model)
    first._finish()
    assert loss_of(model.fit(REVIEWS, np.random.default_rng(3))) < 0.5 * loss_of(first)


def loss_of(model: JointFactorization) -> float:
    """How far predicted ratings of the reviews are from them."""
    return float(
        (
            (model.score_users(REVIEWS.user)[np.arange(len(REVIEWS)), REVIEWS.item] - REVIEWS.rating) ** 2
        ).mean()
    )
