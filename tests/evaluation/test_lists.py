"""Estimates for lists: unbiased over all logs there could be, with chances that are those of the draws."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from itertools import permutations, product

import numpy as np
import pytest

from rankloop.errors import SettingError
from rankloop.evaluation import (
    LoggedList,
    NextProbabilities,
    NoSupport,
    draw_probabilities,
    estimate_rewards,
    greedy_probabilities,
    weigh_lists,
)
from rankloop.policies import DBGD, PDGD, FairExpPairRank, PairRank, Policy, Random
from rankloop.types import Feedback, FloatArray, Query, Ranking

QUERY = Query("q", np.array([[1.0, 0.0], [0.6, 0.2], [0.1, 0.9], [0.0, 0.3]]))
ATTRACTIVE = np.array([0.8, 0.5, 0.3, 0.1])


def taught(policy: Policy) -> Policy:
    """A policy that prefers the first documents, and is sure of some orders."""
    rng = np.random.default_rng(0)
    for _ in range(40):
        shown = policy.rank(QUERY, k=4, rng=rng)
        policy.learn(Feedback(shown, rng.random(4) < ATTRACTIVE[shown.order] ** 2))
    return policy


POLICIES: dict[str, Callable[[], Policy]] = {
    "random": Random,
    "pdgd": lambda: taught(PDGD(learning_rate=0.5)),
    "pairrank": lambda: taught(PairRank()),
    "pairrank in blocks": lambda: taught(PairRank(exploration="random")),
}


def chance_of(chances: NextProbabilities, order: tuple[int, ...]) -> float:
    rows = np.array(order)
    return float(np.prod([chances(rows[:index])[row] for index, row in enumerate(order)]))


@pytest.mark.parametrize("name", POLICIES)
def test_the_chances_of_lists_are_those_with_which_they_are_drawn(name: str) -> None:
    policy, rng = POLICIES[name](), np.random.default_rng(1)
    chances = draw_probabilities(policy, QUERY)
    known = {order: chance_of(chances, order) for order in permutations(range(4), 3)}
    assert sum(known.values()) == pytest.approx(1.0)
    counted = Counter(tuple(policy.rank(QUERY, k=3, rng=rng).order.tolist()) for _ in range(4000))
    for order, chance in known.items():
        assert counted[order] / 4000 == pytest.approx(chance, abs=4 * (chance / 4000) ** 0.5 + 1e-9)


def test_a_policy_that_cannot_say_its_chances_is_refused() -> None:
    with pytest.raises(SettingError, match="DBGD cannot say with which probability"):
        draw_probabilities(DBGD(), QUERY)
    with pytest.raises(SettingError, match="FairExpPairRank cannot say with which probability"):
        draw_probabilities(FairExpPairRank(), QUERY)  # it draws in a way of its own
    long = Query("q", np.random.default_rng(0).random((600, 3)))
    fair, plain = FairExpPairRank(), PairRank()
    for policy in (fair, plain):
        policy.learn(Feedback(Ranking(long, np.arange(3), {"seed": np.array(0)}), np.eye(3, dtype=bool)[1]))
    assert fair.top_orders(long, 10) is None is not plain.top_orders(long, 10)


def clicks_from_the_top(order: tuple[int, ...]) -> Iterator[tuple[float, FloatArray]]:
    """All that users may do who read from the top and stop at the first click, with its probability."""
    none = 1.0
    for index, row in enumerate(order):
        yield none * ATTRACTIVE[row], np.eye(len(order))[index]
        none *= 1 - ATTRACTIVE[row]
    yield none, np.zeros(len(order))


def worth(chances: NextProbabilities, depth: int) -> float:
    lists = {order: chance_of(chances, order) for order in permutations(range(4), depth)}
    return sum(
        chance * part * float(clicks.sum())
        for order, chance in lists.items()
        for part, clicks in clicks_from_the_top(order)
    )


@pytest.mark.parametrize("depth", [1, 2])
@pytest.mark.parametrize("explores", [True, False])
def test_estimates_are_right_on_average_over_all_logs(depth: int, explores: bool) -> None:
    """Of two lists each, so that the doubly robust one learns from the other half."""
    log, policy = draw_probabilities(taught(PDGD(learning_rate=0.2)), QUERY), taught(PDGD(learning_rate=2.0))
    asked = (draw_probabilities if explores else greedy_probabilities)(policy, QUERY)
    rounds = [
        (chance_of(log, order) * part, LoggedList(np.array(order), clicks, log, asked, policy.score(QUERY)))
        for order in permutations(range(4), depth)
        for part, clicks in clicks_from_the_top(order)
    ]
    sums: dict[str, float] = defaultdict(float)
    for (first, one), (second, two) in product(rounds, repeat=2):
        for each in estimate_rewards(weigh_lists([one, two], fewest=0)):
            sums[each.name] += first * second * each.value
    truth = worth(asked, depth)
    for name in ("importance-weighted", "doubly robust", *(["whole lists"] if depth > 1 else [])):
        assert sums[name] == pytest.approx(truth)


def test_a_log_without_support_is_refused() -> None:
    sure = taught(PairRank())
    certain = sure.certain_orders(QUERY)  # type: ignore[attr-defined]
    assert certain[0, 3]

    class Worst(Random):
        def score(self, query: Query) -> FloatArray:
            return np.arange(query.n_docs).astype(float)

    shown = sure.rank(QUERY, k=2, rng=np.random.default_rng(0)).order
    lists = LoggedList(
        shown,
        np.zeros(2),
        draw_probabilities(sure, QUERY),
        greedy_probabilities(Worst(), QUERY),
        Worst().score(QUERY),
    )
    misses = LoggedList(
        np.array([1]),
        np.zeros(1),
        draw_probabilities(Random(), QUERY),
        greedy_probabilities(Worst(), QUERY),
        Worst().score(QUERY),
    )
    with pytest.raises(NoSupport, match="as 0 lists of its own would, and an interval needs 30"):
        weigh_lists([misses])
    with pytest.raises(NoSupport, match="in list 1 the policy may show what the log could not"):
        weigh_lists([lists])
