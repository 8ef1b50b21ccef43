"""Criteria of exploration: what is known becomes certain orders, which are kept; the rest is tried out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, Protocol, runtime_checkable

import numpy as np
from scipy.special import ndtri

from rankloop.bounds import Bound, NonNegative, Positive, check_settings
from rankloop.exploration import certain_orders
from rankloop.learning.top_orders import TopOrders, top_orders
from rankloop.types import BoolArray, FloatArray

FLATTEST = 1e-300  # no slope is taken for flatter: widths stay numbers


@dataclass(frozen=True, slots=True, eq=False)
class Belief:
    """What a pairwise logistic ranker knows of its weights besides their value."""

    curvature: FloatArray  # H⁻¹, [d, d]: the covariance of the weights, given the clicks so far
    design: FloatArray  # M⁻¹, [d, d]: the same without the slopes, M = λI + Σ x xᵀ
    log_det: float  # log det M - log det λI
    regularisation: float  # λ
    energy: FloatArray  # the diagonal of M, [d]


@runtime_checkable
class Certainty(Protocol):
    """A criterion for orders that are kept; no statement that they are settled."""

    @property
    def uses_design(self) -> bool:
        """Whether it looks at `design`, `log_det` and `energy`, which cost time to keep."""
        ...

    def certain(self, scores: FloatArray, features: FloatArray, belief: Belief) -> BoolArray:
        """`certain[i, j]`: document `i` belongs above document `j`."""
        ...


@dataclass(frozen=True)
class Posterior(Certainty):
    r"""An order is kept when the model is at least so sure of it; the rest is explored.

    Given the clicks, the weights are approximately normal around their estimate (Laplace's approximation),
    with the inverse curvature $H^{-1}$ of the loss as covariance. So the score difference of two documents is
    normal, too, and

    $$P(i \succ j \mid \text{clicks}) = \Phi\left(\frac{s_i - s_j}{\lVert x_i - x_j \rVert_{H^{-1}}}\right).$$

    The order is certain when this exceeds `level`. With 0.5 nothing is explored; towards 1, more and more.

    >>> belief = Belief(np.eye(1), np.eye(1), 0.0, 1.0, np.ones(1))
    >>> features = np.array([[1.0], [0.0]])  # the difference has standard deviation 1
    >>> [Posterior(level).certain(features[:, 0], features, belief)[0, 1].item() for level in (0.8, 0.9)]
    [True, False]
    """

    level: Annotated[float, Bound(at_least=0.5, below=1)] = 0.6
    uses_design: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_settings(self)

    def certain(self, scores: FloatArray, features: FloatArray, belief: Belief) -> BoolArray:
        """Compare the score differences with their standard deviations."""
        return self._kept(scores, squared_widths(features, belief.curvature))

    def top(self, scores: FloatArray, features: FloatArray, belief: Belief, k: int) -> TopOrders:
        """Find the certain orders among those that can be the first `k`; all, if that takes no longer."""
        projected, centred = projections(features, belief.curvature)
        found = top_orders(scores, projected, centred, float(ndtri(self.level)) ** 2, k)
        if found is not None:
            return found
        return TopOrders(np.arange(len(scores)), self._kept(scores, differences(projected @ centred.T)))

    def _kept(self, scores: FloatArray, squared: FloatArray) -> BoolArray:
        squared *= float(ndtri(self.level)) ** 2
        lead = np.subtract.outer(scores, scores)
        certain: BoolArray = lead > 0
        lead *= lead
        certain &= lead >= squared
        return certain


@dataclass(frozen=True)
class Width(Certainty):
    r"""The papers' criterion: $\sigma(s_i - s_j) - \alpha \lVert x_i - x_j \rVert_{M^{-1}} > \frac{1}{2}$.

    In the papers' experiments $\alpha$ is a constant, tuned from $10^{-1}$ to $10^{-4}$ for each dataset.
    With `diagonal` only $\text{diag}(M)$ counts, as the papers do for networks, where $M$ is too large: it
    takes features that move together for independent ones, and is poor already for linear rankers.

    >>> belief = Belief(np.eye(1), np.eye(1), 0.0, 1.0, np.ones(1))
    >>> features = np.array([[1.0], [0.0]])  # σ(1) = .731
    >>> [Width(alpha).certain(features[:, 0], features, belief)[0, 1].item() for alpha in (0.2, 0.3)]
    [True, False]

    Jia: Toward reliable decision-making in information systems. PhD thesis, University of Virginia 2022.
    """

    alpha: NonNegative = 0.01
    diagonal: bool = False
    uses_design: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_settings(self)

    def certain(self, scores: FloatArray, features: FloatArray, belief: Belief) -> BoolArray:
        """Compare the estimated probabilities with their confidence widths."""
        inverse = np.diag(1 / belief.energy) if self.diagonal else belief.design
        return certain_orders(scores, self.alpha * np.sqrt(squared_widths(features, inverse)))


@dataclass(frozen=True, kw_only=True)
class Theory(Certainty):
    r"""The papers' criterion with the width of their Lemma 1, which holds with probability $1 - \delta$.

    $$\alpha_t = \frac{2 k_\mu}{c_\mu} \left( \sqrt{R^2 \log \frac{\det M_t}{\delta^2 \det \lambda I}}
    + \sqrt{\lambda}\, Q \right), \qquad k_\mu = \tfrac{1}{4}, \quad c_\mu = \sigma'(Q u),$$

    for weights no longer than $Q$, feature differences no longer than $u$ and noise that is $R$-sub-Gaussian
    ($R = 1/2$ for clicks). $Q$ and $u$ are those of a world, and have no default: with others the lemma does
    not hold. `rankloop.lab.theory.measure_pair_constants` finds them for judged queries. The width is so
    large that almost everything is explored for a very long time.

    >>> nothing_seen = Belief(np.eye(1), np.eye(1), 0.0, 1.0, np.ones(1))
    >>> round(Theory(longest_weights=1.0, longest_difference=1.0, delta=0.1).alpha(nothing_seen), 3)
    5.272
    """

    longest_weights: Positive  # Q
    longest_difference: Positive  # u
    delta: Annotated[float, Bound(above=0, below=1)] = 0.05
    noise: Positive = 0.5  # R
    uses_design: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_settings(self)

    def certain(self, scores: FloatArray, features: FloatArray, belief: Belief) -> BoolArray:
        """Compare the estimated probabilities with their confidence widths."""
        return Width(self.alpha(belief)).certain(scores, features, belief)

    def alpha(self, belief: Belief) -> float:
        """Compute the factor of the width, growing with what was seen."""
        shrunk = np.exp(-self.longest_weights * self.longest_difference)
        flattest = max(shrunk / (1 + shrunk) ** 2, FLATTEST)  # c_µ
        spread = self.noise * np.sqrt(belief.log_det - 2 * np.log(self.delta))
        return float(2 * 0.25 / flattest * (spread + np.sqrt(belief.regularisation) * self.longest_weights))


def squared_widths(features: FloatArray, inverse: FloatArray) -> FloatArray:
    r"""$\lVert x_i - x_j \rVert_{A^{-1}}^2$ for all pairs at once.

    With $K = X A^{-1} X^\top$ it is $K_{ii} + K_{jj} - 2 K_{ij}$.

    >>> squared_widths(np.array([[2.0], [0.0]]), 3 * np.eye(1)).tolist()
    [[0.0, 12.0], [12.0, 0.0]]
    """
    projected, centred = projections(features, inverse)
    return differences(projected @ centred.T)


def projections(features: FloatArray, inverse: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Centre the documents; times the inverse and as they are, [n, d]: their product is $K$."""
    centred = features - features.sum(axis=0) / len(features)  # differences stay, and cancel less
    return centred @ inverse.astype(features.dtype, copy=False), centred


def differences(gram: FloatArray) -> FloatArray:
    r"""Squared lengths of all differences, from inner products: $K_{ii} + K_{jj} - 2 K_{ij}$.

    >>> differences(np.array([[4.0, 1.0], [1.0, 1.0]])).tolist()
    [[0.0, 3.0], [3.0, 0.0]]
    """
    own = gram.diagonal()
    lengths: FloatArray = np.add.outer(own, own)
    lengths -= 2 * gram
    return np.maximum(lengths, 0.0, out=lengths)
