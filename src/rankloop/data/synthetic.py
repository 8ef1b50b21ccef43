"""Synthetic worlds by name: `nonlinear:queries=2000,seed=3`."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from rankloop.data.linear import Linear
from rankloop.data.nonlinear import Independent, Nonlinear
from rankloop.data.separable import Separable
from rankloop.data.world import World
from rankloop.types import SettingError, suggestion

WORLDS: dict[str, type[World]] = {
    "linear": Linear,
    "nonlinear": Nonlinear,
    "independent": Independent,
    "separable": Separable,
}


def world(description: str) -> World:
    """The world of this name, with these options.

    >>> world("linear:queries=50,noise=0.1").noise
    0.1
    """
    name, _, options = description.partition(":")
    if name not in WORLDS:
        raise SettingError(f"no synthetic world is called {name!r}: {suggestion(name, WORLDS)}")
    chosen: dict[str, Any] = dict(_option(WORLDS[name], text) for text in options.split(",") if text)
    return WORLDS[name](**chosen)


def _option(kind: type[World], text: str) -> tuple[str, int | float]:
    name, _, value = text.partition("=")
    types = {field.name: int if field.type == "int" else float for field in fields(kind)}
    if name not in types:
        world_name = kind.__name__.lower()
        raise SettingError(f"the {world_name} world has no option {name!r}: {suggestion(name, types)}")
    try:
        return name, types[name](value)
    except ValueError:
        expected = "a whole number" if types[name] is int else "a number"
        raise SettingError(f"option {name}: expected {name}=<{expected}>, found {text!r}") from None
