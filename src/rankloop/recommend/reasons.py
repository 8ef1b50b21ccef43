"""Reasons for a score: its parts, and the aspects of the item that speak for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Kind: TypeAlias = Literal["rule", "past item", "aspect", "attribute", "popularity", "bias", "model"]


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a score: what it comes from, and how much.

    `index` is an item for a past item, a feature for an aspect, a token for an attribute and a node of the
    tree for a rule; `condition` says which answer led there.
    """

    kind: Kind
    index: int
    amount: float
    condition: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reasons:
    """Why an item has its score.

    If they are `exact`, the parts sum to the score: nothing else went into it.

    >>> parts = (Part("past item", 7, 0.3), Part("rule", 2, 0.2))
    >>> reasons = Reasons(item=3, score=0.5, parts=parts, exact=True)
    >>> reasons.share("past item")
    0.6
    """

    item: int
    score: float
    parts: tuple[Part, ...]
    aspects: tuple[int, ...] = ()  # features, the most important first
    exact: bool = False

    def share(self, kind: Kind) -> float:
        """How much of the score comes from parts of a kind; nothing, if the score is 0."""
        return (
            sum(part.amount for part in self.parts if part.kind == kind) / self.score if self.score else 0.0
        )

    @property
    def strongest(self) -> tuple[Part, ...]:
        """The parts, the largest first."""
        return tuple(sorted(self.parts, key=lambda part: -part.amount))
