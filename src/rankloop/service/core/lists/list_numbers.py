"""Numbers of a list: how sure the policy is of its pairs, and which of them it tried against the scores."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from rankloop.policy import KnowsCertainOrders
from rankloop.service.core.lists.list_draft import ListDraft
from rankloop.service.core.lists.list_inputs import PolicyQuery
from rankloop.service.core.lists.order_certainty import SETTLED, sureness
from rankloop.service.core.lists.placement import pairs_shown, reversed_pairs
from rankloop.types import FloatArray, IntArray


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ListNumbers:
    """What the policy says of the free results of a list and of their pairs."""

    pairs: int = 0
    settled_pairs: int | None = None  # None: the policy cannot tell
    explored_pairs: int = 0  # stand as the policy drew them, and against the scores
    cost: float = 0.0  # of these, how many are expected to stand the wrong way round
    open: Mapping[int, bool] = field(default_factory=dict)  # by row: not certain against all others shown
    sure: Mapping[int, float] = field(default_factory=dict)  # by row: of the order that is least sure


def measure_list(draft: ListDraft) -> ListNumbers:
    """Measure a list that was placed."""
    asked = draft.inputs.asked
    if asked is None:
        return ListNumbers()
    shown = draft.shown_free
    above, below = pairs_shown(shown)
    explored, cost = _count_explored(draft, above, below, asked.scores)
    sure = sureness(asked.policy, asked.query, shown)
    settled, least = None, dict[int, float]()
    if sure is not None:
        settled = int(np.count_nonzero(np.triu(sure >= SETTLED, 1)))
        np.fill_diagonal(sure, 1.0)  # against itself
        least = dict(zip(shown.tolist(), sure.min(axis=1).round(4).tolist(), strict=True))
    return ListNumbers(
        pairs=len(above),
        settled_pairs=settled,
        explored_pairs=explored,
        cost=cost,
        open=_find_open(asked, shown, above, below),
        sure=least,
    )


def _count_explored(
    draft: ListDraft, above: IntArray, below: IntArray, scores: FloatArray
) -> tuple[int, float]:
    """Count the pairs that the policy drew in this order against the scores; and what they cost.

    What it left out comes after all that it drew. A pair that the model takes for right with probability p
    stands wrong with p and right with 1 - p.
    """
    if draft.source != "policy" or draft.draw is None or draft.inputs.view.configuration.mode != "explore":
        return 0, 0.0
    tried = reversed_pairs(above, below, scores)
    drawn = draft.draw.order.tolist()
    if draft.rows != drawn:
        places = np.full(len(scores), len(drawn))
        places[draft.inputs.free[drawn]] = np.arange(len(drawn))
        tried &= places[above] < places[below]
    cost = np.tanh((scores[below[tried]] - scores[above[tried]]) / 2).sum()
    return int(np.count_nonzero(tried)), float(cost)


def _find_open(asked: PolicyQuery, shown: IntArray, above: IntArray, below: IntArray) -> dict[int, bool]:
    """Which results are in a pair that is not certain either way; empty: the policy has no certain orders."""
    if not len(shown) or not isinstance(asked.policy, KnowsCertainOrders):
        return {}
    certain = asked.certain
    if certain is None:
        certain = np.zeros((asked.query.n_docs, asked.query.n_docs), dtype=bool)
        certain[np.ix_(shown, shown)] = asked.policy.certain_orders(asked.query.take(shown))
    unsure = ~(certain[above, below] | certain[below, above])
    rows = {*above[unsure].tolist(), *below[unsure].tolist()}
    return {row: row in rows for row in shown.tolist()}
