"""Logged rounds: who came, what was shown with which probability, and what came of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from rankloop.errors import DataError
from rankloop.learning.item_keys import KeyArray, item_key
from rankloop.types import BoolArray, Context, FloatArray, IntArray, Query


@dataclass(frozen=True, slots=True, eq=False)
class LoggedRounds:
    """A log of single choices, as arrays.

    >>> log = LoggedRounds(np.eye(2), ("tea", "coffee"), np.array([1, 0]), np.ones(2), np.array([0.5, 0.5]))
    >>> len(log), log.mean_reward
    (2, 1.0)
    """

    contexts: FloatArray  # [n, n_context]
    ads: tuple[str, ...]  # [K] their names
    shown: IntArray  # [n] numbers of ads
    rewards: FloatArray  # [n] 1 for a click
    propensities: FloatArray  # [n] of what was shown
    offered: BoolArray | None = None  # [n, K] what could have been shown; None: every ad, in every round
    chances: FloatArray | None = None  # [n, K] the propensities of all ads; None: only of what was shown

    def __post_init__(self) -> None:
        """Refuse what is no log: parts of different length, propensities that are none."""
        n, k = len(self.shown), len(self.ads)
        lengths = [len(self.contexts), len(self.rewards), len(self.propensities)]
        if not n or any(length != n for length in lengths) or self.contexts.ndim != 2:
            raise DataError(
                f"a log needs as many contexts, rewards and propensities as rounds, found {n}, {lengths}"
            )
        if self.shown.min() < 0 or self.shown.max() >= k or len(set(self.ads)) != k:
            raise DataError(f"shown must be numbers of {k} ads with names of their own")
        if not (np.isfinite(self.rewards).all() and np.isfinite(self.contexts).all()):
            raise DataError("rewards and contexts must be finite numbers")
        bad = np.flatnonzero(~((self.propensities > 0) & (self.propensities <= 1)))
        if bad.size:
            raise DataError(
                f"what was shown had a probability above 0 and of at most 1, found "
                f"{self.propensities[bad[0]]} in round {bad[0] + 1}: nothing can be said about this log"
            )
        if self.offered is not None and (
            self.offered.shape != (n, k) or not self.offered[np.arange(n), self.shown].all()
        ):
            raise DataError(f"offered must say of {n} rounds and {k} ads what could be shown, and what was")
        if self.chances is not None and self.chances.shape != (n, k):
            raise DataError(f"chances must be [{n}, {k}], found {self.chances.shape}")

    def __len__(self) -> int:
        return len(self.shown)

    @property
    def mean_reward(self) -> float:
        """What the policy that made the log got: its click rate."""
        return float(self.rewards.mean())

    @property
    def keys(self) -> KeyArray:
        """The key of the ad of each round, as policies know it."""
        return np.array([item_key(name) for name in self.ads], dtype=np.uint64)[self.shown]

    def queries(self) -> Iterator[tuple[Query, IntArray]]:
        """Every round as a policy is asked, with the numbers of the ads that were offered."""
        everything = np.arange(len(self.ads))
        for row, features in enumerate(self.contexts):
            numbers = everything if self.offered is None else np.flatnonzero(self.offered[row])
            names = (
                self.ads if self.offered is None else tuple(self.ads[number] for number in numbers.tolist())
            )
            nothing = np.empty((numbers.size, 0))
            yield Query(str(row + 1), nothing, names, context=Context("", features)), numbers

    def take(self, rows: IntArray) -> LoggedRounds:
        """Some of the rounds, in this order."""
        return LoggedRounds(
            self.contexts[rows],
            self.ads,
            self.shown[rows],
            self.rewards[rows],
            self.propensities[rows],
            None if self.offered is None else self.offered[rows],
            None if self.chances is None else self.chances[rows],
        )
