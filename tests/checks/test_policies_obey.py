"""Every policy meets every law."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest

from rankloop import policies
from rankloop.checks import LAWS, SANITY, Make, learning_beats_random
from rankloop.interleaving import Probabilistic
from rankloop.policies import DBGD, MGD, PDGD, EpsilonGreedy, Policy, Random, RankNet

POLICIES: dict[str, Make] = {
    "Random": Random,
    "RankNet": RankNet,
    "EpsilonGreedy": EpsilonGreedy,
    "PDGD": PDGD,
    "PDGD-decay": partial(PDGD, decay=0.99),
    "DBGD-team-draft": partial(DBGD, step=0.1),
    "DBGD-probabilistic": partial(DBGD, step=0.1, interleaving=Probabilistic()),
    "MGD-team-draft": partial(MGD, step=0.1),
    "MGD-probabilistic": partial(MGD, step=0.1, candidates=19, interleaving=Probabilistic()),
}


@pytest.mark.parametrize("check", LAWS + SANITY, ids=lambda check: check.__name__)
@pytest.mark.parametrize("make", POLICIES.values(), ids=POLICIES.keys())
def test_law(make: Make, check: Callable[[Make], None]) -> None:
    check(make)


@pytest.mark.parametrize("make", [make for name, make in POLICIES.items() if name != "Random"])
def test_learning_beats_random(make: Make) -> None:
    learning_beats_random(make, rounds=1500)


def test_no_policy_is_forgotten() -> None:
    shipped = {
        value
        for value in vars(policies).values()
        if isinstance(value, type) and issubclass(value, Policy) and not value.__abstractmethods__
    }
    assert shipped == {type(make()) for make in POLICIES.values()}
