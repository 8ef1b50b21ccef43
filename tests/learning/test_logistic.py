"""Logistic regression on pairs, against scipy, scikit-learn and plain linear algebra."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from rankloop.learning import logistic
from rankloop.types import FloatArray


def some_pairs(seed: int, n: int = 40, d: int = 4, scale: float = 1.0) -> FloatArray:
    """Differences that mostly, but not always, agree with hidden weights."""
    rng = np.random.default_rng(seed)
    pairs = scale * rng.normal(size=(n, d))
    agrees = rng.random(n) < expit(pairs @ rng.normal(size=d))
    return np.where(agrees[:, None], pairs, -pairs)


def slow_loss(pairs: FloatArray, weights: FloatArray, regularisation: float) -> float:
    return sum(float(np.log1p(np.exp(-(pair @ weights)))) for pair in pairs) + regularisation / 2 * float(
        (weights**2).sum()
    )


def gradient(pairs: FloatArray, weights: FloatArray, regularisation: float) -> FloatArray:
    slope: FloatArray = regularisation * weights - pairs.T @ expit(-(pairs @ weights))
    return slope


def positive_definite(rng: np.random.Generator, d: int) -> FloatArray:
    root = rng.normal(size=(d, d))
    return root @ root.T + 0.1 * np.eye(d)


def stepped(
    start: FloatArray, curvature: FloatArray, pairs: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The online step, and the gradient of its objective there, in the units of the weights."""
    weights, inverse = logistic.online_newton(start, np.linalg.inv(curvature), pairs)
    slope = curvature @ (weights - start) - pairs.T @ expit(-(pairs @ weights))
    return weights, inverse, np.linalg.solve(curvature, slope)


@given(seed=st.integers(0, 2**32), regularisation=st.sampled_from([0.01, 1.0, 30.0]))
def test_the_loss_is_a_sum_over_pairs(seed: int, regularisation: float) -> None:
    pairs, weights = some_pairs(seed, n=7), np.random.default_rng(seed).normal(size=4)
    expected = slow_loss(pairs, weights, regularisation)
    assert logistic.loss(pairs, weights, regularisation) == pytest.approx(expected)


@pytest.mark.parametrize("regularisation", [0.01, 1.0, 30.0])
@pytest.mark.parametrize("guided", [False, True], ids=["newton", "preconditioned"])
def test_the_fit_is_that_of_scikit_learn(regularisation: float, guided: bool) -> None:
    """Each pair also the other way round, at half the weight: scikit-learn wants two classes."""
    pairs = some_pairs(3, n=200, d=6)
    both, labels = np.vstack((pairs, -pairs)), np.repeat((1, 0), len(pairs))
    reference = LogisticRegression(
        C=1 / regularisation, fit_intercept=False, solver="newton-cholesky", tol=1e-12, max_iter=200
    ).fit(both, labels, sample_weight=np.full(len(both), 0.5))
    guide = np.linalg.inv(logistic.curvature(pairs, np.full(6, 0.1), regularisation)) if guided else None
    found = logistic.fit(pairs, regularisation, np.zeros(6), preconditioner=guide)
    np.testing.assert_allclose(found, reference.coef_[0], rtol=1e-6, atol=1e-7)


@given(
    seed=st.integers(0, 2**32),
    regularisation=st.sampled_from([1e-3, 0.1, 1.0, 30.0]),
    guided=st.booleans(),
    tilted=st.booleans(),
)
def test_the_gradient_vanishes_at_the_fit(
    seed: int, regularisation: float, guided: bool, tilted: bool
) -> None:
    """A tilt g adds -gᵀθ to the loss, and so moves the gradient by -g."""
    rng, pairs = np.random.default_rng(seed), some_pairs(seed)
    tilt = np.sqrt(0.1) * rng.normal(size=len(pairs)) @ pairs if tilted else None
    guide = np.linalg.inv(logistic.curvature(pairs, np.zeros(4), regularisation)) if guided else None
    found = logistic.fit(pairs, regularisation, np.zeros(4), preconditioner=guide, tilt=tilt)
    rest = gradient(pairs, found, regularisation) - (0.0 if tilt is None else tilt)
    assert np.abs(rest).max() < 1e-5


@pytest.mark.parametrize("tilted", [False, True], ids=["plain", "tilted"])
def test_the_fit_is_that_of_scipy(tilted: bool) -> None:
    pairs = some_pairs(5)
    tilt = np.array([1.0, -2.0, 0.0, 3.0]) if tilted else np.zeros(4)
    reference = minimize(
        lambda weights: slow_loss(pairs, weights, 0.5) - float(tilt @ weights),
        np.zeros(4),
        jac=lambda weights: gradient(pairs, weights, 0.5) - tilt,
        method="BFGS",
        options={"gtol": 1e-9},
    )
    found = logistic.fit(pairs, 0.5, np.ones(4), tilt=tilt if tilted else None)
    np.testing.assert_allclose(found, reference.x, rtol=1e-6, atol=1e-7)


