"""Difference between two models: which weights moved, and which orders are settled now."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from rankloop.demo.scene import Word
from rankloop.service import Model
from rankloop.service.core.lists.order_certainty import SETTLED, sureness
from rankloop.types import FloatArray, Query

MOST = 4  # weights worth telling
LEAST = 0.002  # a change that nobody could see
SHARE = 0.6  # of the largest change: what changed less is not what was learned


@dataclass(frozen=True, slots=True)
class Move:
    """A weight, before and after."""

    feature: str
    before: float
    after: float

    @property
    def change(self) -> float:
        """Up or down."""
        return self.after - self.before

    def said(self, words: Mapping[str, Word]) -> str:
        """The move in plain words.

        >>> Move("price", 0.0, -0.2).said({"price": Word("expensive", "cheap")})
        'cheap counts more now'
        >>> Move("blue", 0.3, 0.1).said({"blue": Word("blue")})
        'blue counts less now'
        >>> Move("blue", 0.0, -0.6).said({"blue": Word("blue")})
        'blue counts against it now'
        """
        word = words.get(self.feature, Word(self.feature))
        if self.change < 0 and word.little:
            return f"{word.little} counts more now"
        if self.after < 0:
            return f"{word.much} counts {'against it' if self.change < 0 else 'less against it'} now"
        return f"{word.much} counts {'more' if self.change > 0 else 'less'} now"


@dataclass(frozen=True, slots=True)
class Lesson:
    """The difference between two models, also for one search."""

    moves: tuple[Move, ...]  # the largest first
    fewer: int  # weights that moved, too, but less
    pairs: int  # of candidates of the search
    settled_before: int
    settled_after: int


def lesson(before: Model, after: Model, names: Sequence[str], raw: FloatArray | None = None) -> Lesson:
    """What changed from one model to another; `raw` are the candidates of a search."""
    old, new = weights(before, names), weights(after, names)
    moves = [Move(name, old.get(name, 0.0), value) for name, value in new.items()]
    moves = sorted(moves, key=lambda move: -abs(move.change))
    moves = [move for move in moves if abs(move.change) >= LEAST]
    told = [move for move in moves if abs(move.change) >= SHARE * abs(moves[0].change)][:MOST]
    n = 0 if raw is None else len(raw)
    settled = [0 if raw is None else settled_pairs(model, raw) for model in (before, after)]
    return Lesson(tuple(told), len(moves) - len(told), n * (n - 1) // 2, *settled)


def weights(model: Model, names: Sequence[str]) -> Mapping[str, float]:
    """How much each feature counts: the score of that feature alone, for a linear model its weight."""
    if not model.width:
        return {}
    ones, none = Query("", np.eye(model.width)), Query("", np.zeros((1, model.width)))
    parts = model.policy.score(ones) - model.policy.score(none)
    return dict(zip(names, parts.tolist(), strict=False))


def settled_pairs(model: Model, raw: FloatArray) -> int:
    """How many pairs of candidates are in an order that is at least 95 % sure."""
    policy, query = model.asked("", raw, (), ())
    sure = sureness(policy, query, np.arange(len(raw)))
    return 0 if sure is None else int(np.count_nonzero(np.triu(sure >= SETTLED, 1)))
