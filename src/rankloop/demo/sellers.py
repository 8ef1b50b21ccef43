"""Sellers of the demo: two made-up ones, and who of them is seen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from rankloop.service import FairSettings
from rankloop.service.store import Impression

SELLERS = AMBER, BIRCH = ("Amber", "Birch")
# Each seller is seen in proportion to what it offers; so closely that it shows in the very first list.
FAIR = FairSettings(tolerance=1.0)
LATELY = 50  # lists


@dataclass(frozen=True, slots=True)
class Seen:
    """How much of what was looked at lately was a seller's, and how much of what was on offer."""

    seller: str
    looks: float  # share of all
    candidates: float


def seen(lists: Iterable[Impression]) -> list[Seen]:
    """Who was seen in these lists, whether exposure was shared or not; empty if there were none."""
    looks: Counter[str] = Counter()
    candidates: Counter[str] = Counter()
    for shown in lists:
        candidates.update(shown.groups)
        for row, look in zip(shown.order, FAIR.views_at(len(shown.order)).tolist(), strict=True):
            looks[shown.groups[row]] += look
    if not looks.total():
        return []
    return [
        Seen(each, looks[each] / looks.total(), candidates[each] / candidates.total()) for each in SELLERS
    ]
