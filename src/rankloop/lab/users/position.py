"""The position-based user: how far down one looks does not depend on what is there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rankloop.errors import SettingError
from rankloop.lab.users.tables import by_grade, probabilities
from rankloop.types import Feedback, IntArray, Ranking, Signal


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

    click: tuple[float, ...]  # by grade
    eta: float = 1.0  # 0: everything is examined; larger: the user looks less far

    def __post_init__(self) -> None:
        """Refuse what is not a probability."""
        probabilities("click", self.click)
        if not 0 <= self.eta < np.inf:
            raise SettingError(f"eta must be a number of 0 or more, found {self.eta}")

    def respond(self, ranking: Ranking, relevance: IntArray, rng: np.random.Generator) -> Feedback:
        """Look at each result with the probability its rank gives."""
        grades = relevance[ranking.order]
        coins = rng.random((2, grades.size))
        examined = coins[0] < np.arange(1, grades.size + 1, dtype=np.float64) ** -self.eta
        return Feedback(ranking, examined & (coins[1] < by_grade(grades, self.click)[0]), seen=examined)
