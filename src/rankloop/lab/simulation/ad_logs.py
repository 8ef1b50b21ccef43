"""Simulated logs: every visitor is shown one ad, and only what was shown is known."""

from __future__ import annotations

import numpy as np

from rankloop.errors import DataError
from rankloop.lab.data.logged_rounds import LoggedRounds
from rankloop.lab.users import AdUser
from rankloop.policies import AdPolicy
from rankloop.query_set import QuerySet


def simulate_ad_log(
    queries: QuerySet, user: AdUser, rng: np.random.Generator, *, policy: AdPolicy | None = None
) -> LoggedRounds:
    """Simulate the log of a policy that learns nothing on the way or, if none is given, of uniform choices.

    >>> from rankloop.lab.data import load
    >>> sparse = AdUser(match=0.04, otherwise=0.0005)
    >>> log = simulate_ad_log(load("ads").train, sparse, np.random.default_rng(0))
    >>> len(log), log.mean_reward < 0.02
    (2000, True)
    """
    if queries.contexts is None:
        raise DataError("a log of ads is made of visitors with contexts, as in ads: found none")
    n, ads = len(queries), len(queries.doc_ids) // len(queries)
    chances = np.full((n, ads), 1 / ads)
    if policy is not None:
        chances = np.stack([policy.propensities(judged.query) for judged in queries])
    edges = np.cumsum(chances, axis=1)
    coins = rng.random((2, n))
    shown = np.minimum((coins[0][:, None] * edges[:, -1:] >= edges).sum(axis=1), ads - 1)
    matches = queries.relevance.reshape(n, ads)[np.arange(n), shown] > 0
    clicks = coins[1] < np.where(matches, user.match, user.otherwise)
    names = tuple(queries.doc_ids[:ads])
    return LoggedRounds(
        queries.contexts,
        names,
        shown,
        clicks.astype(np.float64),
        chances[np.arange(n), shown],
        chances=chances,
    )
