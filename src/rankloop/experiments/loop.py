"""The loop: a query comes in, a list is shown, a user responds, the policy learns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from rankloop.experiments.probes import Gauges, Probe
from rankloop.experiments.protocol import Protocol
from rankloop.metrics import NDCG, PairwiseRegret, discounted_cumulative, mean_over_queries
from rankloop.policies import Policy, score_all
from rankloop.types import QuerySet, UserModel


@dataclass(frozen=True, slots=True)
class Record:
    """One measurement: after so many rounds, this metric had that value."""

    round: int
    metric: str
    value: float


def simulate(
    policy: Policy,
    user: UserModel,
    train: QuerySet,
    test: QuerySet,
    *,
    seed: int,
    protocol: Protocol,
    probes: Sequence[Probe] = (),
) -> Iterator[Record]:
    """Let a policy learn from a user's clicks, and measure it on the way.

    Queries, user and policy have streams of randomness of their own, so that two policies with the same seed
    meet the same queries and the same luck, and so that measuring more often changes nothing. Probes look
    into the policy on the way; a policy in which they have nothing to see is passed over.

    >>> from rankloop.checks import small_world
    >>> from rankloop.policies import PDGD
    >>> from rankloop.users import Preset
    >>> world, user = small_world(), Preset("perfect").for_grades(3)
    >>> protocol = Protocol(rounds=300, k=5)
    >>> records = list(simulate(PDGD(), user, world, world, seed=0, protocol=protocol))
    >>> offline = [record.value for record in records if record.metric == "offline nDCG@5"]
    >>> offline[-1] > offline[0] + 0.3
    True
    """
    queries, users, policies = map(np.random.default_rng, np.random.SeedSequence(seed).spawn(3))
    draws = queries.integers(len(train), size=protocol.rounds).tolist()
    ndcg, regret = NDCG(k=protocol.k), PairwiseRegret()
    ideal = ndcg.ideal(train).tolist()
    shown, wrong_pairs = np.zeros(protocol.rounds), np.zeros(protocol.rounds)
    gauges = Gauges(probes, policy, train, protocol.rounds)

    def offline(number: int) -> Record:
        value = mean_over_queries(
            ndcg, score_all(policy, test), test, without_relevant=protocol.without_relevant
        )
        return Record(number, f"offline {ndcg}", value)

    def probed(number: int) -> Iterator[Record]:
        return (Record(number, metric, value) for metric, value in gauges.read(number))

    yield offline(0)
    yield from probed(0)
    for start, end in pairwise(protocol.checkpoint_rounds()):
        for past in range(start, end):
            index = draws[past]
            judged = train[index]
            ranking = policy.rank(judged.query, k=protocol.k, rng=policies)
            gauges.look(judged, ranking)
            shown[past] = ndcg.given_ideal(ranking.order, judged.relevance, ideal[index])
            wrong_pairs[past] = regret(ranking.order, judged.relevance)
            policy.learn(user.respond(ranking, judged.relevance, users))
        cumulative = discounted_cumulative(shown[:end], discount=protocol.discount)
        yield offline(end)
        yield Record(end, f"online {ndcg}", float(shown[start:end].mean()))
        yield Record(end, f"cumulative {ndcg}", float(cumulative[-1]))
        yield Record(end, repr(regret), float(wrong_pairs[:end].sum()))
        yield from probed(end)
