"""Theory of networks: widths against their limits, the kernel against integrals and wide networks."""

from __future__ import annotations

from math import log, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankloop.errors import SettingError
from rankloop.lab.theory import NeuralWidths, effective_dimension, tangent_kernel
from rankloop.types import FloatArray


def widths(**settings: float) -> NeuralWidths:
    given_ = {"width": 100, "depth": 3, "regularisation": 0.1, "rounds": 500, "step": 1e-4, "steps": 20}
    return NeuralWidths(**{**given_, **settings})  # type: ignore[arg-type]


@given(
    m=st.integers(2, 10**6),
    deep=st.integers(2, 5),
    lam=st.floats(0.01, 2.0),
    t=st.integers(1, 10**5),
    log_det=st.floats(0, 100),
    j=st.integers(0, 50),
)
def test_widths_are_those_of_the_lemmas_term_by_term(
    m: int, deep: int, lam: float, t: int, log_det: float, j: int
) -> None:
    found = NeuralWidths(
        width=m, depth=deep, regularisation=lam, rounds=t, step=0.5 / (m * lam), steps=j, norm=2.0,
        constants=(2.0, 3.0, 5.0, 7.0),
    )  # fmt: skip
    narrow, left = m ** (-1 / 6) * sqrt(log(m)), 0.5 ** (j / 2)  # (1 - ηmλ)^(J/2)
    spread = 0.25 * (log_det + log(1 / 0.05**2))
    inner = sqrt(lam) * 5 + sqrt(spread + 7 * t ** (5 / 3) * narrow * lam ** (-1 / 6) * deep**4)
    outer = sqrt(1 + 3 * t ** (7 / 6) * narrow * lam ** (-7 / 6) * deep**4)
    assert found.alpha(log_det) == pytest.approx(outer * inner)
    terms = [
        t ** (7 / 6) * narrow * lam ** (-7 / 6) * deep**4 * (1 + sqrt(t / lam)),
        left * sqrt(t * deep / lam),
        t ** (1 / 6) * narrow * lam ** (-1 / 6) * deep**3.5 * 2.0,
        t ** (2 / 3) * narrow * lam ** (-2 / 3) * deep**3,
    ]
    assert found.error == pytest.approx(2 * sum(terms))
    assert found.short_alpha(log_det) == pytest.approx(2 * (sqrt(spread) + 3 * sqrt(lam)))
    short = [
        t ** (2 / 3) * narrow * lam ** (-2 / 3) * deep**3,
        sqrt(deep) * left * sqrt(t / lam),
        t ** (5 / 3) * m ** (-1 / 6) * lam ** (-5 / 3) * deep**4 * (1 + sqrt(t / lam)),
    ]
    assert found.short_error == pytest.approx(5 * sum(short))


def test_a_network_without_end_trained_without_end_has_the_linear_width_and_no_error() -> None:
    endless = widths(width=10**300, step=0.5 / (10**300 * 0.1), steps=10**4)
    assert endless.alpha(10.0) == pytest.approx(sqrt(0.1) + 0.5 * sqrt(10 - 2 * log(0.05)), rel=1e-6)
    assert endless.alpha(10.0) == pytest.approx(endless.short_alpha(10.0), rel=1e-6)
    assert endless.error < 1e-30


@pytest.mark.parametrize("settings", [{}, {"rounds": 5000, "regularisation": 2.0}, {"depth": 2, "rounds": 1}])
def test_the_width_that_is_needed_is_the_narrowest_that_satisfies_the_condition(
    settings: dict[str, float],
) -> None:
    network = widths(**settings)
    t, lam, deep = network.rounds, network.regularisation, network.depth

    def right(m: float) -> float:
        first = lam**-0.5 * deep**-1.5 * log(t * 120 * deep**2 / 0.05) ** 1.5
        return max(float(first), t**7 * lam**-7 * float(deep) ** 21 * log(m) ** 3)

    needed = network.width_needed(120)
    assert needed >= right(needed) * (1 - 1e-9)
    assert 0.99 * needed < right(0.99 * needed)
    assert network.step_allowed == pytest.approx(1 / (t * 100 * deep + 100 * lam))


