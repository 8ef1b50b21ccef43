"""What a policy needs from a scoring function."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from rankloop.scorers.gradients import Gradients
from rankloop.types import FloatArray


@runtime_checkable
class Scorer(Protocol):
    """A differentiable scoring function; its parameters are one flat vector that the policy owns.

    A scorer has no state: every method is a pure function, so one scorer serves any number of policies,
    threads and candidate rankers. Higher scores are better. Wherever parameters [n_parameters] are taken, a
    stack of them [n, n_parameters] is taken too, and the answer is a stack.
    """

    def start(self, n_features: int, number: int = 0) -> FloatArray:
        """Give the parameters before anything was learned, [n_parameters].

        Scorers that learn side by side are told apart by `number`: where the start is random, so that each
        has its own.
        """
        ...

    def score(self, parameters: FloatArray, features: FloatArray) -> FloatArray:
        """Scores [n_docs]; for a stack of parameters, scores [n, n_docs]."""
        ...

    def vjp(self, parameters: FloatArray, features: FloatArray, coefficients: FloatArray) -> FloatArray:
        r"""Vector-Jacobian product: the direction $\sum_i c_i \nabla_\theta f(x_i; \theta)$, [n_parameters].

        A stack of parameters has a stack of coefficients, [n, n_docs].
        """
        ...

    def gradients(self, parameters: FloatArray, features: FloatArray) -> Gradients:
        r"""Every document's gradient $\nabla_\theta f(x_i; \theta)$."""
        ...