def test_a_guide_that_misleads_does_not_keep_the_fit_from_the_minimum() -> None:
    """Under a strong tilt the loss is nearly flat, and its curvature elsewhere says nothing of it."""
    rng, pairs = np.random.default_rng(2), some_pairs(2, n=30, d=8)
    guide = np.linalg.inv(logistic.curvature(pairs, np.zeros(8), 1e-4))
    tilt = rng.normal(size=len(pairs)) @ pairs
    found = logistic.fit(pairs, 1e-4, guide @ tilt, preconditioner=guide, tilt=tilt)
    assert np.abs(gradient(pairs, found, 1e-4) - tilt).max() < 1e-5


@given(seed=st.integers(0, 2**32), regularisation=st.sampled_from([0.1, 2.0]))
def test_the_curvature_is_the_second_derivative(seed: int, regularisation: float) -> None:
    pairs, weights = some_pairs(seed), np.random.default_rng(seed).normal(size=4)
    h = 1e-5
    numerical = [
        gradient(pairs, weights + step, regularisation) - gradient(pairs, weights - step, regularisation)
        for step in h * np.eye(4)
    ]
    found = logistic.curvature(pairs, weights, regularisation)
    np.testing.assert_allclose(found, np.array(numerical) / (2 * h), rtol=1e-6, atol=1e-6)


