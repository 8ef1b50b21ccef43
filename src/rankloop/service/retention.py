"""How much of the past is kept."""

from __future__ import annotations

from rankloop.service.ranker import Ranker
from rankloop.store import Store, write


def retain(ranker: Ranker, store: Store, since: float) -> int:
    """Discard events, lists and snapshots that are older than a moment; how many entries are gone.

    The log then begins at a snapshot, the *base*: the last one before the moment, or an earlier one to which
    the kept part of the log rolls back. Lists that were still open there stay. Decisions always stay. What
    was discarded can be neither replayed nor forgotten: it is part of the base for good.
    """
    base = store.snapshot(ranker.name, before=since)
    rollbacks = store.decisions(ranker.name, kind="rollback")
    while base is not None:
        targets = [int(each.body["to"]) for each in rollbacks if each.seq > base.seq]
        if not targets or min(targets) >= base.seq:
            break
        base = store.snapshot(ranker.name, until=min(targets))
    if base is None:
        return 0
    start, oldest = base.seq, base.at - ranker.rules.window
    ranker.decide("retain", base=start)
    return write(
        store, lambda transaction: transaction.discard(ranker.name, until=start, shown_before=oldest)
    )
