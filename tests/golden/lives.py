"""Lives of a ranker: visitors who ask and click, and what is decided meanwhile, from nothing but a number."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from tests.golden.random_requests import Rng, pick
from tests.golden.requests import Act, Asked, Comparing, Made, Promising, Row, Sharing, World
from tests.golden.shop import Shop

TASTE = np.array([0.2, 2.0, -1.0, 0.0, 0.5, -0.5, 0.3])
STEP = 7.0  # seconds between two lists
BATCH = 5  # lists after which events are sent


@dataclass
class Life:
    """A ranker, its visitors, and what is decided when so many lists were shown."""

    world: World
    width: int = 4  # features; more come later
    groups: int = 0
    context: int = 0
    more_features: bool = True
    visitors: int = 30
    then: Mapping[int, Callable[[Shop], object]] = field(default_factory=dict)


@dataclass
class Lived:
    """What came of a life so far."""

    lists: list[Made] = field(default_factory=list)
    shown: list[list[int]] = field(default_factory=list)  # the numbers of results, by list
    verdicts: list[int] = field(default_factory=list)
    acts: list[Act] = field(default_factory=list)
    waiting: list[tuple[float, Act]] = field(default_factory=list)


def a_request(life: Life, rng: Rng, number: int, shown: int) -> Asked:
    """A request of one of some visitors, each with a few products for their words."""
    width = life.width + (life.more_features and shown >= 20) + (life.more_features and shown >= 45)
    words, n = int(rng.integers(4)), int(rng.integers(4, 12))
    ids = rng.permutation(16)[:n].tolist()
    values, missing = rng.random((n, width)).round(3), rng.random((n, width)) < 0.05
    groups = rng.integers(1, life.groups + 1, n).tolist() if life.groups else [0] * n
    visitor = int(rng.integers(life.visitors))
    return Asked(
        number=number,
        rows=tuple(
            Row(
                id=ids[row],
                values={
                    column: None if missing[row, column] else float(values[row, column])
                    for column in range(width)
                },
                pin=n - 1 if row == 0 and rng.random() < 0.1 else 0,
                group=groups[row],
            )
            for row in range(n)
        ),
        k=int(rng.integers(3, 9)),
        words=words,
        session=visitor if visitor % 3 else None,
        client=visitor if visitor % 3 != 1 else None,
        user=visitor,
        context={column: round(float(rng.normal()), 3) for column in range(life.context)},
    )


def acts_on(asked: Asked, made: Made, life: Life, rng: Rng, number: int) -> list[tuple[float, Act]]:
    """What a visitor does with a list, and after how many seconds: clicks, more of it, now and then late."""
    if rng.random() < 0.2:
        return []
    rows = [asked.rows[row] for row in made.order]
    worth = [sum(TASTE[column] * (value or 0.0) for column, value in row.values.items()) for row in rows]
    first = int(np.argmax(worth)) if rng.random() < 0.8 else int(rng.integers(len(rows)))
    found = list[tuple[float, Act]]()
    for place in dict.fromkeys([first, *rng.integers(len(rows), size=int(rng.random() < 0.3)).tolist()]):
        after = float(pick(rng, (1.0, 4.0, 20.0, 50.0, 90.0)))
        actions = [*life.world.actions, *(life.world.grades or {})]
        action = str(pick(rng, actions))
        value = float(rng.integers(1, 6)) if action in (life.world.grades or {}) or action == "buy" else None
        number += 1
        found.append((after, Act(asked.number, rows[place].id, action, value, number)))
    if rng.random() < 0.1:
        found.append(found[0])  # sent twice
    return found


def live(shop: Shop, life: Life, lived: Lived, lists: int, *, seed: int = 0) -> list[Made]:
    """Show so many more lists, and send what was done with them; the lists."""
    rng = np.random.default_rng([77, seed, len(lived.lists)])
    fresh = list[Made]()
    for _ in range(lists):
        shown = len(lived.lists)
        if shown in life.then:
            life.then[shown](shop)
        asked = a_request(life, rng, shown + 1, shown)
        made = shop.rank(asked)
        lived.lists.append(made)
        lived.shown.append([asked.rows[row].id for row in made.order])
        fresh.append(made)
        for after, act in acts_on(asked, made, life, rng, 2 * shown):
            lived.waiting.append((shop.now + after, act))
        shop.now += STEP
        if shown % BATCH == BATCH - 1:
            send(shop, lived)
    return fresh


def send(shop: Shop, lived: Lived, *, everything: bool = False) -> None:
    """Send what was done by now."""
    due = [act for at, act in lived.waiting if everything or at <= shop.now]
    lived.waiting = [(at, act) for at, act in lived.waiting if not everything and at > shop.now]
    lived.verdicts += shop.record(due)
    lived.acts += due
    shop.tick()


def asked_later(life: Life, first: int, *, seed: int) -> list[Asked]:
    """Some requests, under numbers from `first`; the same ones for the same seed."""
    rng = np.random.default_rng([78, seed])
    return [replace(a_request(life, rng, 0, 60), number=first + number) for number in range(8)]


FAIR = Sharing(shares="equal", tolerance=2.0, cap=8.0)
LIVES: Mapping[str, Life] = {
    "pair": Life(World("pair")),
    "pair, running scale": Life(World("pair", scaling="running")),
    "pair, windows that close with a list": Life(World("pair", window=9 * STEP)),
    "pair, fair": Life(World("pair", sharing=FAIR), groups=3),
    "pair, fair shares, displaced": Life(
        World("pair", sharing=Sharing({1: 0.6, 2: 0.2}, {2: 0.1}, 1.5, 4.0, (0.9, 0.5, 0.3)), displacement=2),
        groups=3,
    ),
    "pair, promise": Life(World("pair", promise=Promising(allowed=8.0))),
    "pair, promise of draws, fair": Life(World("draw", promise=Promising(), sharing=FAIR), groups=2),
    "pair, holdout": Life(World("pair"), then={10: lambda shop: shop.begin_trial(Comparing(share=0.4))}),
    "draw, interleaved with a list": Life(
        World("draw trusting"),
        then={15: lambda shop: shop.begin_trial(Comparing(mixed=True, learner="list"))},
    ),
    "pair, holdout of another ranker": Life(
        World("pair", promise=Promising(allowed=30.0)),
        then={
            5: lambda shop: shop.create(World("draw"), "other"),
            12: lambda shop: shop.begin_trial(Comparing(share=0.5, ranker="other")),
        },
    ),
    "pair, modes": Life(
        World("pair", "shadow"),
        then={
            15: lambda shop: shop.set_mode("learning"),
            35: lambda shop: shop.set_mode("frozen"),
            45: lambda shop: shop.set_mode("best"),
            55: lambda shop: shop.set_mode("caller"),
            57: lambda shop: shop.set_mode("learning"),
        },
    ),
    "pair, another window and more to click": Life(
        World("pair plain"),
        then={
            30: lambda shop: shop.decide(World("pair plain", window=20.0, actions={"click": 0.5, "buy": 1.0}))
        },
    ),
    "draw, late clicks": Life(World("draw", learn_late=True, actions={"click": 0.6, "buy": 0.6})),
    "list, graded": Life(
        World("list", grades={"star": 1.0}, top_grade=5.0, unrated_is_zero=False, scaling="running")
    ),
    "slam, graded": Life(World("slam", grades={"star": 1.0, "buy": 2.0}, top_grade=4.0)),
    "items, graded": Life(World("items thompson", grades={"star": 1.0}, top_grade=5.0), more_features=False),
    "items": Life(World("items top")),
    "net": Life(World("net"), more_features=False),
    "net, perturbed": Life(World("net perturbed"), more_features=False),
    "race": Life(World("race")),
    "duel": Life(World("duel")),
    "null space": Life(World("null space")),
    "ads, bound": Life(World("ad bound"), context=2),
    "ads, inverse gap": Life(World("ad inverse gap", scaling="running"), context=2),
}
