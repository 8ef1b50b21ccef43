"""Steps of top-k feedback: exploration, weights, and how far to go."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from rankloop.errors import RankingError, SettingError
from rankloop.policies.graded.topk_steps import AdaGrad, DocumentSchedule, Step, within_ball
from rankloop.types import FloatArray

PROPENSITIES = st.floats(1e-9, 1.0)


def test_adagrad_is_the_adagrad_of_pytorch() -> None:
    """On a bowl, step by step."""
    here: FloatArray = np.array([1.0, -2.0])
    sums: FloatArray = np.zeros(2)
    theirs = torch.tensor(here, requires_grad=True)
    optimizer = torch.optim.Adagrad([theirs], lr=0.1, eps=1e-12)
    for number in range(20):
        step, sums = AdaGrad().step(np.array([2.0, 20.0]) * here, sums, number)
        here = here - step
        optimizer.zero_grad()
        (theirs**2 @ torch.tensor([1.0, 10.0], dtype=torch.float64)).backward()
        optimizer.step()
        np.testing.assert_allclose(here, theirs.detach().numpy(), atol=1e-9)


@pytest.mark.parametrize("step", [AdaGrad(), DocumentSchedule()])
def test_exploration_falls_with_the_third_root_of_the_round(step: Step) -> None:
    assert [step.exploration(rounds) for rounds in (0, 7, 999)] == pytest.approx([0.1, 0.1 / 2, 0.1 / 10])


def test_the_document_s_steps_fall_with_the_root_of_the_squared_round() -> None:
    for rounds, size in ((0, 0.01), (7, 0.01 / 4), (999, 0.01 / 100)):
        assert DocumentSchedule().step(np.ones(1), np.zeros(1), rounds)[0] == pytest.approx(size)


@given(propensity=PROPENSITIES, greedy=st.booleans())
def test_without_cap_or_constant_weights_are_exact(propensity: float, greedy: bool) -> None:
    for step in (AdaGrad(cap=np.inf), AdaGrad(cap=1e10), DocumentSchedule(scale=1.0)):
        assert step.weight(propensity, greedy=greedy) == 1 / propensity


@given(propensity=PROPENSITIES, greedy=st.booleans())
def test_a_cap_or_a_constant_only_ever_takes_weight_away(propensity: float, greedy: bool) -> None:
    assert AdaGrad().weight(propensity, greedy=greedy) == min(1 / propensity, 10)
    scaled = DocumentSchedule().weight(propensity, greedy=greedy)
    assert scaled == pytest.approx(1 / propensity if greedy else max(1.0, 0.01 / propensity))


def test_what_cannot_be_seen_counts_nothing() -> None:
    for step in (AdaGrad(), AdaGrad(cap=np.inf), DocumentSchedule()):
        assert step.weight(0.0, greedy=False) == 0


@given(
    parameters=st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=4).map(np.array),
    radius=st.floats(1e-3, 1e3),
)
def test_projection_is_the_nearest_point_of_the_ball(parameters: FloatArray, radius: float) -> None:
    found = within_ball(parameters, radius)
    length = np.linalg.norm(parameters)
    assert np.linalg.norm(found) <= radius * (1 + 1e-12)
    assert np.linalg.norm(parameters - found) == pytest.approx(max(0.0, length - radius), rel=1e-9, abs=1e-9)
    assert within_ball(parameters, None) is parameters


def test_sums_that_would_be_infinite_are_explained() -> None:
    with pytest.raises(RankingError, match="scale the features"):
        AdaGrad().step(np.array([1e200]), np.zeros(1), 0)


@pytest.mark.parametrize(
    ("kind", "settings"),
    [
        (AdaGrad, {"learning_rate": 0}),
        (AdaGrad, {"learning_rate": np.nan}),
        (AdaGrad, {"cap": 0}),
        (AdaGrad, {"gamma": 1.5}),
        (DocumentSchedule, {"learning_rate": -1}),
        (DocumentSchedule, {"scale": 0.5}),
        (DocumentSchedule, {"gamma": -0.1}),
    ],
)
def test_settings_without_a_meaning_are_refused(kind: Any, settings: dict[str, float]) -> None:
    with pytest.raises(SettingError, match=next(iter(settings))):
        kind(**settings)
