"""What a policy needs from a scoring function."""

from __future__ import annotations

from typing import Protocol

from rankloop.types import FloatArray


class Scorer(Protocol):
    """A differentiable scoring function; its parameters are one flat vector that the policy owns.

    A scorer has no state: every method is a pure function, so one scorer serves any number of policies,
    threads and candidate rankers. Higher scores are better.
    """

    def start(self, n_features: int) -> FloatArray:
        """The parameters before anything was learned, [n_parameters]."""
        ...

    def score(self, parameters: FloatArray, features: FloatArray) -> FloatArray:
        """Scores [n_docs]; for a stack of parameters [n, n_parameters], scores [n, n_docs]."""
        ...

    def pull(self, parameters: FloatArray, features: FloatArray, coefficients: FloatArray) -> FloatArray:
        r"""The direction $\sum_i c_i \nabla_\theta f(x_i; \theta)$, [n_parameters]."""
        ...
