"""Sellers for a service, and its exposure account recomputed from the log, slowly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import log2

import numpy as np

from rankloop.candidate import Candidate
from rankloop.service.extensions.fair.part import read_account
from rankloop.service.extensions.fair.report import find_balances
from rankloop.service.extensions.fair.settings import OTHERS
from rankloop.service.service_facade import ServiceFacade
from rankloop.service.store import Impression, Store
from tests.support.life import some_candidates

VIEW = 10**6


def of_sellers(
    rng: np.random.Generator, sellers: Sequence[str], n: int = 12, pins: dict[int, int] | None = None
) -> list[Candidate]:
    """Candidates that belong to sellers drawn at random; `pins` are positions by row."""
    names = rng.choice(np.array(sellers), n).tolist()
    found = zip(some_candidates(rng, n), names, strict=True)
    there = pins or {}
    return [replace(each, group=name, pinned_at=there.get(row)) for row, (each, name) in enumerate(found)]


def looks(k: int) -> list[int]:
    """Millionths of a look at the first positions."""
    return [round(VIEW / log2(1 + position)) for position in range(1, k + 1)]


def granted(shown: Impression) -> dict[str, int]:
    """What a list gave to each group, from what was shown; every group has a name of its own."""
    groups = [name or OTHERS for name in shown.groups or [""] * len(shown.object_ids)]
    found = dict.fromkeys(groups, 0)
    for row, look in zip(shown.order.tolist(), looks(len(shown.order)), strict=True):
        found[groups[row]] += look
    return found


def account_by_hand(store: Store, ranker: str = "shop", number: int | None = None) -> dict[str, int]:
    """By how much each group is ahead in an account, from the lists and what retention carried.

    Without a number it is the newest one that a list belongs to.
    """
    shown = [each for each in store.read_impressions(ranker) if "fair" in each.parts]
    carried = [
        (account, group, given - due - lapsed)
        for decision in store.read_decisions(ranker, kinds=("retain",))
        for account, group, _, _, given, due, lapsed in decision.body.get("totals", {}).get("fair", ())
    ]
    for each in shown:
        told = each.parts["fair"]
        given = dict(zip(told.groups, told.granted, strict=True))
        assert given == granted(each), "what a list gave follows from what it showed"
        assert sum(told.granted) == sum(told.due) == sum(looks(len(each.order)))
        assert sum(told.lapsed) == 0
        parts = zip(told.groups, told.due, told.lapsed, strict=True)
        carried += [(told.account, group, given[group] - due - lapsed) for group, due, lapsed in parts]
    wanted = max((account for account, _, _ in carried), default=0) if number is None else number
    found: dict[str, int] = {}
    for account, group, change in carried:
        if account == wanted:
            found[group] = found.get(group, 0) + change
    return found


def account_in_memory(service: ServiceFacade, ranker: str = "shop") -> dict[str, int]:
    """What a service holds its next list to."""
    return find_balances(service.ranker(ranker))


def account_in_store(service: ServiceFacade, ranker: str = "shop") -> dict[str, int]:
    """The sums that the store keeps, of the account in force."""
    number = service.ranker(ranker).view.configuration.extension_states["fair"]
    return {each.group: each.ahead for each in read_account(service.store.read_totals(ranker), number)}
