"""The loop: a query comes in, a list is shown, a user responds, the policy learns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise

import numpy as np

from rankloop.errors import SettingError
from rankloop.lab.baselines.warm_up import WarmsUp
from rankloop.lab.simulation.measure_evaluator import MeasureEvaluator
from rankloop.lab.simulation.measures import Measure
from rankloop.lab.simulation.probes import Observations, Probe
from rankloop.lab.simulation.protocol import Protocol
from rankloop.lab.users import LabelJudge, UserModel
from rankloop.policies import Policy
from rankloop.query_set import QuerySet
from rankloop.types import Ranking


@dataclass(frozen=True, slots=True)
class Record:
    """One measurement: after so many rounds, this measure had that value."""

    round: int
    measure: Measure
    value: float

    @property
    def metric(self) -> str:
        """The name of what was measured, as in the results."""
        return self.measure.name


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
    """Let a policy learn from what a user gives, clicks or grades, and measure it on the way.

    Queries, user and policy have streams of randomness of their own, so that two policies with the same seed
    meet the same queries and the same luck, and so that measuring more often changes nothing. Probes read
    from the policy on the way; a policy in which they have nothing to read is passed over.

    >>> from rankloop.checks import small_world
    >>> from rankloop.policies import PDGD
    >>> from rankloop.lab.users import PresetUser
    >>> world, user = small_world(), PresetUser("perfect").for_grades(3)
    >>> protocol = Protocol(rounds=300, k=5)
    >>> records = list(simulate(PDGD(), user, world, world, seed=0, protocol=protocol))
    >>> offline = [record.value for record in records if record.metric == "offline nDCG@5"]
    >>> offline[-1] > offline[0] + 0.3
    True
    """
    check_signal(policy, user)
    queries, users, policies = map(np.random.default_rng, np.random.SeedSequence(seed).spawn(3))
    draws = queries.integers(len(train), size=protocol.rounds).tolist()
    warm_up(policy, train, policies)
    measures = MeasureEvaluator(protocol, policy, train, test)
    observations = Observations(probes, policy, train, protocol.rounds)

    def measure(start: int, end: int) -> Iterator[Record]:
        found = chain(measures.read(start, end), observations.read(end))
        return (Record(end, each, value) for each, value in found)

    yield from measure(0, 0)
    for start, end in pairwise(protocol.checkpoint_rounds()):
        for past in range(start, end):
            judged = train[draws[past]]
            ranking = policy.rank(judged.query, k=protocol.k, rng=policies)
            measures.add(past, draws[past], ranking.order)
            policy.shown(ranking)
            feedback = user.respond(ranking, judged.relevance, users)
            observations.add(judged, ranking, feedback)
            policy.learn(feedback)
        yield from measure(start, end)


def check_signal(policy: Policy, user: UserModel) -> None:
    """Refuse a user who gives something else than the policy learns from."""
    if user.gives not in policy.signals:
        raise SettingError(
            f"{type(policy).__name__} learns from {policy.signals[0]}, and this user gives {user.gives}: "
            + (
                "give it a user who grades, such as LabelJudge()"
                if user.gives == "clicks"
                else "let users click"
            )
        )


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
    if not isinstance(policy, WarmsUp):
        return
    judge = LabelJudge()
    for _ in range(policy.warm_up // policy.warm_up_batch):
        for index in rng.integers(len(train), size=policy.warm_up_batch).tolist():
            judged = train[index]
            everything = Ranking(judged.query, np.arange(judged.query.n_docs))
            policy.learn(judge.respond(everything, judged.relevance, rng))
