"""The caller's own order, for when there is no time or no way to make a list.

It is written down as what it is, so that clicks on it find their list and the guards see it; nothing is
learned from it. It has an id of its own: whatever the thread that was too slow still writes is another list.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from rankloop.service.answer import Made, RankedList, answer
from rankloop.service.features import Candidate
from rankloop.service.http.bodies import RankBody
from rankloop.service.ranker import View
from rankloop.service.request import check_request, impression
from rankloop.service.seeds import sticky_seed
from rankloop.service.show import Request, fall_back
from rankloop.store import Impression, Log


def own_order(
    body: RankBody, candidates: Sequence[Candidate], view: View, reason: str
) -> tuple[RankedList, Impression]:
    """The caller's order, around the pins; a request that is wrong in itself is refused all the same."""
    query_id = uuid.uuid4().hex
    who = {"user_query": body.user_query, "client_id": body.client_id, "session_id": body.session_id}
    check_request(candidates, body.k, view.rules, query_id=query_id, **who)
    request = Request(
        query_id=query_id,
        raw=np.empty((len(candidates), 0)),  # the features had no part in it
        pinned_at=np.array([each.pinned_at or 0 for each in candidates], dtype=np.int64),
        k=body.k,
        seed=sticky_seed(body.ranker, query_id),
        mode=view.mode,
    )
    made = Made(
        ranker=body.ranker,
        model=view.model.version,
        settings=view.settings,
        policy=view.model.policy.name,
        mode=view.mode,
        seed=request.seed,
        explored_pairs=0,
        fallback=reason,
    )
    showing = fall_back(request)
    ranked = answer(request, showing, [each.object_id for each in candidates], made)
    return ranked, impression(time.time(), candidates, request, showing, ranked, **who)


def enter(log: Log, shown: Impression) -> int:
    """Write it down."""
    return log.append(replace(shown, at=log.time(shown.at)))
