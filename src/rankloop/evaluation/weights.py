"""Importance weights: how much more often a policy would have shown what the log shows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankloop.errors import RankloopError, SettingError
from rankloop.evaluation.rounds import LoggedRounds
from rankloop.policies import Policy, Random, SelectionPolicy
from rankloop.types import FloatArray

NEGLIGIBLE = 1e-12  # a probability that is 0 but for rounding


class NoSupport(RankloopError):
    """A policy would show what the log never could: nobody knows what would have come of it."""


@dataclass(frozen=True, slots=True, eq=False)
class Weighted:
    """A log under the eyes of a policy: weights of what was shown, and its probability of everything."""

    log: LoggedRounds
    choices: FloatArray  # [n, K] with which probability the policy shows each ad
    weights: FloatArray  # [n] of what was shown: the policy's probability over the log's

    @property
    def effective(self) -> float:
        r"""Effective sample size, $(\sum w)^2 / \sum w^2$: so many rounds of its own would say as much."""
        squares = float(self.weights @ self.weights)
        return float(self.weights.sum()) ** 2 / squares if squares else 0.0


def weighted(log: LoggedRounds, choices: FloatArray) -> Weighted:
    """The weights of a policy's choices; `NoSupport` where the log cannot answer.

    >>> log = LoggedRounds(np.zeros((2, 0)), ("tea", "coffee"), np.array([0, 1]), np.ones(2), np.full(2, 0.5))
    >>> weighted(log, np.array([[1.0, 0.0], [1.0, 0.0]])).weights.tolist()
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
    weights = choices[np.arange(len(log)), log.shown] / log.propensities
    if not weights.any():
        raise NoSupport("the policy shows nothing of what the log shows: nothing can be said about it")
    return Weighted(log, choices, weights)


def choices_of(policy: Policy, log: LoggedRounds) -> FloatArray:
    """With which probability a policy, as it is now, shows each ad in each round, [n, K]."""
    if not isinstance(policy, SelectionPolicy | Random):
        raise SettingError(
            f"{type(policy).__name__} cannot say with which probability it shows what: only policies for one "
            "ad can be evaluated from a log, such as auc-ranker, squarecb or random"
        )
    found = np.zeros((len(log), len(log.ads)))
    for row, (query, numbers) in enumerate(log.queries()):
        uniform = isinstance(policy, Random)
        found[row, numbers] = 1 / numbers.size if uniform else policy.propensities(query)  # type: ignore[union-attr]
    return found


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
