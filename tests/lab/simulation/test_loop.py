"""The loop measures what it says, and measuring changes nothing."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from rankloop.checks import small_world
from rankloop.errors import SettingError
from rankloop.lab.simulation.loop import Record, simulate
from rankloop.lab.simulation.protocol import Protocol
from rankloop.lab.users import PresetUser, UserModel
from rankloop.metrics import NDCG, PairwiseRegret
from rankloop.policies import PDGD, Policy, Random, RankNet
from rankloop.query_set import QuerySet
from rankloop.types import Feedback, IntArray, Ranking, Signal

WORLD, HELD_OUT = small_world(), small_world(seed=8)
USER = PresetUser("navigational").for_grades(3)
PROTOCOL = Protocol(rounds=40, k=5, checkpoints=4, discount=0.9)


def run(
    policy: Policy, *, seed: int = 3, protocol: Protocol = PROTOCOL, user: UserModel = USER
) -> list[Record]:
    return list(simulate(policy, user, WORLD, HELD_OUT, seed=seed, protocol=protocol))


class Witness:
    """A user who remembers what they were shown, and what they did."""

    gives: Signal = "clicks"

    def __init__(self) -> None:
        self.seen: list[tuple[Ranking, IntArray]] = []
        self.clicks: list[list[bool]] = []

    def respond(self, ranking: Ranking, relevance: IntArray, rng: np.random.Generator) -> Feedback:
        self.seen.append((ranking, relevance))
        feedback = USER.respond(ranking, relevance, rng)
        self.clicks.append(feedback.clicks.tolist())
        return feedback


def test_every_number_follows_from_what_was_shown() -> None:
    witness, policy = Witness(), PDGD()
    records = run(policy, user=witness)
    shown = [NDCG(k=5)(ranking.order, grades) for ranking, grades in witness.seen]
    wrong = [PairwiseRegret()(ranking.order, grades) for ranking, grades in witness.seen]
    values = {(record.round, record.metric): record.value for record in records}
    for start, end in pairwise(PROTOCOL.checkpoint_rounds()):
        assert values[end, "online nDCG@5"] == pytest.approx(np.mean(shown[start:end]))
        assert values[end, "pairwise regret"] == sum(wrong[:end])
        expected = sum(0.9**past * value for past, value in enumerate(shown[:end]))
        assert values[end, "cumulative nDCG@5"] == pytest.approx(expected)
    orders = [np.argsort(-policy.score(judged.query)) for judged in HELD_OUT]
    offline = [NDCG(k=5)(order, judged.relevance) for order, judged in zip(orders, HELD_OUT, strict=True)]
    assert values[40, "offline nDCG@5"] == pytest.approx(np.mean(offline))


def test_lists_of_other_lengths_keep_their_rounds() -> None:
    """Of queries with 1 to 8 documents, five are shown at most."""
    sizes = 1 + np.arange(len(WORLD)) % 8
    rows = np.concatenate([start + np.arange(n) for start, n in zip(WORLD.offsets, sizes, strict=False)])
    offsets = np.append(0, np.cumsum(sizes))
    jagged = QuerySet(WORLD.features[rows], offsets, WORLD.relevance[rows], WORLD.ids)
    witness = Witness()
    records = list(simulate(Random(), witness, jagged, HELD_OUT, seed=3, protocol=PROTOCOL))
    values = {(record.round, record.metric): record.value for record in records}
    wrong = [PairwiseRegret()(ranking.order, grades) for ranking, grades in witness.seen]
    assert len({len(ranking) for ranking, _ in witness.seen}) == 5
    for end in PROTOCOL.checkpoint_rounds()[1:]:
        assert values[end, "pairwise regret"] == sum(wrong[:end])


def test_the_same_seed_gives_the_same_numbers() -> None:
    assert run(PDGD()) == run(PDGD())
    assert run(PDGD()) != run(PDGD(), seed=4)


def test_measuring_more_often_changes_nothing() -> None:
    often = {(r.round, r.metric): r.value for r in run(PDGD(), protocol=replace(PROTOCOL, checkpoints=40))}
    for record in run(PDGD()):
        if not record.metric.startswith("online"):  # a mean since the last checkpoint
            assert often[record.round, record.metric] == record.value


def test_a_longer_run_begins_like_a_shorter_one() -> None:
    longer = run(PDGD(), protocol=replace(PROTOCOL, rounds=80, checkpoints=8))
    shared = 1 + 4 * (len(PROTOCOL.checkpoint_rounds()) - 1)
    assert run(PDGD()) == longer[:shared]


def test_policies_meet_the_same_queries_and_the_same_luck() -> None:
    witnesses = Witness(), Witness()
    for witness, policy in zip(witnesses, (Random(), RankNet()), strict=True):
        run(policy, user=witness)
    asked = [[ranking.query.id for ranking, _ in witness.seen] for witness in witnesses]
    assert asked[0] == asked[1]

    class Coin:
        """Clicks without looking: only the luck is left."""

        gives: Signal = "clicks"

        def __init__(self) -> None:
            self.clicks: list[list[bool]] = []

        def respond(self, ranking: Ranking, relevance: IntArray, rng: np.random.Generator) -> Feedback:
            feedback = USER.respond(ranking, np.zeros_like(relevance), rng)
            self.clicks.append(feedback.clicks.tolist())
            return feedback

    coins = Coin(), Coin()
    for coin, policy in zip(coins, (Random(), RankNet()), strict=True):
        run(policy, user=coin)
    assert coins[0].clicks == coins[1].clicks


@pytest.mark.parametrize("setting", [{"rounds": 0}, {"k": 0}, {"checkpoints": 0}, {"discount": 0.0}])
def test_impossible_protocols_are_refused(setting: dict[str, float]) -> None:
    with pytest.raises(SettingError, match=next(iter(setting))):
        Protocol(**setting)  # type: ignore[arg-type]


@pytest.mark.parametrize("rounds", [1, 2, 9, 10, 1000])
def test_checkpoints_begin_at_zero_and_end_at_the_end(rounds: int) -> None:
    stops = Protocol(rounds=rounds).checkpoint_rounds()
    assert (stops[0], stops[-1]) == (0, rounds)
    assert stops == sorted(set(stops))
