"""The visitor: is shown one ad, and clicks by whether it matches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rankloop.lab.users.tables import probabilities
from rankloop.types import Feedback, IntArray, Ranking, Signal


@dataclass(frozen=True)
class AdClicks:
    """Looks at everything and clicks with probability `match` on a match, with `otherwise` on all else.

    An ad matches if its grade is not 0. Small probabilities make sparse clicks.

    >>> from rankloop.types import Query
    >>> shown = Ranking(Query("visitor", np.empty((3, 0)), ("tea", "coffee", "water")), np.array([2]))
    >>> AdClicks().respond(shown, np.array([0, 0, 1]), np.random.default_rng(0)).clicks.tolist()
    [True]
    """

    gives: ClassVar[Signal] = "clicks"

    match: float = 1.0
    otherwise: float = 0.0

    def __post_init__(self) -> None:
        """Refuse what is not a probability."""
        probabilities("match", (self.match,))
        probabilities("otherwise", (self.otherwise,))

    def respond(self, ranking: Ranking, relevance: IntArray, rng: np.random.Generator) -> Feedback:
        """One coin for each ad."""
        chances = np.where(relevance[ranking.order] > 0, self.match, self.otherwise)
        clicks = rng.random(chances.size) < chances
        return Feedback(ranking, clicks, seen=np.ones(chances.size, dtype=np.bool_))
