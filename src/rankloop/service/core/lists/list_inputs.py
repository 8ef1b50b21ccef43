"""Inputs of a list: a request, what was decided and learned, and what the policy says of the candidates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from rankloop.policies import ExploresUncertain, Policy
from rankloop.service.core.lists.rank_request import RankRequest
from rankloop.service.core.model import asker_of
from rankloop.service.core.ranker_settings import LEARNS
from rankloop.service.core.view import View
from rankloop.types import BoolArray, FloatArray, IntArray, Query

NO_CONTEXT: Final[FloatArray] = np.zeros(0)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class PolicyQuery:
    """A policy, the query that it is asked, and what it says of it."""

    policy: Policy
    query: Query
    scores: FloatArray  # [n]
    certain: BoolArray | None  # [n, n]; None: the policy does not draw by certain orders, or draws nothing

    def take(self, rows: IntArray) -> PolicyQuery:
        """Ask about some of the candidates only."""
        certain = None if self.certain is None else self.certain[np.ix_(rows, rows)]
        return PolicyQuery(
            policy=self.policy, query=self.query.take(rows), scores=self.scores[rows], certain=certain
        )


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ListInputs:
    """All that a list depends on, but for what is given to the extensions.

    Candidates are free, or pinned to a position. The policy ranks the free ones, and later learns from their
    part of the list: so its evidence is right, and a position that was not its choice teaches nothing.
    """

    view: View
    request: RankRequest
    raw: FloatArray  # [n, width] features by column of the schema, NaN where missing
    query_id: str
    seed: int
    context: FloatArray  # [n_context] features of who asks, by column of their schema
    fallback: str  # why the list is in the caller's order; empty: it is made
    free: IntArray  # [n_free] rows
    pins: Mapping[int, int]  # the other rows, by their positions from 1
    k: int  # positions of the list
    room: int  # of them, for free candidates
    asked: PolicyQuery | None = None  # about all candidates; None: the policy is not asked
    asked_free: PolicyQuery | None = None  # about the free ones

    @property
    def scores(self) -> FloatArray:
        """The scores of all candidates; zeros where the policy is not asked, [n]."""
        return np.zeros(self.request.n) if self.asked is None else self.asked.scores


def prepare_inputs(
    view: View,
    request: RankRequest,
    raw: FloatArray,
    *,
    query_id: str,
    seed: int,
    context: FloatArray = NO_CONTEXT,
    fallback: str = "",
) -> ListInputs:
    """Find out what a list depends on; after a `fallback`, neither policy nor model are asked."""
    free, pins = split_pinned(request)
    k = min(request.k, request.n)
    room = k - sum(position <= k for position in pins)
    asked = None if fallback else _ask_policy(view, request, raw, query_id, context)
    return ListInputs(
        view=view,
        request=request,
        raw=raw,
        query_id=query_id,
        seed=seed,
        context=context,
        fallback=fallback,
        free=free,
        pins=pins,
        k=k,
        room=room,
        asked=asked,
        asked_free=asked.take(free) if asked and pins and len(free) else asked,
    )


def split_pinned(request: RankRequest) -> tuple[IntArray, dict[int, int]]:
    """Split the rows into those that are free, and the others by the position at which they are pinned."""
    pins = request.candidates.pinned_at
    if not pins:
        return np.arange(request.n), {}
    free = [row for row, position in enumerate(pins) if not position]
    return np.array(free, np.int64), {int(position): row for row, position in enumerate(pins) if position}


def _ask_policy(
    view: View, request: RankRequest, raw: FloatArray, query_id: str, context: FloatArray
) -> PolicyQuery:
    candidates, asker = request.candidates, asker_of(request.user, context)
    policy, query = view.model.asked(query_id, raw, candidates.object_ids, candidates.groups, asker)
    scores = policy.score(query)
    certain = _find_certain_orders(policy, query) if view.configuration.mode in LEARNS else None
    return PolicyQuery(policy=policy, query=query, scores=scores, certain=certain)


def _find_certain_orders(policy: Policy, query: Query) -> BoolArray | None:
    """The certain orders, if the policy draws by them; one with a `rank` of its own may do as it likes."""
    if not isinstance(policy, ExploresUncertain) or type(policy).rank is not ExploresUncertain.rank:
        return None
    return policy.certain_orders(query)
