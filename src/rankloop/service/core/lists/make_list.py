"""Making one list: a fold over the extensions, pure, so that any list can be made again.

Live lists, replays, fallbacks and imports are the same call: they differ in what is given to it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import msgspec
import numpy as np

from rankloop.service.core.extension import Extension
from rankloop.service.core.lists.list_draft import ListDraft
from rankloop.service.core.lists.list_inputs import ListInputs
from rankloop.service.core.lists.list_numbers import ListNumbers, measure_list
from rankloop.service.core.lists.placement import place_pins
from rankloop.service.core.lists.policy_draw import draw_list
from rankloop.service.core.lists.rank_response import ENCODER, RankResponse, describe_list
from rankloop.service.store import Impression


@dataclass(frozen=True, slots=True, eq=False)
class MadeList:
    """A list that was made and is not shown yet: it is written to the log when it is shown, or not at all."""

    draft: ListDraft
    parts: Mapping[str, Any]  # what extensions recorded about it, by their names
    response: RankResponse
    body: bytes  # the response as JSON
    impression: Impression

    def unlogged(self, reason: str) -> MadeList:
        """Say in the response that the list may not be in the log; the impression stays as it is."""
        provenance = msgspec.structs.replace(self.response.provenance, unlogged=reason)
        response = msgspec.structs.replace(self.response, provenance=provenance)
        return replace(self, response=response, body=ENCODER.encode(response))


def make_list(
    inputs: ListInputs, given: Mapping[str, Any], extensions: Sequence[Extension], *, at: float
) -> MadeList:
    """Make the list for these inputs, with what is given to each extension; `at` is the log's time."""
    draft = draw_list(inputs)
    for each in extensions:
        draft = each.change(draft, given.get(each.name))
    draft = place_list(draft)
    recorded = {each.name: each.record(draft, given.get(each.name)) for each in extensions}
    parts = {name: part for name, part in recorded.items() if part is not None}
    numbers = measure_list(draft)
    response = describe_list(draft, parts, numbers)
    body = ENCODER.encode(response)
    return MadeList(draft, parts, response, body, _write_impression(draft, parts, numbers, body, at))


def place_list(draft: ListDraft) -> ListDraft:
    """Cut a list to its length, and put pins in their places."""
    inputs, rows = draft.inputs, draft.rows[: draft.inputs.room]
    order = inputs.free[rows]
    if inputs.pins:
        order = np.array(place_pins(order.tolist(), inputs.pins, inputs.k), dtype=np.int64)
    return replace(draft, rows=rows, order=order)


def can_learn_from(draft: ListDraft) -> bool:
    """Whether the policy may learn from a list that was placed, in place of what it drew."""
    draw, asked = draft.draw, draft.inputs.asked
    if draw is None or asked is None:
        return False
    is_as_drawn = draft.rows == draw.order.tolist()
    return is_as_drawn or asked.policy.with_order(draw, np.array(draft.rows)) is not None


def _write_impression(
    draft: ListDraft, parts: Mapping[str, Any], numbers: ListNumbers, body: bytes, at: float
) -> Impression:
    """What the log keeps of a list."""
    inputs, request, configuration = draft.inputs, draft.inputs.request, draft.inputs.view.configuration
    candidates = request.candidates
    titles = candidates.titles
    return Impression(
        at=at,
        ranker=request.ranker,
        query_id=inputs.query_id,
        user_query=request.user_query,
        client_id=request.client_id,
        session_id=request.session_id,
        model=inputs.view.model.version,
        settings=configuration.settings_version,
        mode=configuration.mode,
        policy="" if inputs.asked is None else type(inputs.view.model.policy).__name__,
        seed=inputs.seed,
        k=request.k,
        object_ids=candidates.object_ids,
        groups=candidates.groups,
        titles=[titles[row] for row in draft.order.tolist()] if titles else (),
        pinned_at=np.array(candidates.pinned_at or [0] * request.n, np.int64),
        features=inputs.raw,
        order=draft.order,
        evidence=draft.draw.evidence if draft.draw else {},
        teaches=can_learn_from(draft),
        fallback=inputs.fallback,
        digest=hashlib.blake2b(body, digest_size=16).digest(),
        pairs=numbers.pairs,
        settled=numbers.settled_pairs,
        explored=numbers.explored_pairs,
        cost=numbers.cost,
        user=request.user,
        context=inputs.context,
        parts=parts,
    )
