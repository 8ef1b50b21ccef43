"""The service makes the lists it made, learns what it learned, and goes on as it did after a restart."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest

from tests.golden.lives import LIVES, Life, Lived, asked_later, live, send
from tests.golden.random_requests import GROUPS, SIZE, cases_of
from tests.golden.records import check, check_ids, digest
from tests.golden.requests import Made, Promising, World, make_list
from tests.golden.shop import Shop

LISTS = [f"{kind} {group:02}" for kind, groups in GROUPS.items() for group in range(groups)]
assert SIZE * len(LISTS) == 1500


@pytest.mark.parametrize("group", LISTS)
def test_lists_of_random_requests(group: str) -> None:
    """Compare every part of 25 lists; a failure names the part and the first list that differs.

    How many pairs were explored is compared where nothing changes what the policy drew.
    """
    kind, number = group.rsplit(" ", 1)
    cases = cases_of(kind, int(number))
    made = [make_list(each.world, each.asked, each.given) for each in cases]
    parts = [each.name for each in fields(Made) if each.name != "explored" or cases[0].as_drawn]
    check(group, **{name: [getattr(each, name) for each in made] for name in parts})


@pytest.mark.parametrize("name", LIVES)
def test_a_life(name: str, tmp_path: Path) -> None:
    """Sixty lists and what was learned of them, eight more, a restart, and the same eight again."""
    life, lived = LIVES[name], Lived()
    with Shop(tmp_path / "log.db") as shop:
        shop.create(life.world)
        made = live(shop, life, lived, 60)
        send(shop, lived, everything=True)
        shop.flush()
        check(f"life, {name}", lists=[numbers(each) for each in made], verdicts=lived.verdicts)
        known = {"learned": shop.learned(), "budget": shop.budget(), "accounts": shop.accounts()}
        check(f"life, {name}, known", **known)
        check(
            f"life, {name}, later", lists=[numbers(shop.rank(each)) for each in asked_later(life, 61, seed=1)]
        )
        shop.restart()
        assert digest(shop.learned()) == digest(known["learned"])
        again = [numbers(shop.rank(each)) for each in asked_later(life, 71, seed=1)]
        check(f"life, {name}, restarted", lists=again)
        assert all(map(shop.is_replayed, [1, 30, 60, 61, 71]))


LONG: Mapping[str, Life] = {
    "pair": Life(World("pair", promise=Promising())),
    "pair, running scale": Life(World("pair paper", scaling="running")),
    "draw": Life(World("draw", learn_late=True)),
    "list, graded": Life(World("list", grades={"star": 1.0}, top_grade=5.0)),
    "race": Life(World("race")),
    "ads": Life(World("ad thompson"), context=2),
}


@pytest.mark.parametrize("name", LONG)
def test_a_long_log(name: str, tmp_path: Path) -> None:
    """What 300 lists taught, and what is left of it by each way to change the past."""
    life, lived = LONG[name], Lived()
    with Shop(tmp_path / "log.db") as shop:
        shop.create(life.world)
        live(shop, life, lived, 150)
        half = shop.version()
        live(shop, life, lived, 150)
        send(shop, lived, everything=True)
        shop.flush()
        check(f"log, {name}", learned=shop.learned(), budget=shop.budget())
        live(shop, life, lived, 20)
        shop.roll_back(half)
        check(f"log, {name}, rolled back", learned=shop.learned())
        live(shop, life, lived, 20)
        shop.forget(lived.acts[20:120:7])
        check(f"log, {name}, without some events", learned=shop.learned(), budget=shop.budget())
        shop.decide(replace(life.world, scaling="query", window=30.0), relearn=True)
        check(f"log, {name}, by other rules", learned=shop.learned(), budget=shop.budget())
        if not life.context:
            shop.retire([1, 5])
            check(f"log, {name}, without two features", learned=shop.learned())
        live(shop, replace(life, more_features=False), lived, 20)
        send(shop, lived, everything=True)
        shop.flush()
        shop.restart()
        check(f"log, {name}, gone on and restarted", learned=shop.learned(), budget=shop.budget())


def numbers(made: Made) -> list[Any]:
    """All of a list but the pairs that were explored."""
    return [getattr(made, each.name) for each in fields(made) if each.name != "explored"]


def test_every_record_is_compared() -> None:
    lives = [f"life, {name}{end}" for name in LIVES for end in ("", ", known", ", later", ", restarted")]
    ends = ("", ", without some events", ", by other rules", ", rolled back", ", gone on and restarted")
    logs = [f"log, {name}{end}" for name in LONG for end in ends]
    retired = [f"log, {name}, without two features" for name, life in LONG.items() if not life.context]
    check_ids([*LISTS, *lives, *logs, *retired])
