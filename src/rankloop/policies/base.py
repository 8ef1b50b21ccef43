"""The contract every policy obeys."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from typing import ClassVar, Self

import numpy as np

from rankloop.types import Feedback, FloatArray, Query, Ranking, RankingError, State


@dataclass(kw_only=True, eq=False)
class Policy(ABC):
    """Ranks queries and learns from clicks.

    `rank` asks and `learn` changes. A policy is a dataclass whose ordinary fields are its settings and
    whose `field(init=False)` fields are its state: arrays, which `learn` replaces and nothing else touches.
    Only a memory that `learn` alone reads may be written in place, where copying it would cost too much.
    From that follow `state`, `from_state` and a `repr` that shows the settings. A policy that has a `name` is
    known by it on the command line.

    The four laws, which `rankloop.checks` tries on every policy:

    1. `rank` changes nothing.
    2. `learn` is deterministic, so a policy is a fold of its log.
    3. Scoring in between changes nothing.
    4. Late feedback is learned as it was shown: `learn` looks at the ranking's evidence, not at a memory.
    """

    name: ClassVar[str] = ""

    def __post_init__(self) -> None:  # noqa: B027  # every policy calls that of its parents: it ends here
        """Refuse settings without a meaning; here there are none."""

    @abstractmethod
    def rank(self, query: Query, *, k: int, rng: np.random.Generator) -> Ranking:
        """Choose `k` candidates to show (all, if there are fewer), with the evidence `learn` will need."""

    @abstractmethod
    def learn(self, feedback: Feedback) -> None:
        """Take in what a user did with a ranking."""

    @abstractmethod
    def score(self, features: FloatArray) -> FloatArray:
        """How good each document is thought to be, without exploration; higher is better."""

    def state(self) -> State:
        """A snapshot of everything learned, as named arrays."""
        return {name: np.array(getattr(self, name)) for name in self._state_names()}

    def from_state(self, state: State) -> Self:
        """A policy with these settings and that state."""
        if set(state) != set(self._state_names()):
            raise RankingError(
                f"{type(self).__name__} has the state {sorted(self._state_names())}, found {sorted(state)}"
            )
        twin = copy.copy(self)
        for name, value in state.items():
            setattr(twin, name, np.array(value))
        return twin

    def understands(self, other: Policy) -> bool:
        """Whether what the other has learned means the same to this policy, so that it may go on from there.

        Both must be of one kind and agree on the settings that give the state its form.

        >>> from rankloop.policies import PDGD
        >>> from rankloop.scorers import MLP
        >>> PDGD().understands(PDGD(learning_rate=0.5)), PDGD().understands(PDGD(scorer=MLP()))
        (True, False)
        """
        return type(self) is type(other) and self._form() == other._form()

    def _form(self) -> tuple[object, ...]:
        """The settings without which the arrays of the state mean nothing."""
        return ()

    def _state_names(self) -> tuple[str, ...]:
        return tuple(field.name for field in fields(self) if not field.init)
