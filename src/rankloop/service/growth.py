"""New features: a policy that learned from few goes on with more, and keeps what it knows.

The wider policy is the one that would be there had the new features always been 0: their weights are at the
start, their curvature is the prior's. Every column keeps its place for ever, so widening is padding.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol, Self, runtime_checkable

import numpy as np

from rankloop.policies import Policy
from rankloop.scorers import Linear
from rankloop.types import Array, FloatArray

FEATURE_AXES: Mapping[str, tuple[int, ...]] = {  # which axes of a state's arrays are features
    "parameters": (0,),
    "curvature": (0, 1),
    "design": (0, 1),
    "energy": (0,),
    "examined": (1,),
    "history": (1,),
    "lists": (1,),
    "losers": (1,),
    "losses": (),
    "perturbed": (1,),
    "scatter": (0, 1),
}
INVERSES = ("curvature", "design")  # of matrices that start as λI
PENALTIES = ("energy",)  # which start as λ
FEATURE_EVIDENCE = ("directions",)  # evidence whose last axis is features


@runtime_checkable
class Widens(Protocol):
    """A policy that knows by itself how to take more features."""

    def widened(self, width: int) -> Self:
        """The policy that would be there had the new features always been 0."""
        ...


def grows(policy: Policy) -> bool:
    """Whether a policy can take more features than it began with; otherwise it goes on without the new ones.

    >>> from rankloop.policies import PairRank
    >>> grows(PairRank())
    True
    """
    if isinstance(policy, Widens):
        return True
    linear = isinstance(getattr(policy, "scorer", Linear()), Linear)
    return linear and all(not value.ndim or name in FEATURE_AXES for name, value in policy.state().items())


def widened(policy: Policy, width: int) -> Policy:
    """The same policy for this many features, at least as many as it has.

    >>> from rankloop.policies import PDGD
    >>> policy = PDGD().from_state({"parameters": np.array([0.5]), "updates": np.array(3)})
    >>> widened(policy, 3).state()["parameters"].tolist()
    [0.5, 0.0, 0.0]
    """
    if isinstance(policy, Widens):
        return policy.widened(width)
    state = policy.state()
    return policy.from_state({name: _grown(name, value, width, state) for name, value in state.items()})


def widened_evidence(evidence: Mapping[str, Array], more: int) -> dict[str, Array]:
    """Evidence of a list that was shown when there were fewer features."""
    return {
        name: _pad(value, (value.ndim - 1,), more) if name in FEATURE_EVIDENCE and more > 0 else value
        for name, value in evidence.items()
    }


def fitted(raw: FloatArray, width: int) -> FloatArray:
    """Features of a list for a policy of this width: the last ones are missing, or left out.

    >>> fitted(np.ones((1, 1)), 2).tolist(), fitted(np.ones((1, 2)), 1).tolist()
    ([[1.0, nan]], [[1.0]])
    """
    return raw[:, :width] if raw.shape[1] >= width else _pad(raw, (1,), width - raw.shape[1], np.nan)


def _grown(name: str, value: Array, width: int, state: Mapping[str, Array]) -> Array:
    axes = FEATURE_AXES.get(name, ())
    if not axes or not value.shape[axes[0]]:  # empty: nothing was learned yet
        return value
    ends = 2 if name == "lists" else 0  # columns before the features
    more = width - (value.shape[axes[0]] - ends)
    grown = _pad(value, axes, more)
    fresh = np.arange(width - more, width)
    if name in INVERSES:
        grown[fresh, fresh] = 1.0 / state["penalty"]
    elif name in PENALTIES:
        grown[fresh] = state["penalty"]
    return grown


def _pad(value: Array, axes: tuple[int, ...], more: int, filling: float = 0.0) -> Array:
    amounts = [(0, more if axis in axes else 0) for axis in range(value.ndim)]
    return np.pad(value, amounts, constant_values=filling)
