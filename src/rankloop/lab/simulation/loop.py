"""The loop: a query comes in, a list is shown, a user responds, the policy learns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise

import numpy as np

from rankloop.errors import SettingError
from rankloop.lab.simulation.measure_evaluator import Meter
from rankloop.lab.simulation.measures import Measure
from rankloop.lab.simulation.probes import Gauges, Probe
from rankloop.lab.simulation.protocol import Protocol
from rankloop.lab.simulation.warm_up import warm_up
from rankloop.policies import Policy
from rankloop.types import QuerySet, UserModel


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
    meet the same queries and the same luck, and so that measuring more often changes nothing. Probes look
    into the policy on the way; a policy in which they have nothing to see is passed over.

    >>> from rankloop.checks import small_world
    >>> from rankloop.policies import PDGD
    >>> from rankloop.lab.users import Preset
    >>> world, user = small_world(), Preset("perfect").for_grades(3)
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
    meter = Meter(protocol, policy, train, test)
    gauges = Gauges(probes, policy, train, protocol.rounds)

    def measured(since: int, end: int) -> Iterator[Record]:
        found = chain(meter.read(since, end), gauges.read(end))
        return (Record(end, measure, value) for measure, value in found)

    yield from measured(0, 0)
    for start, end in pairwise(protocol.checkpoint_rounds()):
        for past in range(start, end):
            judged = train[draws[past]]
            ranking = policy.rank(judged.query, k=protocol.k, rng=policies)
            gauges.look(judged, ranking)
            meter.look(past, draws[past], ranking.order)
            policy.shown(ranking)
            feedback = user.respond(ranking, judged.relevance, users)
            gauges.hear(feedback)
            policy.learn(feedback)
        yield from measured(start, end)


def check_signal(policy: Policy, user: UserModel) -> None:
    """Refuse a user who gives something else than the policy learns from."""
    if not policy.accepts(user.gives):
        raise SettingError(
            f"{type(policy).__name__} learns from {policy.learns_from}, and this user gives {user.gives}: "
            + ("give it a user who grades, such as Labels()" if user.gives == "clicks" else "let users click")
        )
