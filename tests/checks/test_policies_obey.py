"""Every policy meets every law."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial

import numpy as np
import pytest

from rankloop.check_worlds import live_rounds, show, world_for
from rankloop.checks import LAWS, SANITY, Make, learning_beats_random
from rankloop.errors import RankingError
from rankloop.interleaving import Probabilistic
from rankloop.lab.baselines import ALL_POLICIES
from rankloop.lab.baselines.lambdamart import LambdaMART
from rankloop.lab.baselines.offline_ranknet import OfflineRankNet
from rankloop.lab.baselines.ollambdarank_gt import OlLambdaRankGT
from rankloop.policies import (
    DBGD,
    MGD,
    NSGD,
    PDGD,
    AdForest,
    AUCRanker,
    DocumentSpace,
    OlRankNet,
    P2NeurRank,
    PairRank,
    PePairRank,
    Race,
    RankNet,
    Slam,
    Width,
)
from rankloop.scorers import MLP, Linear
from rankloop.types import Feedback

VARIANTS: dict[str, Make] = {
    "PDGD-decay": partial(PDGD, decay=0.99),
    "DBGD-probabilistic": partial(DBGD, interleaving=Probabilistic()),
    "MGD-probabilistic": partial(MGD, candidates=19, interleaving=Probabilistic()),
    "DBGD-projection": partial(DBGD, projection=DocumentSpace()),
    "MGD-projection": partial(MGD, projection=DocumentSpace(k=1, recent=2, trust=0.8)),
    "NSGD-projection": partial(NSGD, projection=DocumentSpace(unit=True)),
    "NSGD-probabilistic": partial(NSGD, interleaving=Probabilistic()),
    "OfflineRankNet-short": partial(OfflineRankNet, scorer=MLP(8), steps=40, queries=2, learning_rate=0.01),
    "PairRank-order": partial(PairRank, caller_order="decent"),
    "PairRank-order-exact": partial(PairRank, caller_order="unknown", update="exact", certainty=Width()),
    "PePairRank-order": partial(PePairRank, caller_order="poor"),
    "Race-order": partial(Race, caller_order="decent", racers=2, odds=2.0),
    "RankNet-order": partial(RankNet, caller_order="decent", learning_rate=0.01),
    "PDGD-order": partial(PDGD, caller_order="decent"),
    "NSGD-order": partial(NSGD, caller_order="poor", projection=DocumentSpace()),
    "OlRankNet-order": partial(OlRankNet, caller_order="decent", scorer=MLP(16)),
    "P2NeurRank-order": partial(P2NeurRank, caller_order="decent", scorer=MLP(16)),
    "Slam-averaged": partial(Slam, averaged=True),
    "AUCRanker-platt": partial(AUCRanker, threshold="platt", undersample=2.0),
    "OlLambdaRankGT-linear": partial(OlLambdaRankGT, scorer=Linear(), queries=4, learning_rate=0.01),
}
FEWER_TREES: dict[str, Make] = {
    "AdForest": partial(AdForest, trees=20),  # all 200 take their time
    "LambdaMART": partial(LambdaMART, trees=15),
}
POLICIES: dict[str, Make] = {**ALL_POLICIES, **VARIANTS, **FEWER_TREES}


@pytest.mark.parametrize("check", LAWS + SANITY, ids=lambda check: check.__name__)
@pytest.mark.parametrize("make", POLICIES.values(), ids=POLICIES.keys())
def test_law(make: Make, check: Callable[[Make], None]) -> None:
    check(make)


def test_a_law_lets_off_no_policy_that_is_not_named_here() -> None:
    """Law 5 those that take no new features, law 7 those that refuse a higher grade or learn nothing."""
    without_new_features, without_higher_grades = set(), set()
    for name in ALL_POLICIES:
        policy, graded = POLICIES[name](), POLICIES[name]()
        world = world_for(policy)
        live_rounds(policy, world, rounds=3)
        if policy.widened(8) is None:
            without_new_features.add(name)
        before, shown = graded.state(), show(graded, world[0], seed=0, k=5).ranking
        if "grades" in graded.signals:
            with suppress(RankingError):
                graded.learn(Feedback(shown, np.array([1, 4, 0, 0, 0]), signal="grades"))
            if all(np.array_equal(value, graded.state()[array]) for array, value in before.items()):
                without_higher_grades.add(name)
    by_id = {"RTopKItems", "ThompsonItems", "UCBItems", "TopRank", "FairExpTopRank", "FairSwapTopRank"}
    networks = {"OlRankNet", "OlLambdaRank", "P2NeurRank", "OlLambdaRankGT"}
    assert without_new_features == by_id | networks | {"OfflineRankNet", "OfflineLambdaRank"}
    assert without_higher_grades == {"ThompsonItems", "UCBItems", "Random"}


@pytest.mark.parametrize("make", [make for name, make in POLICIES.items() if name != "Random"])
def test_learning_beats_random(make: Make) -> None:
    learning_beats_random(make)
