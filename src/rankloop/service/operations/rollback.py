"""Rollback to an earlier version, or to what would be known without some events. Nothing is deleted."""

from __future__ import annotations

from collections.abc import Iterable

from rankloop.service.errors import RequestError
from rankloop.service.ranker import Ranker
from rankloop.store import Store, write


def roll_back(ranker: Ranker, *, to: int | None = None, moment: float | None = None) -> int:
    """Decide that an earlier version holds again, or that of a moment; the new version's number."""
    if (to is None) == (moment is None):
        raise RequestError("a rollback needs a version (to=...) or a moment (moment=...), one of them")
    ranker.catch_up()
    target, head = to if moment is None else ranker.history.at(moment), ranker.view.model
    if target is None or not 0 < target <= head.version:
        raise RequestError(f"no version {target}: {ranker.name!r} is at version {head.version}")
    past = ranker.history.model(target)
    if not head.policy.understands(past.policy) or type(past.scale) is not type(head.scale):
        raise RequestError(
            f"version {target} was {past.policy!r}, now it is {head.policy!r}, or the scaling is another: "
            "configure those first"
        )
    seq = ranker.decide("rollback", to=past.version)
    ranker.catch_up()
    return seq


def forget_events(ranker: Ranker, store: Store, event_ids: Iterable[str]) -> int:
    """Decide that some events have never been, and learn the log again; the new version's number."""
    ids = sorted(set(event_ids))
    unknown = write(store, lambda transaction: [each for each in ids if not transaction.knows(each)])
    if unknown or not ids:
        raise RequestError(f"no such events in the log: {unknown[:5]}")
    seq = ranker.decide("forget", events=ids)
    ranker.catch_up()
    return seq
