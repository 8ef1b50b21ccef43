"""Synthetic worlds by name: `nonlinear:queries=2000,seed=3`, and several: `nonlinear:seed=3..10`."""

from __future__ import annotations

import re
from dataclasses import fields
from typing import Any

from rankloop.errors import SettingError, suggest_name
from rankloop.lab.data.ads import Ads
from rankloop.lab.data.items import Items
from rankloop.lab.data.linear import Linear
from rankloop.lab.data.synthetic_web_search import Independent, Nonlinear
from rankloop.lab.data.synthetic_worlds import Separable
from rankloop.lab.data.world import World

WORLDS: dict[str, type[World]] = {
    "linear": Linear,
    "nonlinear": Nonlinear,
    "independent": Independent,
    "separable": Separable,
    "items": Items,
    "ads": Ads,
}
MANY = 1000  # more worlds than anybody has the time for


def world(description: str) -> World:
    """The world of this name, with these options.

    >>> world("linear:queries=50,noise=0.1").noise
    0.1
    """
    name, _, options = description.partition(":")
    if name not in WORLDS:
        raise SettingError(f"no synthetic world is called {name!r}: {suggest_name(name, WORLDS)}")
    chosen: dict[str, Any] = dict(_option(WORLDS[name], text) for text in options.split(",") if text)
    return WORLDS[name](**chosen)


def each_seed(description: str) -> tuple[str, ...]:
    """The worlds that a range of seeds stands for; any other description stands for itself.

    >>> each_seed("linear:seed=3..5,noise=0.1")
    ('linear:seed=3,noise=0.1', 'linear:seed=4,noise=0.1', 'linear:seed=5,noise=0.1')
    """
    found = re.search(r"(?<=[:,]seed=)(\d+)\.\.(\d+)(?=,|$)", description, re.ASCII)
    if not found:
        return (description,)
    first, last = map(int, found.groups())
    if not first <= last < first + MANY:
        raise SettingError(
            f"option seed: expected a range such as 3..10, of at most {MANY:,} worlds, found {found[0]!r}"
        )
    before, after = description[: found.start()], description[found.end() :]
    return tuple(f"{before}{seed}{after}" for seed in range(first, last + 1))


def _option(kind: type[World], text: str) -> tuple[str, int | float]:
    name, _, value = text.partition("=")
    types = {field.name: int if field.type == "int" else float for field in fields(kind)}
    if name not in types:
        world_name = kind.__name__.lower()
        raise SettingError(f"the {world_name} world has no option {name!r}: {suggest_name(name, types)}")
    try:
        return name, types[name](value)
    except ValueError:
        expected = "a whole number" if types[name] is int else "a number"
        raise SettingError(f"option {name}: expected {name}=<{expected}>, found {text!r}") from None
