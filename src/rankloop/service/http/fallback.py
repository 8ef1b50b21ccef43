"""The caller's own order, for when there is no time or no way to make a list.

It is written down as what it is, so that clicks on it find their list and the guards see it; nothing is
learned from it. Whatever the thread that was too slow still makes is nobody's list, and is not written down.
"""

from __future__ import annotations

import time

import numpy as np

from rankloop.service.answer import Made, answer
from rankloop.service.http.asked import Asked
from rankloop.service.ids import random_id
from rankloop.service.ranker import View
from rankloop.service.request import Draft, check_request, draft
from rankloop.service.seeds import sticky_seed
from rankloop.service.show import Request, fall_back


def own_order(asked: Asked, view: View, reason: str) -> Draft:
    """The caller's order, around the pins; a request that is wrong in itself is refused all the same."""
    query_id, head, table = random_id(), asked.head, asked.table
    who = {"user_query": head.user_query, "client_id": head.client_id, "session_id": head.session_id}
    check_request(table, head.k, view.rules, query_id=query_id, **who)
    n = len(table.object_ids)
    request = Request(
        query_id=query_id,
        raw=np.empty((n, 0)),  # the features had no part in it
        pinned_at=np.array(table.pinned_at or [0] * n, dtype=np.int64),
        k=head.k,
        seed=sticky_seed(head.ranker, query_id),
        mode=view.mode,
    )
    made = Made(
        ranker=head.ranker,
        model=view.model.version,
        settings=view.settings,
        policy=view.model.policy.name,
        mode=view.mode,
        seed=request.seed,
        explored_pairs=0,
        fallback=reason,
    )
    showing = fall_back(request)
    ranked = answer(request, showing, table.object_ids, made)
    return draft(time.time(), table, request, showing, ranked, **who)
