"""One list: from a model, candidates and a seed to what is shown; a pure function, so it can be repeated."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

import numpy as np

from rankloop.policies import ExploresUncertain, Policy
from rankloop.service.guards import (
    by_score,
    freeze_top,
    limit_displacement,
    limit_exploration,
    pairs_shown,
    place_pins,
    wrong_way_round,
)
from rankloop.service.model import Model
from rankloop.service.seeds import luck
from rankloop.service.settings import LEARNS, Mode, RankerSettings
from rankloop.types import Array, BoolArray, FloatArray, IntArray, Query


@runtime_checkable
class TellsCertainty(Protocol):
    """A policy that can say which orders are settled."""

    def certain_orders(self, query: Query) -> BoolArray:
        """`certain[i, j]`: the order of `i` above `j` is settled."""
        ...


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Request:
    """All that a list depends on besides the model and the settings."""

    query_id: str
    raw: FloatArray  # [n, width], NaN = missing
    pinned_at: IntArray  # [n], 0 = free
    k: int
    seed: int
    mode: Mode


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Showing:
    """A list, what a policy needs to learn from it, and what is to be said about it."""

    order: IntArray  # [k] rows, as shown
    scores: FloatArray  # [n]
    evidence: Mapping[str, Array] = field(default_factory=dict)
    teaches: bool = False
    settled: Mapping[int, bool] = field(default_factory=dict)  # by row: settled against all others shown
    pairs: int = 0
    settled_pairs: int | None = None
    explored: int = 0
    cost: float = 0.0


def show(model: Model, request: Request, rules: RankerSettings) -> Showing:
    """Make a list under the rules.

    The policy ranks the candidates that are not pinned, and later learns from their part of the list: so its
    evidence is right, and a place that was not its choice teaches nothing.
    """
    policy, features = model.ready(request.raw)
    whole = Query(request.query_id, features)
    scores = policy.score(whole)
    certain = _certain(policy, whole) if request.mode in LEARNS else None
    free, pins = _places(request)
    k = min(request.k, len(features))
    places = k - sum(place <= k for place in pins)
    query = (whole.take(free) if pins else whole) if places else None
    among = certain[np.ix_(free, free)] if pins and certain is not None else certain
    standing = scores[free] if pins else scores
    chosen, evidence, teaches = _choose(policy, query, standing, among, places, request, rules)
    shown = free[chosen]
    return Showing(
        order=np.array(place_pins(shown.tolist(), pins, k), dtype=np.int64),
        scores=scores,
        evidence=evidence,
        teaches=teaches,
        **_numbers(policy, whole, scores, certain, shown, explores=request.mode == "explore"),
    )


def fall_back(request: Request) -> Showing:
    """The caller's own order, around the pins: when anything is broken."""
    free, pins = _places(request)
    order = place_pins(free.tolist(), pins, min(request.k, len(request.raw)))
    return Showing(order=np.array(order, dtype=np.int64), scores=np.zeros(len(request.raw)))


def _places(request: Request) -> tuple[IntArray, dict[int, int]]:
    """The rows that are free, and the others by the place at which they are pinned."""
    if not request.pinned_at.any():
        return np.arange(len(request.pinned_at)), {}
    pinned = request.pinned_at.nonzero()[0].tolist()
    free = (request.pinned_at == 0).nonzero()[0]
    return free, {int(request.pinned_at[row]): row for row in pinned}


def _certain(policy: Policy, query: Query) -> BoolArray | None:
    """The certain orders, if the policy draws by them; one with a `rank` of its own may do as it likes."""
    if not isinstance(policy, ExploresUncertain) or type(policy).rank is not ExploresUncertain.rank:
        return None
    return policy.certain_orders(query)


def _choose(
    policy: Policy,
    query: Query | None,
    scores: FloatArray,
    certain: BoolArray | None,
    k: int,
    request: Request,
    rules: RankerSettings,
) -> tuple[list[int], Mapping[str, Array], bool]:
    """Rows of the free candidates, the policy's evidence, and whether it may learn from them."""
    if query is None:
        return [], {}, False
    if request.mode == "passthrough":
        return list(range(k)), {}, False
    if request.mode == "frozen":
        return _bounded(by_score(scores), rules, k), {}, False
    rng = luck(request.seed)
    if certain is not None and isinstance(policy, ExploresUncertain):
        draw = policy.draw(query, certain, k=k, rng=rng)
    else:
        draw = policy.rank(query, k=k, rng=rng)
    drawn = draw.order.tolist()
    if request.mode == "shadow":
        chosen = list(range(k))
    elif request.mode == "exploit":
        chosen = _bounded(by_score(scores), rules, k)
    else:
        chosen = _explored(drawn, scores, rules, k)
    assert request.mode in LEARNS
    return chosen, draw.evidence, policy.evidence_about == "documents" or chosen == drawn


def _explored(drawn: list[int], scores: FloatArray, rules: RankerSettings, k: int) -> list[int]:
    if rules.max_explored_pairs is None and rules.max_displacement is None and not rules.freeze_top:
        return drawn
    reference, shown = by_score(scores), set(drawn)
    wanted = drawn + [row for row in reference if row not in shown]
    if rules.max_explored_pairs is not None:
        wanted = limit_exploration(wanted[:k], reference, rules.max_explored_pairs)
    if rules.freeze_top:
        wanted = freeze_top(wanted, reference)
    return _bounded(wanted, rules, k)


def _bounded(wanted: list[int], rules: RankerSettings, k: int) -> list[int]:
    return (
        wanted[:k]
        if rules.max_displacement is None
        else limit_displacement(wanted, rules.max_displacement, k)
    )


def _numbers(
    policy: Policy,
    query: Query,
    scores: FloatArray,
    certain: BoolArray | None,
    shown: IntArray,
    *,
    explores: bool,
) -> dict[str, Any]:
    """What is to be said about the free results of a list."""
    above, below = pairs_shown(shown)
    numbers: dict[str, Any] = {"pairs": len(above)}
    if explores:
        wrong = wrong_way_round(above, below, scores)
        # a pair that the model takes for right with probability p stands wrong with p and right with 1 - p
        numbers["explored"] = int(np.count_nonzero(wrong))
        numbers["cost"] = float(np.tanh((scores[below[wrong]] - scores[above[wrong]]) / 2).sum())
    if len(shown) and hasattr(policy, "certain_orders"):
        if certain is None:
            certain = np.zeros((query.n_docs, query.n_docs), dtype=bool)
            certain[np.ix_(shown, shown)] = policy.certain_orders(query.take(shown))
        unsettled = ~(certain[above, below] | certain[below, above])
        rows = {*above[unsettled].tolist(), *below[unsettled].tolist()}
        numbers["settled_pairs"] = len(above) - int(np.count_nonzero(unsettled))
        numbers["settled"] = {row: row not in rows for row in shown.tolist()}
    return numbers