@given(seed=st.integers(0, 2**32), n=st.integers(1, 9))
def test_absorbing_pairs_equals_inverting_anew(seed: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    matrix, pairs, weights = positive_definite(rng, 5), rng.normal(size=(n, 5)), rng.uniform(0.01, 3, size=n)
    grown = matrix + sum(weight * np.outer(pair, pair) for weight, pair in zip(weights, pairs, strict=True))
    inverse, growth = logistic.absorb(np.linalg.inv(matrix), pairs, weights)
    np.testing.assert_allclose(inverse, np.linalg.inv(grown), rtol=1e-6, atol=1e-9)
    assert growth == pytest.approx(np.linalg.slogdet(grown)[1] - np.linalg.slogdet(matrix)[1], rel=1e-6)


def test_absorbing_stays_exact_over_many_rounds() -> None:
    rng, log_det = np.random.default_rng(0), 0.0
    inverse: FloatArray = np.eye(6) / 2.0
    rounds = [rng.normal(size=(3, 6)) for _ in range(2000)]
    for pairs in rounds:
        inverse, growth = logistic.absorb(inverse, pairs, np.ones(3))
        log_det += growth
    every = np.vstack(rounds)
    direct = 2.0 * np.eye(6) + every.T @ every
    np.testing.assert_allclose(inverse, np.linalg.inv(direct), rtol=1e-8, atol=1e-14)
    assert log_det == pytest.approx(np.linalg.slogdet(direct)[1] - 6 * np.log(2.0), rel=1e-10)


@given(seed=st.integers(0, 2**32), n=st.integers(1, 6), scale=st.sampled_from([0.1, 1.0, 10.0]))
def test_the_online_step_minimises_its_objective(seed: int, n: int, scale: float) -> None:
    """The gradient of ½‖ϑ - θ‖²_H + Σ log(1 + exp(-xᵀϑ)) vanishes, also after big and wrong margins."""
    rng = np.random.default_rng(seed)
    start, curvature, pairs = rng.normal(size=5), positive_definite(rng, 5), scale * rng.normal(size=(n, 5))
    weights, _, rest = stepped(start, curvature, pairs)
    assert np.abs(rest).max() < 1e-5 * (1 + np.abs(weights).max())


def test_the_online_step_is_that_of_scipy() -> None:
    rng = np.random.default_rng(4)
    start, curvature, pairs = rng.normal(size=5), positive_definite(rng, 5), rng.normal(size=(4, 5))

    def objective(weights: FloatArray) -> float:
        away = weights - start
        return float(away @ curvature @ away) / 2 + slow_loss(pairs, weights, 0.0)

    reference = minimize(objective, start, method="BFGS", options={"gtol": 1e-8})
    weights, _, _ = stepped(start, curvature, pairs)
    np.testing.assert_allclose(weights, reference.x, atol=1e-5)


@given(seed=st.integers(0, 2**32), n=st.integers(1, 6))
def test_the_online_step_adds_the_new_pairs_to_the_curvature(seed: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    start, curvature, pairs = rng.normal(size=5), positive_definite(rng, 5), rng.normal(size=(n, 5))
    weights, inverse, _ = stepped(start, curvature, pairs)
    grown = curvature + logistic.curvature(pairs, weights, 0.0)
    np.testing.assert_allclose(inverse, np.linalg.inv(grown), rtol=1e-5, atol=1e-8)


@given(seed=st.integers(0, 2**32), margin=st.floats(-50, 50), scale=st.sampled_from([1e-3, 1.0, 100.0]))
def test_a_single_pair_is_learned_as_it_is_together_with_a_tie(
    seed: int, margin: float, scale: float
) -> None:
    """Alone it has a way of its own; a pair of equals teaches nothing, but makes them two."""
    rng = np.random.default_rng(seed)
    pair, inverse = scale * rng.normal(size=(1, 4)), np.linalg.inv(positive_definite(rng, 4))
    start = margin * pair[0] / (pair @ pair.T).item()
    close = 10 * logistic.CLOSE * (1 + (pair @ inverse @ pair.T).item())  # pulls are exact up to CLOSE
    alone = logistic.online_newton(start, inverse, pair)
    together = logistic.online_newton(start, inverse, np.vstack((pair, np.zeros(4))))
    for one, other in zip(alone, together, strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=close * np.abs(other).max())


def test_an_online_step_from_a_wide_and_wrong_belief_does_not_swing_past_the_minimum() -> None:
    """Newton's method without halving swings between no pull and full pull here, for ever."""
    weights, inverse = logistic.online_newton(np.array([-10.0]), np.array([[40.0]]), np.array([[1.0]]))
    assert weights[0] == pytest.approx(-10 + 40 * expit(-weights[0]))
    assert inverse[0, 0] == pytest.approx(1 / (1 / 40 + expit(weights[0]) * expit(-weights[0])))


@pytest.mark.parametrize("margin", [1e3, -1e3])
def test_extreme_margins_stay_finite(margin: float) -> None:
    """The pair is settled, or as wrong as can be: the pull of a wrong pair is 1, not more."""
    pairs, start = np.array([[margin, 0.0], [0.0, 1.0]]), np.array([1.0, 0.0])
    assert logistic.loss(pairs[:1], start, 2.0) == pytest.approx(1.0 + max(0.0, -margin))
    fitted = logistic.fit(pairs, 1.0, start)
    assert np.abs(gradient(pairs, fitted, 1.0)).max() < 1e-5
    weights, inverse, rest = stepped(start, np.eye(2), pairs)
    assert np.isfinite(weights).all()
    assert np.abs(rest).max() < 1e-5
    assert (np.linalg.eigvalsh(inverse) > 0).all()
    assert np.isfinite(logistic.absorb(inverse, pairs, logistic.slopes(pairs @ weights))[1])
    assert logistic.slopes(np.array([-1e3, 1e3])).tolist() == [1e-9, 1e-9]


def clear_residuals(gram: FloatArray, margins: FloatArray) -> FloatArray:
    def outcome(residual: FloatArray) -> tuple[FloatArray, float]:
        gain = gram @ residual
        return margins + gain, float(residual @ gain) / 2 + float(np.logaddexp(0.0, -margins - gain).sum())

    residual: FloatArray = expit(-margins)
    now, value = outcome(residual)
    for _ in range(logistic.NEWTON_STEPS):
        error = residual - expit(-now)
        if np.abs(error).max() < logistic.CLOSE:
            break
        step = np.linalg.solve(np.eye(len(residual)) + logistic.slopes(now)[:, None] * gram, error)
        while (ahead := outcome(residual - step))[1] > value + 1e-12 * (1.0 + value):
            step = step / 2
        residual, (now, value) = residual - step, ahead
    return residual


def clear_step(
    parameters: FloatArray, inverse: FloatArray, pairs: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Slow and clear: every product where it is needed, whatever was computed before."""
    projected = pairs @ inverse
    gram, margins = projected @ pairs.T, pairs @ parameters
    one = len(pairs) == 1
    residual = (
        np.array([logistic._residual_of_one(gram.item(), margins.item())])
        if one
        else clear_residuals(gram, margins)
    )
    weights = logistic.slopes(margins + gram @ residual)
    factor = np.linalg.cholesky(projected @ pairs.T + np.diag(1.0 / weights))
    removed = projected / factor if one else np.linalg.solve(factor, projected)
    return parameters + residual @ projected, inverse - removed.T @ removed


@given(
    seed=st.integers(0, 2**32),
    n=st.integers(1, 6),
    d=st.sampled_from([1, 2, 5, 46, 136]),
    scale=st.sampled_from([0.01, 1.0, 30.0]),
    sparse=st.booleans(),
)
def test_the_online_step_has_the_bits_of_the_clear_one(
    seed: int, n: int, d: int, scale: float, sparse: bool
) -> None:
    """Logs fold to the bit: whatever makes a step faster must not move its last digit."""
    rng = np.random.default_rng(seed)
    fast: tuple[FloatArray, FloatArray] = scale * rng.normal(size=d), np.eye(d) / rng.uniform(0.01, 30)
    slow = fast
    for _ in range(3):
        pairs = scale * rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.3 if sparse else 1.0)
        fast, slow = logistic.online_newton(*fast, pairs), clear_step(*slow, pairs)
        assert [each.tobytes() for each in fast] == [each.tobytes() for each in slow]
