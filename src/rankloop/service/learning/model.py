"""Model: what was learned by an entry of the log; a value that never changes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from rankloop.policies import Policy
from rankloop.service.learning.scaling import Scale
from rankloop.types import FloatArray


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Model:
    """A policy and its scale after an entry of the log; the entry's number is the version.

    Nobody calls `learn` on this policy: learning makes another one.
    """

    version: int
    policy: Policy
    scale: Scale
    lists: int = 0  # it has learned from
    width: int = 0  # features it has learned with

    def apart(self) -> Self:
        """The same, sharing no array with the fold that goes on: a policy may write into its memory."""
        return replace(self, policy=self.policy.from_state(self.policy.state()))

    def ready(self, raw: FloatArray) -> tuple[Policy, FloatArray]:
        """The policy and the scaled features of a list, both of the same width, in single precision.

        That is what a policy meets in a simulation, too, and half the work of double precision.
        The model may have learned with more features than the list has, or with fewer: then it is widened
        or, if that is beyond the policy, the new features are left out.
        """
        policy, width = self.policy, raw.shape[1]
        if self.width not in (0, width):
            wider = policy.widened(width) if width > self.width else None
            policy, width = (policy, self.width) if wider is None else (wider, width)
        return policy, np.ascontiguousarray(self.scale.apply(fitted(raw, width)), dtype=np.float32)


def fitted(raw: FloatArray, width: int) -> FloatArray:
    """Features of a list for a policy of this width: the last ones are missing, or left out.

    >>> fitted(np.ones((1, 1)), 2).tolist(), fitted(np.ones((1, 2)), 1).tolist()
    ([[1.0, nan]], [[1.0]])
    """
    if raw.shape[1] >= width:
        return raw[:, :width]
    return np.pad(raw, ((0, 0), (0, width - raw.shape[1])), constant_values=np.nan)
