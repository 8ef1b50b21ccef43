"""What a user does: look at a ranking and give feedback."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from rankloop.types import Feedback, IntArray, Ranking, Signal


class UserModel(Protocol):
    """Someone who looks at a ranking and clicks, or grades what is there."""

    @property
    def gives(self) -> Signal:
        """What comes back: clicks or grades."""
        ...

    def respond(self, ranking: Ranking, relevance: IntArray, rng: np.random.Generator) -> Feedback:
        """Look at the ranking of a query whose candidates have these grades."""
        ...
