"""Modules of PyTorch serve as scorers, and agree with the network that needs none."""

from __future__ import annotations

import subprocess
import sys
from functools import partial
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from rankloop.checks import LAWS
from rankloop.errors import RankingError, SettingError
from rankloop.policies import PDGD, P2NeurRank
from rankloop.scorers import MLP, Module
from rankloop.scorers import torch_module as module
from rankloop.types import FloatArray


def plain(n_features: int) -> Any:
    return nn.Sequential(
        nn.Linear(n_features, 6, bias=False),
        nn.ReLU(),
        nn.Linear(6, 4, bias=False),
        nn.ReLU(),
        nn.Linear(4, 1, bias=False),
    )


def small(n_features: int) -> Any:
    return nn.Sequential(nn.Linear(n_features, 3), nn.Tanh(), nn.Dropout(0.5), nn.Linear(3, 1))


def units(n_features: int) -> FloatArray:
    """What MLP((6, 4), scale=1) multiplies its weights with: 1/√m of their layer."""
    return np.repeat(1 / np.sqrt([6, 4, 1]), [6 * n_features, 4 * 6, 4])


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_the_closed_form_agrees_with_automatic_differentiation(kind: type[np.floating[Any]]) -> None:
    rng = np.random.default_rng(0)
    features, weights = rng.random((7, 5)).astype(kind), rng.standard_normal((2, 7)).astype(kind)
    ours, theirs, unit = MLP((6, 4), scale=1.0), Module(plain), units(5)
    stack = ours.start(5) + 0.3 * rng.standard_normal((2, ours.start(5).size))
    close = partial(np.testing.assert_allclose, rtol=1e-4, atol=1e-5)
    close(ours.score(stack, features), theirs.score(unit * stack, features))
    close(ours.vjp(stack, features, weights), unit * theirs.vjp(unit * stack, features, weights))
    close(ours.gradients(stack, features).dense(), unit * theirs.gradients(unit * stack, features).dense())
    close(
        ours.gradients(stack[0], features).dense(),
        unit * theirs.gradients(unit * stack[0], features).dense(),
    )


def test_the_start_is_seeded_and_leaves_the_randomness_of_others_alone() -> None:
    torch.manual_seed(1)
    expected = torch.rand(1)
    torch.manual_seed(1)
    start = Module(small, seed=3).start(5)
    Module(small).score(start, np.eye(5))
    assert torch.rand(1) == expected
    np.testing.assert_array_equal(start, Module(small, seed=3).start(5))
    assert not np.allclose(start, Module(small, seed=4).start(5))
    np.testing.assert_array_equal(start, Module(small, seed=1).start(5, 2))  # the third, side by side


def test_nobody_can_change_the_start() -> None:
    with pytest.raises(ValueError, match="read-only"):
        Module(small).start(5)[0] = 1.0


def test_scores_are_the_modules_own() -> None:
    features = np.random.default_rng(0).random((4, 5)).astype(np.float32)
    torch.manual_seed(3)
    net = small(5).eval()
    expected = net(torch.as_tensor(features)).detach().numpy()[:, 0]
    scorer = Module(small, seed=3)
    np.testing.assert_allclose(scorer.score(scorer.start(5), features), expected, rtol=1e-5)


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
@pytest.mark.parametrize("kind", [PDGD, P2NeurRank])
def test_policies_obey_the_laws_with_it(kind: Any, law: Any) -> None:
    law(partial(kind, scorer=Module(small)))


def test_other_features_are_refused() -> None:
    with pytest.raises(RankingError, match="22 parameters, but for 4 features the module has 19"):
        Module(small).score(Module(small).start(5), np.zeros((2, 4)))


def test_what_is_not_learned_is_seeded_and_stays() -> None:
    """A buffer, and a layer that is frozen."""

    class Sighted(nn.Module):  # type: ignore[misc]
        def __init__(self, n_features: int) -> None:
            super().__init__()
            self.register_buffer("shift", torch.randn(n_features))
            self.frozen = nn.Linear(n_features, 3).requires_grad_(requires_grad=False)
            self.learned = nn.Linear(3, 1)

        def forward(self, documents: Any) -> Any:
            return self.learned(torch.tanh(self.frozen(documents - self.shift)))

    scorer, features = Module(Sighted, seed=3), np.eye(5)
    start = scorer.start(5)
    assert start.shape == (3 + 1,)
    before = scorer.score(start, features)
    module._module.cache_clear()
    torch.rand(1)
    np.testing.assert_array_equal(scorer.score(start, features), before)
    torch.manual_seed(3)
    theirs = Sighted(5).double()(torch.as_tensor(features)).detach().numpy()[:, 0]
    np.testing.assert_allclose(before, theirs, rtol=1e-6)


@pytest.mark.parametrize("make", [3, "mlp", nn.Linear(3, 1)], ids=repr)
def test_what_makes_no_module_is_refused(make: Any) -> None:
    with pytest.raises(SettingError, match="make must be a function"):
        Module(make)


def test_modules_that_cannot_serve_are_refused() -> None:
    with pytest.raises(SettingError, match="no parameters"):
        Module(lambda _: nn.Tanh()).start(3)
    pair = Module(lambda n_features: nn.Linear(n_features, 2))
    with pytest.raises(RankingError, match=r"a score for each document, here 4, .* \(4, 2\)"):
        pair.score(pair.start(3), np.zeros((4, 3)))
    with pytest.raises(SettingError, match="Module: seed must be a whole number of at least 0, found -1"):
        Module(small, seed=-1)


def test_its_name_is_the_same_in_every_process() -> None:
    assert repr(Module(small, seed=2)) == "Module(small, seed=2, device='cpu')"


def test_without_pytorch_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    module._torch.cache_clear()
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(SettingError, match=r"pip install 'rankloop\[neural\]'"):
        Module(small)


def test_nothing_else_needs_pytorch() -> None:
    source = "import sys; import rankloop.cli, rankloop.checks; assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", source], check=True)
