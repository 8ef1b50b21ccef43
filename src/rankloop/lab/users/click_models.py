"""The cascade user: reads from the top, clicks by relevance, and at some point has had enough."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from rankloop.errors import SettingError
from rankloop.lab.users.tables import by_grade, probabilities
from rankloop.types import BoolArray, Feedback, IntArray, Ranking, Signal

Stop = Literal["click", "every"]


@dataclass(frozen=True)
class Cascade:
    r"""A cascade (dependent) click model.

    At a result of grade $r$ the user clicks with probability `click[r]`; then may stop with
    probability `stop[r]`. Two readings of *stop* exist and move results more than most algorithms do:

    - `stop_at="click"` (default): the decision is made only after a click;
    - `stop_at="every"`: it is made at every examined result, clicked or not.

    Each list costs the same number of random draws whatever is clicked, so that two policies that meet
    the same queries meet the same luck.

    >>> from rankloop.types import Query
    >>> shown = Ranking(Query("q", np.eye(3)), np.array([2, 1, 0]))
    >>> user = Cascade(click=(0.0, 1.0), stop=(0.0, 1.0))
    >>> user.respond(shown, np.array([1, 1, 0]), np.random.default_rng(1)).clicks.tolist()
    [False, True, False]

    Guo, Liu, Wang: Efficient multiple-click models in web search. WSDM 2009.
    """

    gives: ClassVar[Signal] = "clicks"

    click: tuple[float, ...]  # by grade
    stop: tuple[float, ...]  # by grade
    stop_at: Stop = "click"

    def __post_init__(self) -> None:
        """Refuse tables that are not probabilities, or of different length."""
        probabilities("click", self.click)
        probabilities("stop", self.stop)
        if len(self.click) != len(self.stop):
            raise SettingError(f"click has {len(self.click)} grades but stop has {len(self.stop)}")
        if self.stop_at not in ("click", "every"):
            raise SettingError(f"stop_at must be 'click' or 'every', found {self.stop_at!r}")

    def respond(self, ranking: Ranking, relevance: IntArray, rng: np.random.Generator) -> Feedback:
        """Read the list from the top."""
        grades = relevance[ranking.order]
        coins = rng.random((2, grades.size))
        heads = coins < by_grade(grades, self.click, self.stop)
        attracted, stops = heads[0], heads[1]
        if self.stop_at == "click":
            stops &= attracted
        seen = _until_first(stops)
        return Feedback(ranking, attracted & seen, seen=seen)


def _until_first(stops: BoolArray) -> BoolArray:
    """All positions down to and including the first stop."""
    first = int(stops.argmax())
    seen = np.zeros(stops.size, dtype=np.bool_)
    seen[: first + 1 if stops[first] else None] = True
    return seen
