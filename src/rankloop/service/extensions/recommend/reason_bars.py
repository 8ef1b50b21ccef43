"""Bars of reasons: the parts of every score of a list, stacked, on one scale."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rankloop.service.extensions.recommend.reasons import ItemReasons, NamedPart

GROUPS = ("everybody", "rules", "past items")
WIDTH = 100.0
SAID = {
    "much": "{name} means much to you",
    "little": "{name} means little to you",
    "unknown": "nothing is known of {name}",
    "liked": "you liked {name}",
    "disliked": "you disliked {name}",
    "unrated": "you did not rate {name}",
}


@dataclass(frozen=True, slots=True)
class Segment:
    """A part of a score on its bar: to the right of zero if it speaks for the item, to the left if not."""

    group: str
    label: str
    amount: float
    x: float
    width: float


@dataclass(frozen=True, slots=True)
class ReasonBar:
    """Why an item was recommended: its parts as a bar, by group, and in sentences."""

    object_id: str
    title: str
    score: float
    segments: Sequence[Segment]  # the largest first
    zero: float  # where the bar begins
    shares: Mapping[str, float]  # of the score, by group; may be negative, or above 1
    sentences: Sequence[str]


def reason_bars(reasons: Sequence[ItemReasons]) -> list[ReasonBar]:
    """The bars of a list; the longest one has the whole width.

    >>> parts = (NamedPart("past item", "item", "a", "Case", "", 3.0, 1.5),)
    >>> parts += (NamedPart("rule", "feature", "fit", "fit", "much", -1.0, -0.5),)
    >>> bar, = reason_bars([ItemReasons("b", "Cable", 2.0, parts, ())])
    >>> [(each.group, each.x, each.width) for each in bar.segments], bar.zero
    ([('past items', 25.0, 75.0), ('rules', 0.0, 25.0)], 25.0)
    """
    left = max((_sum(each, -1) for each in reasons), default=0.0)
    right = max((_sum(each, 1) for each in reasons), default=0.0)
    unit = WIDTH / (left + right) if left + right else 0.0
    return [_bar(each, left * unit, unit) for each in reasons]


def group_of(part: NamedPart) -> str:
    """What a part comes from: what everybody likes, rules about this person, or their past items."""
    if part.kind == "past item":
        return "past items"
    return "rules" if part.kind == "rule" and part.about else "everybody"


def _bar(reasons: ItemReasons, zero: float, unit: float) -> ReasonBar:
    parts = sorted(reasons.parts, key=lambda part: GROUPS.index(group_of(part)))
    ends, segments = {1: zero, -1: zero}, {}
    for part in parts:
        side, width = 1 if part.amount > 0 else -1, abs(part.amount) * unit
        start = ends[side] if side > 0 else ends[side] - width
        ends[side] += side * width
        segments[id(part)] = Segment(group_of(part), label_of(part), part.amount, start, width)
    shares = {
        group: sum(part.share for part in parts if group_of(part) == group)
        for group in GROUPS
        if any(group_of(part) == group for part in parts)
    }
    ordered = [segments[id(part)] for part in reasons.parts]
    return ReasonBar(
        reasons.object_id, reasons.title, reasons.score, ordered, zero, shares, reasons.sentences
    )


def label_of(part: NamedPart) -> str:
    """A part in a few words.

    >>> label_of(NamedPart("rule", "feature", "fit", "fit", "little", -0.1, -0.2))
    'fit means little to you'
    """
    if not part.about or part.kind == "popularity":
        return "people like it in general"
    return SAID.get(part.condition, "{name}").format(name=part.name)


def _sum(reasons: ItemReasons, side: int) -> float:
    return sum(max(side * part.amount, 0.0) for part in reasons.parts)
