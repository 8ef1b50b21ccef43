"""A neural network as scorer, in plain NumPy."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass
from functools import lru_cache
from itertools import pairwise

import numpy as np

from rankloop.bounds import Count, Natural, Positive, check_settings
from rankloop.errors import RankingError, SettingError
from rankloop.scorers.gradients import Gradients
from rankloop.scorers.scorer import Scorer
from rankloop.types import FloatArray


@dataclass(frozen=True)
class MLP(Scorer):
    r"""A multi-layer perceptron with rectified units, which starts out as zero everywhere.

    $$f(x; \theta) = c\, W_L\, h_{L-1}, \qquad h_l = \phi(c\, W_l\, h_{l-1} / \sqrt{m_l}), \qquad h_0 = x,$$

    with $\phi(z) = \max(z, 0)$ and hidden layers of $m_l$ units. Every unit has a twin, equal at first and
    read with the opposite sign, so that $f(x; \theta_0) = 0$ up to rounding: no document is preferred before
    anything was learned, and yet the units differ.

    `scale` is the size $s$ of the weights $c\, W$ at the start. With 1 it is the papers' network
    $\sqrt{m}\, W_L\, \phi(W_{L-1} \cdots \phi(W_1 x))$, in the unit in which their $g / \sqrt{m}$ is the
    gradient and their $m \lambda \lVert\theta - \theta_0\rVert^2$ is
    $\lambda \lVert\theta - \theta_0\rVert^2$. That far out the units hardly change while the scores are
    learned, and a network of ordinary width learns little more than a linear ranker does; below 1 the units
    themselves are learned. The constant $c = s^{1-L}$ keeps gradients at the start as long as those of a
    linear scorer, up to $\sqrt{L}$, so that learning rates carry over.

    `hidden` are the numbers of units, all even, or one such number; `seed` decides the start. It computes in
    the precision of the features.

    >>> scorer, features = MLP((4, 4)), np.array([[1.0, 0.0], [0.0, 1.0]])
    >>> start = scorer.start(2)
    >>> np.abs(scorer.score(start, features)).max().round(12).item()
    0.0
    >>> better = start + 0.1 * scorer.vjp(start, features, np.array([1.0, -1.0]))
    >>> first, second = scorer.score(better, features).tolist()
    >>> first > second
    True

    Jacot, Gabriel, Hongler: Neural tangent kernel. NeurIPS 2018. Chizat, Oyallon, Bach: On lazy training in
    differentiable programming. NeurIPS 2019. Zhou, Li, Gu: Neural contextual bandits with UCB-based
    exploration. ICML 2020, for the start.
    """

    hidden: tuple[Count, ...] | Count = (100, 100)
    _: KW_ONLY
    scale: Positive = 0.25
    seed: Natural = 0

    def __post_init__(self) -> None:
        check_settings(self)
        if not self.widths or any(m % 2 for m in self.widths):  # each unit has a twin
            raise SettingError(f"hidden must be even numbers, found {self.hidden}")

    @property
    def widths(self) -> tuple[int, ...]:
        """The numbers of units of the hidden layers."""
        return self.hidden if isinstance(self.hidden, tuple) else (self.hidden,)

    def start(self, n_features: int, number: int = 0) -> FloatArray:
        """Random units and their twins, as with the seed `seed + number`."""
        return _start(n_features, self.widths, self.scale ** (1 + len(self.widths)), self.seed + number)

    def score(self, parameters: FloatArray, features: FloatArray) -> FloatArray:
        """One pass through the layers."""
        weights = self._weights(parameters, features)
        scores = _given(weights, features)[-1] @ weights[-1].swapaxes(-1, -2)
        return scores[..., 0]

    def matrices(self, parameters: FloatArray, n_features: int) -> list[FloatArray]:
        r"""List the layers' matrices $c\, W_l / \sqrt{m_l}$, [n_out, n_in]: what is left to do is to rectify.

        >>> [each.shape for each in MLP((4, 2)).matrices(MLP((4, 2)).start(3), 3)]
        [(4, 3), (2, 4), (1, 2)]
        """
        return self._weights(parameters, np.zeros((1, n_features), parameters.dtype))

    def vjp(self, parameters: FloatArray, features: FloatArray, coefficients: FloatArray) -> FloatArray:
        """One pass forward and one back."""
        return self.gradients(parameters, features).total(coefficients)

    def gradients(self, parameters: FloatArray, features: FloatArray) -> Gradients:
        """Backpropagation, layer by layer from the score."""
        weights = self._weights(parameters, features)
        given = _given(weights, features)
        deltas = [np.ones_like(given[-1][..., :1])]
        for weight, activation in zip(weights[:0:-1], given[:0:-1], strict=True):
            deltas.append((deltas[-1] @ weight) * (activation > 0))
        layers = zip(deltas[::-1], weights, given, strict=True)
        return Gradients([(delta * self._unit(weight.shape[-2]), below) for delta, weight, below in layers])

    def _weights(self, parameters: FloatArray, features: FloatArray) -> list[FloatArray]:
        r"""List the layers' matrices $c\, W_l / \sqrt{m_l}$."""
        shapes = [(n_out, n_in) for n_in, n_out in pairwise((features.shape[-1], *self.widths, 1))]
        ends = np.cumsum([n_out * n_in for n_out, n_in in shapes])
        if parameters.shape[-1] != ends[-1]:
            known = (parameters.shape[-1] - ends[-1]) // self.widths[0] + features.shape[-1]
            raise RankingError(f"this ranker knows {known} features but the query has {features.shape[-1]}")
        flat = np.split(parameters.astype(features.dtype, copy=False), ends[:-1], axis=-1)
        return [
            self._unit(shape[0]) * block.reshape(*block.shape[:-1], *shape)
            for block, shape in zip(flat, shapes, strict=True)
        ]

    def _unit(self, n_out: int) -> float:
        return self.scale ** -len(self.widths) / math.sqrt(n_out)


@lru_cache(maxsize=64)  # a penalty on the way from the start needs it in every step
def _start(n_features: int, widths: tuple[int, ...], size: float, seed: int) -> FloatArray:
    """Twins are neighbours; with their doubled inputs folded in, the first layer's have variance 2 for 4."""
    rng = np.random.default_rng(seed)
    units = math.sqrt(2) * rng.standard_normal((widths[0] // 2, n_features))
    blocks: list[FloatArray] = [np.repeat(units, 2, axis=0)]
    for n_in, n_out in pairwise(widths):
        blocks.append(np.kron(2 * rng.standard_normal((n_out // 2, n_in // 2)), np.eye(2)))
    blocks.append(np.kron(math.sqrt(2) * rng.standard_normal(widths[-1] // 2), (1.0, -1.0)))
    start = size * np.concatenate([block.ravel() for block in blocks])
    start.flags.writeable = False
    return start


def _given(weights: list[FloatArray], features: FloatArray) -> list[FloatArray]:
    """List what every layer is given: the features, then what the hidden layers make of them."""
    given = [features]
    for weight in weights[:-1]:
        given.append(np.maximum(given[-1] @ weight.swapaxes(-1, -2), 0))
    return given
