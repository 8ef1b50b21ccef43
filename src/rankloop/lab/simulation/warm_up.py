"""Warm-up: what a policy is taught before its first round, if it asks for it."""

from __future__ import annotations

import numpy as np

from rankloop.lab.users import Labels
from rankloop.policies import Policy
from rankloop.types import QuerySet, Ranking


def warm_up(policy: Policy, train: QuerySet, rng: np.random.Generator) -> None:
    """Teach a policy the labels of as many training queries as it asks for, drawn with its own luck.

    Most policies ask for none, and nothing is drawn.

    >>> from rankloop.checks import share_of_right_pairs, small_world
    >>> from rankloop.lab.baselines.offline_ranknet import OfflineRankNet
    >>> from rankloop.scorers import MLP
    >>> world, policy = small_world(), OfflineRankNet(scorer=MLP(16), steps=100, learning_rate=0.01)
    >>> warm_up(policy, world, np.random.default_rng(0))
    >>> share_of_right_pairs(policy, world) > 0.97
    True
    """
    judge = Labels()
    for _ in range(policy.warm_up // policy.warm_up_batch):
        for index in rng.integers(len(train), size=policy.warm_up_batch).tolist():
            judged = train[index]
            everything = Ranking(judged.query, np.arange(judged.query.n_docs))
            policy.learn(judge.respond(everything, judged.relevance, rng))
