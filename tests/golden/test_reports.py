"""Reports of the service say in numbers what they said."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.golden.lives import LIVES, Life, Lived, live, send
from tests.golden.requests import Comparing, Promising, Sharing, World
from tests.golden.shop import RECOMMENDERS, Shop, forecast
from tests.golden.values import check_value_ids, check_values, plain

EXPLAINED = (
    "pair",
    "pair, running scale",
    "pair, fair",
    "pair, promise",
    "draw, interleaved with a list",
    "pair, holdout",
    "net",
    "net, perturbed",
    "race",
    "list, graded",
    "slam, graded",
    "items",
    "duel",
    "ads, bound",
)
EXPLAINED_LISTS, SETTLED_LISTS = (12, 30, 44, 50), (30, 50)
WEIGHED = ("pair", "pair, running scale", "draw, late clicks", "list, graded", "race", "null space", "net")
QUERIED = ("pair", "draw, late clicks", "race")
DEVIATIONS = (0.05, 0.4, 1.5, 6.0)
ALLOWED = (1.0, 12.0)  # clicks
RECOMMENDED_LISTS = (1, 3, 8, 12)
ASKING = ("tree", "likes")  # recommenders that hold interviews
BUYING: dict[str, float] = {"click": 1.0, "buy": 1.0}


def lived_in(shop: Shop, life: Life, lists: int) -> Lived:
    """Create a ranker, live, and learn everything."""
    lived = Lived()
    shop.create(life.world)
    live(shop, life, lived, lists)
    send(shop, lived, everything=True)
    shop.flush()
    return lived


@pytest.mark.parametrize("name", EXPLAINED)
def test_why_one_result_stands_above_another(name: str, tmp_path: Path) -> None:
    life = LIVES[name]
    with Shop(tmp_path / "log.db") as shop:
        lived = lived_in(shop, life, 50)
        for number in EXPLAINED_LISTS:
            ids = lived.shown[number - 1]
            for upper in range(2):  # every list has three results
                pair = ids[upper], ids[upper + 1]
                check_values(f"explained, {name}, {number}, {upper}", shop.explain(number, *pair))
        for number in SETTLED_LISTS:
            check_values(f"settled, {name}, {number}", shop.settled(number))


@pytest.mark.parametrize("name", WEIGHED)
def test_what_features_are_worth(name: str, tmp_path: Path) -> None:
    life = LIVES[name]
    with Shop(tmp_path / "log.db") as shop:
        lived = lived_in(shop, life, 25)
        before = shop.version()
        live(shop, life, lived, 25)
        shop.flush()
        check_values(f"weights, {name}", shop.weights())
        check_values(f"weights since, {name}", shop.weights_since(before))


@pytest.mark.parametrize("name", QUERIED)
def test_what_is_known_of_a_query(name: str, tmp_path: Path) -> None:
    with Shop(tmp_path / "log.db") as shop:
        lived_in(shop, LIVES[name], 50)
        for words in (0, 3):
            check_values(f"query, {name}, {words}", shop.query(words))


def test_how_many_clicks_settle_a_pair() -> None:
    gaps = np.linspace(-2.0, 2.0, 9).tolist()
    for deviation in DEVIATIONS:
        check_values(f"forecast, {deviation}", {"clicks": [forecast(gap, deviation) for gap in gaps]})


@pytest.mark.parametrize("allowed", ALLOWED)
def test_how_a_promise_stands(allowed: float, tmp_path: Path) -> None:
    life = Life(World("pair", promise=Promising(share=0.85, confidence=0.8, allowed=allowed)), visitors=60)
    with Shop(tmp_path / "log.db") as shop:
        shop.create(life.world)
        lived = Lived()
        for part in range(3):
            live(shop, life, lived, 45)
            check_values(f"promise, {allowed}, {part}", shop.promise())


TRIALS: Mapping[str, Comparing] = {
    "holdout": Comparing(share=0.4),
    "holdout of a learner": Comparing(share=0.5, learner="list", seconds=30.0),
    "holdout of another ranker": Comparing(ranker="other"),
    "holdout by value": Comparing(share=0.5, worth="buy", most=6.0),
    "interleaved": Comparing(mixed=True),
    "interleaved with a learner": Comparing(mixed=True, learner="minimax"),
    "interleaved by value": Comparing(mixed=True, worth="buy", most=6.0),
}


@pytest.mark.parametrize("name", TRIALS)
def test_what_a_trial_has_shown(name: str, tmp_path: Path) -> None:
    comparing = TRIALS[name]
    life = Life(World("pair", actions=BUYING if comparing.worth else {"click": 1.0}), visitors=70)
    with Shop(tmp_path / "log.db") as shop:
        lived = lived_in(shop, life, 20)
        if comparing.ranker:
            shop.create(World("draw"), comparing.ranker)
        trial = shop.begin_trial(comparing)
        live(shop, life, lived, 120)
        shop.now += 1400.0
        shop.tick()
        check_values(f"trial, {name}, running", shop.trial(trial))
        shop.now += 4000.0
        shop.stop_trial(trial)
        check_values(f"trial, {name}, stopped", shop.trial(trial))


SHARED: Mapping[str, Sharing] = {
    "equal": Sharing("equal", tolerance=2.0, cap=6.0),
    "floors": Sharing("candidates", {2: 0.5}, 3.0, 50.0),
    "shares": Sharing({1: 0.7, 2: 0.1}, tolerance=1.5, cap=3.0, examination=(1.0, 0.4, 0.2)),
}


@pytest.mark.parametrize("name", SHARED)
def test_what_groups_got(name: str, tmp_path: Path) -> None:
    life = Life(World("pair", sharing=SHARED[name]), groups=3)
    with Shop(tmp_path / "log.db") as shop:
        lived_in(shop, life, 80)
        check_values(f"exposure, {name}", shop.exposure())


def test_what_another_policy_would_have_got(tmp_path: Path) -> None:
    life = Life(World("draw"), visitors=10**6)
    with Shop(tmp_path / "log.db") as shop:
        shop.create(World("pair plain"), "other")
        lived_in(shop, life, 300)
        shop.now += 100.0
        check_values("evaluated, 1", shop.evaluate("draw", depth=1, learning=True))
        check_values("evaluated, 2", shop.evaluate("draw", depth=2, learning=True))
        check_values("evaluated, 3", shop.evaluate("coin", depth=2, learning=True))
        check_values("evaluated, 4", shop.evaluate(ranker="other", depth=1, learning=True))
        check_values("evaluated, 5", shop.evaluate(ranker="other", depth=1, learning=False))


@pytest.mark.parametrize("kind", RECOMMENDERS)
def test_what_is_recommended_and_why(kind: str, tmp_path: Path) -> None:
    with Shop(tmp_path / "log.db", {"feed": kind}) as shop:
        asks = kind in ASKING
        answers: dict[str, str] = {}
        if asks:
            answers, steps = shop.interview("feed", ("fit", "sound", "alpa", "battery"))
            check_values(f"interview, {kind}", {"steps": steps})
        for number in range(1, max(RECOMMENDED_LISTS) + 1):
            who: dict[str, Any] = {"user": number if number % 3 else None, "items": (), "answers": {}}
            if number % 3 == 0:
                who["items"] = (number, number + 20)
            if number % 4 == 0 and asks:
                who["answers"] = answers
            found = shop.recommend(number, "feed", **who)
            shop.click_recommended(number, number, 1 + number % 4)
            if number in RECOMMENDED_LISTS:
                check_values(f"recommended, {kind}, {number}", found)
            shop.flush("feed")


def test_every_record_is_compared() -> None:
    """A line that left a table guards nothing."""
    check_value_ids(
        [
            *(f"explained, {a}, {b}, {c}" for a in EXPLAINED for b in EXPLAINED_LISTS for c in range(2)),
            *(f"settled, {name}, {number}" for name in EXPLAINED for number in SETTLED_LISTS),
            *(f"weights{since}, {name}" for name in WEIGHED for since in ("", " since")),
            *(f"query, {name}, {words}" for name in QUERIED for words in (0, 3)),
            *(f"forecast, {deviation}" for deviation in DEVIATIONS),
            *(f"promise, {allowed}, {part}" for allowed in ALLOWED for part in range(3)),
            *(f"trial, {name}, {when}" for name in TRIALS for when in ("running", "stopped")),
            *(f"exposure, {name}" for name in SHARED),
            *(f"evaluated, {number}" for number in range(1, 6)),
            *(f"interview, {kind}" for kind in ASKING),
            *(f"recommended, {kind}, {number}" for kind in RECOMMENDERS for number in RECOMMENDED_LISTS),
        ]
    )


def test_values_are_numbers() -> None:
    for text in ("red", ["red"], {"a": 1}):
        with pytest.raises(TypeError, match="numbers"):
            plain(text)
