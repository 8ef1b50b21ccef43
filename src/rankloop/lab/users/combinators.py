"""Users made from other users: add noise, limit patience."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rankloop.errors import SettingError
from rankloop.lab.users.tables import probabilities
from rankloop.types import Feedback, IntArray, Ranking, Signal, UserModel


@dataclass(frozen=True)
class RandomClicks:
    """Another user whose every decision is, with some probability, replaced by a fair coin.

    >>> from rankloop.types import Query
    >>> from rankloop.lab.users import Cascade
    >>> shown = Ranking(Query("q", np.eye(3)), np.array([0, 1, 2]))
    >>> quiet = Cascade(click=(0.0,), stop=(0.0,))
    >>> RandomClicks(quiet, probability=1.0).respond(
    ...     shown, np.zeros(3, int), np.random.default_rng(0)
    ... ).clicks.tolist()
    [False, False, True]
    """

    gives: ClassVar[Signal] = "clicks"

    user: UserModel
    probability: float

    def __post_init__(self) -> None:
        """Refuse what is not a probability, and whoever does not click."""
        _check_clicks(self.user)
        probabilities("probability", (self.probability,))

    def respond(self, ranking: Ranking, relevance: IntArray, rng: np.random.Generator) -> Feedback:
        """Let the other user respond, then replace some of it."""
        response = self.user.respond(ranking, relevance, rng)
        coins = rng.random((2, response.clicks.size))
        replaced = coins[0] < self.probability
        seen = None if response.seen is None else response.seen | replaced
        return Feedback(ranking, np.where(replaced, coins[1] < 0.5, response.clicks), seen=seen)


@dataclass(frozen=True)
class MaxClicks:
    """Another user who leaves after so many clicks.

    >>> from rankloop.types import Query
    >>> from rankloop.lab.users import Cascade
    >>> shown = Ranking(Query("q", np.eye(3)), np.array([0, 1, 2]))
    >>> eager = Cascade(click=(1.0,), stop=(0.0,))
    >>> MaxClicks(eager, most=2).respond(shown, np.zeros(3, int), np.random.default_rng(0)).clicks.tolist()
    [True, True, False]
    """

    gives: ClassVar[Signal] = "clicks"

    user: UserModel
    most: int

    def __post_init__(self) -> None:
        """Refuse a limit below one click, and whoever does not click."""
        _check_clicks(self.user)
        if self.most < 1:
            raise SettingError(f"most must be at least 1 click, found {self.most}")

    def respond(self, ranking: Ranking, relevance: IntArray, rng: np.random.Generator) -> Feedback:
        """Let the other user respond and keep the first clicks."""
        response = self.user.respond(ranking, relevance, rng)
        clicks = response.clicks
        here = clicks.cumsum() - clicks < self.most  # down to and including the last click
        seen = None if response.seen is None else response.seen & here
        return Feedback(ranking, clicks & here, seen=seen)


def _check_clicks(user: UserModel) -> None:
    if user.gives != "clicks":
        raise SettingError(f"only a user who clicks can be changed so, found one who gives {user.gives}")
