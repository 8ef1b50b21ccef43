"""Model: what was learned by an entry of the log; a value that never changes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Self

import numpy as np

from rankloop.policies import Policy
from rankloop.service.core.scaling import Running, Scale
from rankloop.types import NOBODY, Context, FloatArray, Query


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
    retired: tuple[int, ...] = ()  # columns of retired features, which it does not see

    def apart(self) -> Self:
        """The same, sharing no array with the fold that goes on: a policy may write into its memory."""
        return replace(self, policy=self.policy.from_state(self.policy.state()))

    def seen(self, raw: FloatArray) -> FloatArray:
        """The features of a list without those that are retired."""
        if not any(column < raw.shape[1] for column in self.retired):
            return raw
        return np.ascontiguousarray(
            raw[:, [each for each in range(raw.shape[1]) if each not in self.retired]]
        )

    def ready(self, raw: FloatArray) -> tuple[Policy, FloatArray]:
        """The policy and the scaled features of a list, both of the same width, in single precision.

        That is what a policy meets in a simulation, too, and half the work of double precision.
        The model may have learned with more features than the list has, or with fewer: then it is widened
        or, if that is beyond the policy, the new features are left out.
        """
        raw = self.seen(raw)
        policy, width = self.policy, raw.shape[1]
        if self.width not in (0, width):
            wider = policy.widened(width) if width > self.width else None
            policy, width = (policy, self.width) if wider is None else (wider, width)
        return policy, np.ascontiguousarray(self.scale.apply(fitted(raw, width)), dtype=np.float32)

    def asked(
        self,
        query_id: str,
        raw: FloatArray,
        object_ids: Sequence[str],
        groups: Sequence[str],
        asker: Context = NOBODY,
    ) -> tuple[Policy, Query]:
        """The policy, wide enough, and a query as it sees it; of who asks, missing features are NaN.

        The rows are in the caller's own order, and the query says so.
        A policy that looks at the context gets it scaled, as wide as it knows, and no features of candidates.
        """
        if self.policy.reads != "context":
            policy, features = self.ready(raw)
            return policy, Query(
                query_id, features, object_ids, groups, whole(asker), callers_order(len(raw))
            )
        policy, width = self.policy, int(asker.features.size)
        if self.width not in (0, width):
            wider = policy.widened(width) if width > self.width else None
            policy, width = (policy, self.width) if wider is None else (wider, width)
        row = fitted(asker.features[None], width)
        row = self.scale.apply(row) if isinstance(self.scale, Running) else row
        nothing = np.empty((len(object_ids), 0))
        return policy, Query(query_id, nothing, object_ids, groups, whole(asker_of(asker.user, row[0])))


@lru_cache(maxsize=256)
def callers_order(n: int) -> FloatArray:
    """The scores of candidates that come in the caller's own order, the best first.

    >>> callers_order(3).tolist()
    [3.0, 2.0, 1.0]
    """
    base = np.arange(n, 0.0, -1.0)
    base.flags.writeable = False
    return base


def whole(asker: Context) -> Context:
    """The context with 0 for what is missing."""
    if not asker.features.size:
        return asker
    return Context(asker.user, np.nan_to_num(asker.features, nan=0.0))


def asker_of(user: str, features: FloatArray) -> Context:
    """Who asked, as far as the log knows: NaN where a feature is missing.

    >>> asker_of("anna", np.array([np.nan])).features.tolist()
    [nan]
    """
    if not user and not features.size:
        return NOBODY
    context = object.__new__(Context)  # the nouns know no missing features
    object.__setattr__(context, "user", user)
    object.__setattr__(context, "features", features)
    return context


def width_of(policy: Policy, query: Query) -> int:
    """How many features of a query a policy learns with."""
    return int((query.context.features if policy.reads == "context" else query.features).shape[-1])


def fitted(raw: FloatArray, width: int) -> FloatArray:
    """Features of a list for a policy of this width: the last ones are missing, or left out.

    >>> fitted(np.ones((1, 1)), 2).tolist(), fitted(np.ones((1, 2)), 1).tolist()
    ([[1.0, nan]], [[1.0]])
    """
    if raw.shape[1] >= width:
        return raw[:, :width]
    return np.pad(raw, ((0, 0), (0, width - raw.shape[1])), constant_values=np.nan)
