"""Explanation of a pair: why one result stands above another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from scipy.special import ndtr

from rankloop.policies import Belief, Policy, SelectionPolicy
from rankloop.service.errors import RequestError
from rankloop.service.learning.model import Model, asker_of
from rankloop.service.serving.serve import Listing, TellsCertainty
from rankloop.store import Impression
from rankloop.types import FloatArray, Query


@runtime_checkable
class Believes(Protocol):
    """A policy that knows how far its weights may be off."""

    def belief(self) -> Belief:
        """What is known of the weights besides their value."""
        ...


@dataclass(frozen=True, slots=True)
class Explanation:
    """What the model of that time thought of two results of a list."""

    above: str
    below: str
    gap: float  # score of the upper minus score of the lower
    width: float | None  # standard deviation of the gap; None: the policy cannot tell
    probability: float | None  # that the upper belongs above the lower, by the model
    settled: bool | None  # the order is certain, this way or the other
    explored: bool  # shown against the scores
    pinned: bool  # one of them was pinned
    contributions: Mapping[str, float]  # of each feature to the gap, largest first
    exact: bool  # the contributions add up to the gap: the model is linear
    turned: bool = False  # drawn the other way round, and turned for fair exposure
    mixed: bool = False  # the list is that of another arm of a trial, or made of both

    @property
    def sentence(self) -> str:
        """In words."""
        if self.pinned:
            return f"{self.above!r} stands above {self.below!r} because one of them is pinned."
        sure = (
            "" if self.probability is None else f" (the model is {self.probability:.0%} sure of this order)"
        )
        if self.mixed:
            return f"{self.above!r} stands above {self.below!r} by another arm of a trial{sure}."
        if self.turned:
            return f"{self.above!r} stands above {self.below!r} for fair exposure{sure}."
        if self.explored:
            return f"{self.above!r} was tried above {self.below!r}, against the scores{sure}."
        if self.settled is None:
            return f"{self.above!r} scored higher than {self.below!r}; this policy cannot say how sure it is."
        state = "settled" if self.settled else "still open"
        return f"{self.above!r} stands above {self.below!r}: their order is {state}{sure}."


def explain(
    shown: Impression, model: Model, names: Sequence[str], a: str, b: str, *, again: Listing | None = None
) -> Explanation:
    """Compare two results of a list, with the model that made it; `again` is the list, if it was merged."""
    upper, lower = _rows(shown, a, b, everything=model.policy.features_of == "context")
    turned = again is not None and bool(again.turned(np.array([upper, lower]))[0, 1])
    mixed = shown.assignment is not None and shown.assignment.arm != "A"
    policy, query = model.asked(
        shown.query_id, shown.features, shown.object_ids, shown.groups, asker_of(shown.user, shown.context)
    )
    pair = query.take(np.array([upper, lower]))
    scores = policy.score(pair)
    gap = float(scores[0] - scores[1])
    width = _width(policy, pair)
    parts = _contributions(policy, pair)
    by_size = np.argsort(-np.abs(parts), kind="stable")
    labels = [*names, *("" for _ in range(len(parts) - len(names)))]
    return Explanation(
        above=shown.object_ids[upper],
        below=shown.object_ids[lower],
        gap=gap,
        width=width,
        probability=float(ndtr(gap / width)) if width else None,
        settled=_settled(policy, pair),
        explored=shown.mode == "explore" and gap < 0 and not turned and not mixed,
        mixed=mixed and gap < 0,
        turned=turned,
        pinned=bool(shown.pinned_at[[upper, lower]].any()),
        contributions={labels[i]: float(parts[i]) for i in by_size.tolist() if parts[i]},
        exact=bool(np.isclose(parts.sum(), gap)),
    )


def _rows(shown: Impression, a: str, b: str, *, everything: bool) -> tuple[int, int]:
    """The rows of two results, the upper one first; of ads, those that were not shown are below the one."""
    names = shown.shown
    if everything:
        names = names + [name for name in shown.object_ids if name not in names]
    for name in (a, b):
        if name not in names:
            raise RequestError(f"{name!r} was not in the list {shown.query_id!r}, which showed {names}")
    if a == b:
        raise RequestError(f"explain compares two results, found {a!r} twice")
    above, below = sorted((a, b), key=names.index)
    rows = {name: row for row, name in enumerate(shown.object_ids)}
    return rows[above], rows[below]


def _contributions(policy: Policy, pair: Query) -> FloatArray:
    r"""$\theta_f (x_{a,f} - x_{b,f})$ for each feature: the score of that difference alone."""
    if isinstance(policy, SelectionPolicy):
        of_both = policy.contributions(pair)
        return np.asarray(of_both[0] - of_both[1])
    apart = np.diag(_gap(pair))
    if not len(apart) or policy.knows_by == "ids":
        return np.zeros(0)
    return policy.score(Query(pair.id, apart)) - policy.score(Query(pair.id, np.zeros_like(apart)))


def _width(policy: Policy, pair: Query) -> float | None:
    r"""$\lVert x_a - x_b \rVert_{H^{-1}}$, where the policy keeps $H^{-1}$."""
    if not isinstance(policy, Believes):
        return None
    covariance, apart = policy.belief().curvature, _gap(pair)
    return float(np.sqrt(max(float(apart @ covariance @ apart), 0.0))) if len(covariance) else None


def _settled(policy: Policy, pair: Query) -> bool | None:
    return bool(policy.certain_orders(pair).any()) if isinstance(policy, TellsCertainty) else None


def _gap(pair: Query) -> FloatArray:
    gap: FloatArray = pair.features[0] - pair.features[1]
    return gap
