"""Click models: users who click by cascade, by position, or on an ad that matches."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar, Literal

import numpy as np

from rankloop.bounds import NonNegative, Probability, check_settings
from rankloop.errors import DataError, SettingError
from rankloop.types import BoolArray, Feedback, FloatArray, IntArray, Ranking, Signal

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

    click: tuple[Probability, ...]  # by grade
    stop: tuple[Probability, ...]  # by grade
    stop_at: Stop = "click"

    def __post_init__(self) -> None:
        """Refuse tables that are not probabilities, or of different length."""
        check_settings(self)
        _check_grades(self.click)
        if len(self.click) != len(self.stop):
            raise SettingError(f"click has {len(self.click)} grades but stop has {len(self.stop)}")

    def respond(self, ranking: Ranking, relevance: IntArray, rng: np.random.Generator) -> Feedback:
        """Read the list from the top."""
        grades = relevance[ranking.order]
        coins = rng.random((2, grades.size))
        heads = coins < look_up_grades(grades, self.click, self.stop)
        attracted, stops = heads[0], heads[1]
        if self.stop_at == "click":
            stops &= attracted
        seen = _until_first(stops)
        return Feedback(ranking, attracted & seen, truly_examined=seen)


@dataclass(frozen=True)
class PositionBased:
    r"""A position-based click model.

    $P(\text{click at rank } i) = i^{-\eta} \cdot \text{click}[r_i]$: examination depends on the rank
    alone, attraction on the grade alone, and both coins are thrown for every result.

    >>> from rankloop.types import Query
    >>> shown = Ranking(Query("q", np.eye(3)), np.array([0, 1, 2]))
    >>> user = PositionBased(click=(0.0, 1.0), eta=0.0)
    >>> user.respond(shown, np.array([1, 0, 1]), np.random.default_rng(1)).clicks.tolist()
    [True, False, True]

    Craswell, Zoeter, Taylor, Ramsey: An experimental comparison of click position-bias models. WSDM 2008.
    """

    gives: ClassVar[Signal] = "clicks"

    click: tuple[Probability, ...]  # by grade
    eta: NonNegative = 1.0  # 0: everything is examined; larger: the user looks less far

    def __post_init__(self) -> None:
        """Refuse what is not a probability."""
        check_settings(self)
        _check_grades(self.click)

    def respond(self, ranking: Ranking, relevance: IntArray, rng: np.random.Generator) -> Feedback:
        """Look at each result with the probability its rank gives."""
        grades = relevance[ranking.order]
        coins = rng.random((2, grades.size))
        examined = coins[0] < np.arange(1, grades.size + 1, dtype=np.float64) ** -self.eta
        return Feedback(
            ranking, examined & (coins[1] < look_up_grades(grades, self.click)[0]), truly_examined=examined
        )


@dataclass(frozen=True)
class AdUser:
    """A visitor who clicks on ads with probability `match` on a match, with `otherwise` on all else.

    An ad matches if its grade is not 0. Small probabilities make sparse clicks.

    >>> from rankloop.types import Query
    >>> shown = Ranking(Query("visitor", np.empty((3, 0)), ("tea", "coffee", "water")), np.array([2]))
    >>> AdUser().respond(shown, np.array([0, 0, 1]), np.random.default_rng(0)).clicks.tolist()
    [True]
    """

    gives: ClassVar[Signal] = "clicks"

    match: Probability = 1.0
    otherwise: Probability = 0.0

    def __post_init__(self) -> None:
        """Refuse what is not a probability."""
        check_settings(self)

    def respond(self, ranking: Ranking, relevance: IntArray, rng: np.random.Generator) -> Feedback:
        """One coin for each ad."""
        chances = np.where(relevance[ranking.order] > 0, self.match, self.otherwise)
        clicks = rng.random(chances.size) < chances
        return Feedback(ranking, clicks, truly_examined=np.ones(chances.size, dtype=np.bool_))


def look_up_grades(grades: IntArray, *tables: tuple[float, ...]) -> FloatArray:
    """Look up what each table has for each grade, [n_tables, n]; all are of one length.

    >>> look_up_grades(np.array([2, 0]), (0.0, 0.5, 1.0), (0.1, 0.2, 0.3)).tolist()
    [[1.0, 0.0], [0.3, 0.1]]
    """
    try:
        return _as_array(tables).take(grades, axis=1)
    except IndexError as error:
        raise DataError(
            f"this user knows the grades 0..{len(tables[0]) - 1} but met grade {grades.max()}: "
            f"choose a preset for {grades.max() + 1} grades"
        ) from error


def _check_grades(table: tuple[float, ...]) -> None:
    if not table:
        raise SettingError("click must have a probability for each grade, found none")


@lru_cache(maxsize=64)
def _as_array(tables: tuple[tuple[float, ...], ...]) -> FloatArray:
    return np.array(tables, dtype=np.float64)


def _until_first(stops: BoolArray) -> BoolArray:
    """All positions down to and including the first stop."""
    first = int(stops.argmax())
    seen = np.zeros(stops.size, dtype=np.bool_)
    seen[: first + 1 if stops[first] else None] = True
    return seen
