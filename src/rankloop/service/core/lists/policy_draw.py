"""Draw of the policy: the first draft of a list, as the mode has it."""

from __future__ import annotations

from rankloop.policies import ExploresUncertain
from rankloop.service.core.lists.list_draft import ListDraft
from rankloop.service.core.lists.list_inputs import ListInputs, PolicyQuery
from rankloop.service.core.lists.list_seeds import generator
from rankloop.service.core.lists.placement import sort_by_score
from rankloop.types import IntArray, Ranking


def draw_list(inputs: ListInputs) -> ListDraft:
    """Make the first draft: what the policy draws, the order of its scores, or the caller's order."""
    mode, asked = inputs.view.configuration.mode, inputs.asked_free
    draw = None
    if asked is not None and inputs.room and mode not in ("passthrough", "frozen"):
        draw = _draw(asked, inputs.room, inputs.seed)
    if asked is None or mode in ("passthrough", "shadow"):
        return ListDraft(inputs=inputs, rows=list(range(len(inputs.free))), source="caller", draw=draw)
    if mode == "explore":
        rows = [] if draw is None else draw.order.tolist()
    else:
        rows = sort_by_score(asked.scores) if inputs.room else []
    return ListDraft(inputs=inputs, rows=rows, source="policy", draw=draw)


def continue_draw(draft: ListDraft, groups: IntArray) -> list[int]:
    """Draw on until each group of the free candidates has as many in the list as it could fill alone.

    The draw begins with the same luck, so the list that was drawn is its beginning.
    """
    asked, drawn = draft.inputs.asked_free, draft.draw
    if asked is None or drawn is None or draft.inputs.view.configuration.mode != "explore":
        return draft.complete()
    seed = draft.inputs.seed
    if asked.certain is not None and isinstance(asked.policy, ExploresUncertain):
        k = draft.inputs.room
        deeper = asked.policy.draw(asked.query, asked.certain, k=k, rng=generator(seed), groups=groups)
        order: list[int] = deeper.order.tolist()
        return order
    whole = asked.policy.rank(asked.query, k=asked.query.n_docs, rng=generator(seed))
    begun: list[int] = drawn.order.tolist()  # what comes after it may be drawn otherwise than a list of k
    listed = set(begun)
    return begun + [row for row in whole.order.tolist() if row not in listed]


def _draw(asked: PolicyQuery, k: int, seed: int) -> Ranking:
    rng = generator(seed)
    if asked.certain is not None and isinstance(asked.policy, ExploresUncertain):
        return asked.policy.draw(asked.query, asked.certain, k=k, rng=rng)
    return asked.policy.rank(asked.query, k=k, rng=rng)
