"""Logged rounds of single choices, with propensities, and their weights for another policy."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from rankloop.errors import DataError, SettingError
from rankloop.evaluation import NoSupport, WeightedLog
from rankloop.evaluation.estimates import NEGLIGIBLE
from rankloop.learning.click_regression import fit_clicks
from rankloop.learning.item_keys import KeyArray, item_key
from rankloop.policies import AdPolicy, Policy, Random
from rankloop.types import BoolArray, Context, FloatArray, IntArray, Query

FEW = 5  # clicks of an ad, below which only its rate is learned
REGULARISATION = 0.1


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
        """Take some of the rounds, in this order."""
        return LoggedRounds(
            self.contexts[rows],
            self.ads,
            self.shown[rows],
            self.rewards[rows],
            self.propensities[rows],
            None if self.offered is None else self.offered[rows],
            None if self.chances is None else self.chances[rows],
        )


def weigh_rounds(log: LoggedRounds, choices: FloatArray, predicted: FloatArray | None = None) -> WeightedLog:
    """Weigh rounds for a policy's choices, [n, K]; `NoSupport` where the log cannot answer.

    `predicted` are the rewards of all ads in all rounds, [n, K], by `predict_rewards` unless they are given.

    >>> log = LoggedRounds(np.zeros((2, 0)), ("tea", "coffee"), np.array([0, 1]), np.ones(2), np.full(2, 0.5))
    >>> weigh_rounds(log, np.array([[1.0, 0.0], [1.0, 0.0]])).weights.ravel().tolist()
    [2.0, 0.0]
    """
    unknown = np.flatnonzero(~np.isfinite(choices).all(axis=-1))
    if unknown.size:
        raise SettingError(
            f"choices must be finite numbers, found others in {unknown.size:,} of {len(log):,} rounds: "
            "contexts may be too large to be multiplied; divide them by what is usual"
        )
    if choices.shape != (len(log), len(log.ads)) or np.abs(choices.sum(axis=1) - 1).max() > 1e-6:
        raise SettingError(f"choices must be probabilities of {len(log.ads)} ads in {len(log)} rounds")
    _check_support(log, choices)
    mine = np.arange(len(log)), log.shown
    weights = choices[mine] / log.propensities
    if not weights.any():
        raise NoSupport("the policy shows nothing of what the log shows: nothing can be said about it")
    model = predict_rewards(log) if predicted is None else predicted
    columns = (log.rewards, weights, model[mine], (choices * model).sum(axis=1))
    return WeightedLog(*(column[:, None] for column in columns))


def find_choice_probabilities(policy: Policy, log: LoggedRounds) -> FloatArray:
    """Compute the probability with which a policy, as it is now, shows each ad in each round, [n, K]."""
    if not isinstance(policy, AdPolicy | Random):
        raise SettingError(
            f"{type(policy).__name__} cannot say with which probability it shows what: only policies for one "
            "ad can be evaluated from a log, such as auc-ranker, squarecb or random"
        )
    found = np.zeros((len(log), len(log.ads)))
    for row, (query, numbers) in enumerate(log.queries()):
        uniform = isinstance(policy, Random)
        found[row, numbers] = 1 / numbers.size if uniform else policy.propensities(query)  # type: ignore[union-attr]
    return found


def predict_rewards(log: LoggedRounds) -> FloatArray:
    """Predict the rewards of all ads in all rounds, [n, K]: odd rounds from even ones, and the reverse.

    >>> clicks = np.array([1.0, 0.0, 1.0, 0.0])
    >>> log = LoggedRounds(np.zeros((4, 0)), ("tea",), np.zeros(4, int), clicks, np.ones(4))
    >>> predict_rewards(log).ravel().round(2).tolist()  # even rounds were clicked, odd ones were not
    [0.0, 1.0, 0.0, 1.0]
    """
    even = np.arange(len(log)) % 2 == 0
    predicted = np.empty((len(log), len(log.ads)))
    for part in (even, ~even):
        seen = np.flatnonzero(~part)
        predicted[part] = _predicted(log, seen, np.flatnonzero(part)) if seen.size else 0.0
    return predicted


def _predicted(log: LoggedRounds, seen: IntArray, asked: IntArray) -> FloatArray:
    overall = float(log.rewards[seen].mean())
    columns = [_of_ad(log, seen[log.shown[seen] == ad], asked, overall) for ad in range(len(log.ads))]
    return np.stack(columns, axis=1)


def _of_ad(log: LoggedRounds, rows: IntArray, asked: IntArray, overall: float) -> FloatArray:
    """Predict by logistic regression if an ad has enough clicks, else by its rate, drawn to that of all."""
    rewards = log.rewards[rows]
    clicks = rewards > 0
    binary = bool(((rewards == 0) | (rewards == 1)).all())
    if binary and min(int(clicks.sum()), int((~clicks).sum())) >= FEW and log.contexts.shape[1]:
        line = fit_clicks(log.contexts[rows], clicks, REGULARISATION)
        return np.asarray(expit(line[0] + log.contexts[asked] @ line[1:]))
    return np.full(asked.size, (rewards.sum() + overall) / (rewards.size + 1))


def _check_support(log: LoggedRounds, choices: FloatArray) -> None:
    """Refuse ads that the policy may show and the log may not; if it does not say, ads it never showed."""
    if log.chances is not None:
        rows, ads = np.nonzero((choices > NEGLIGIBLE) & (log.chances <= 0))
        if rows.size:
            raise NoSupport(
                f"in {len(set(rows.tolist())):,} of {len(log):,} rounds the policy may show what the log "
                f"could not, such as {log.ads[ads[0]]!r} in round {rows[0] + 1}: a log can only speak of "
                "what had a chance. Log with a policy that explores, such as squarecb, or auc-ranker with an "
                "epsilon above 0"
            )
        return
    never = np.setdiff1d(np.flatnonzero((choices > NEGLIGIBLE).any(axis=0)), log.shown)
    if never.size:
        names = ", ".join(repr(log.ads[number]) for number in never[:5].tolist())
        raise NoSupport(
            f"the policy may show {names}, which the log never showed: leave these ads out, or log with a "
            "policy that gives them a chance"
        )