@given(st.floats(0, 1e-3), st.floats(0.01, 0.5), st.floats(0.01, 0.25), st.floats(0, 0.3))
def test_the_chance_of_an_uncertain_pair_is_that_of_lemma_4_2_and_1_where_the_error_is_half_the_gap(
    squared: float, gap: float, slope: float, error: float
) -> None:
    found = widths().chance_uncertain(squared, gap=gap, flattest=slope, error=error)
    constant = 8 * 0.5**2 * (1 / 4) ** 2 / slope**2  # C_u = 8 ν² k_µ² / c_µ²
    expected = constant * log(1 / 0.05) / (gap - 2 * error) ** 2 * squared if gap > 2 * error else 1
    assert found == pytest.approx(min(1, expected))


def test_networks_that_do_not_descend_are_refused() -> None:
    with pytest.raises(SettingError, match="take a smaller step"):
        widths(step=1.0)
    with pytest.raises(SettingError, match="depth must be a whole number of at least 2, found 1"):
        widths(depth=1)


# The kernel


def slow_kernel(rows: FloatArray, depth: int) -> FloatArray:
    """Definition A.1 pair by pair, with expectations as integrals over the angle of a normal point."""
    angles = (np.arange(20_000) + 0.5) / 20_000 * 2 * np.pi
    circle = np.stack((np.cos(angles), np.sin(angles)))
    n = len(rows)
    sigma = rows @ rows.T
    kernel = sigma.copy()
    for _ in range(depth - 1):
        wider, longer = np.zeros((n, n)), np.zeros((n, n))
        for i in range(n):
            for j in range(n):
                both = np.array([[sigma[i, i], sigma[i, j]], [sigma[i, j], sigma[j, j]]])
                values, vectors = np.linalg.eigh(both)
                u, v = (vectors * np.sqrt(np.maximum(values, 0))) @ circle
                wider[i, j] = 2 * 2 * np.mean(np.maximum(u, 0) * np.maximum(v, 0))  # E r² = 2
                longer[i, j] = 2 * kernel[i, j] * np.mean((u > 0) & (v > 0)) + wider[i, j]
        sigma, kernel = wider, longer
    return np.asarray((kernel + sigma) / 2)


@pytest.mark.parametrize("depth", [2, 3, 4])
def test_the_kernel_is_the_integral_of_its_definition(depth: int) -> None:
    rows = np.random.default_rng(depth).normal(size=(4, 3))
    np.testing.assert_allclose(tangent_kernel(rows, depth=depth), slow_kernel(rows, depth), atol=2e-3)


def test_gradients_of_a_wide_network_have_the_kernel_as_inner_products() -> None:
    """The papers' network with two layers, f = √m W₂ φ(W₁ x), at its symmetric start; g gᵀ / m."""
    rng, half = np.random.default_rng(0), 40_000
    x = rng.normal(size=(5, 3))
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    hidden, out = rng.normal(0, sqrt(4 / (2 * half)), (half, 3)), rng.normal(0, sqrt(2 / (2 * half)), half)
    active = (x @ hidden.T) / sqrt(2)  # of one of two equal halves, the inputs being [x; x] / √2
    in_out = 2 * np.maximum(active, 0) @ np.maximum(active, 0).T
    in_hidden = 2 * ((active > 0) * out**2) @ (active > 0).T * (x @ x.T) / 2
    np.testing.assert_allclose(in_out + in_hidden, tangent_kernel(x, depth=2), atol=0.03)


@given(st.integers(0, 2**32), st.floats(0.1, 10))
def test_the_effective_dimension_is_that_of_all_documents_and_pairs(seed: int, weight: float) -> None:
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(6, 4))
    pairs = rng.integers(6, size=(5, 2))
    everything = np.vstack((features, features[pairs[:, 0]] - features[pairs[:, 1]]))
    whole = np.eye(11) + everything @ everything.T / weight
    expected = np.log(np.linalg.det(whole)) / np.log(1 + 44 / weight)
    found = effective_dimension(features @ features.T, regularisation=weight, pairs=pairs)
    assert found == pytest.approx(expected)
    alone = effective_dimension(features @ features.T, regularisation=weight)
    plain = np.log(np.linalg.det(np.eye(6) + features @ features.T / weight)) / np.log(1 + 24 / weight)
    assert alone == pytest.approx(plain)
