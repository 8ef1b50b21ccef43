"""What policies around one scoring function share."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from rankloop.policies.base import Policy
from rankloop.scorers import Linear, Scorer
from rankloop.types import FloatArray, RankingError, SettingError


@dataclass(kw_only=True, eq=False)
class ScoredPolicy(Policy):
    """A policy around one scorer, whose parameters are its state.

    How many features there are is known only when the first feedback comes: until then the parameters are
    empty, and the scorer's starting point stands in for them.
    """

    scorer: Scorer = field(default_factory=Linear)
    parameters: FloatArray = field(default_factory=lambda: np.empty(0), init=False, repr=False)

    def __post_init__(self) -> None:
        """Refuse what cannot score."""
        super().__post_init__()
        check_part("scorer", self.scorer, "pull", "Linear(), MLP() or Module(make)")

    def score(self, features: FloatArray) -> FloatArray:
        """Scores of the learned ranker."""
        return self.scorer.score(self.parameters_for(features), features)

    def parameters_for(self, features: FloatArray) -> FloatArray:
        """The parameters, or the scorer's starting point before anything was learned."""
        return self.parameters if self.parameters.size else self.scorer.start(features.shape[1])

    def _form(self) -> tuple[object, ...]:
        return (self.scorer,)

    def move(self, start: FloatArray, size: float, direction: FloatArray) -> None:
        """Go from `start` this far in that direction, unless it leads out of bounds."""
        with np.errstate(over="ignore", invalid="ignore"):
            parameters = start + size * direction
        if not np.isfinite(parameters).all():
            raise RankingError(
                "learning from this feedback would make the weights infinite: "
                "scale the features (for example to 0..1 within the query) or lower the learning rate"
            )
        self.parameters = parameters


def check_part(name: str, value: object, method: str, such_as: str) -> None:
    """Refuse a setting that should be a value with methods and is a name, a number or a class."""
    if isinstance(value, type) or not callable(getattr(value, method, None)):
        raise SettingError(f"{name} must be a value such as {such_as}, found {value!r}")
