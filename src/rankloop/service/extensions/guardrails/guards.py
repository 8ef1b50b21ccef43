"""Guards of a ranker: clicks too few or lists that failed too often, after which it steps down a mode."""

from __future__ import annotations

from rankloop.service.core.configuration import InForce
from rankloop.service.store import Store


def breach(ranker: str, store: Store, terms: InForce, now: float) -> str:
    """Which guard is breached by the last lists since the mode was set, in words; empty if none is."""
    n, rules = terms.rules.guard_lists, terms.rules
    closed = store.time(now) - rules.window
    lists = store.recent(ranker, lists=n, after=terms.mode_since, before=closed)
    if lists.lists >= n and lists.clicked < rules.ctr_floor * n:
        return f"{lists.clicked} of the last {n} lists got a click, the floor is {rules.ctr_floor:g}"
    lists = store.recent(ranker, lists=n, after=terms.mode_since, before=float("inf"))
    if lists.lists >= n and lists.fallbacks > rules.fallback_ceiling * n:
        return f"{lists.fallbacks} of the last {n} lists failed, the ceiling is {rules.fallback_ceiling:g}"
    return ""
