"""A policy as a name and settings in JSON, and back: how a log remembers what ranked."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, is_dataclass
from typing import Any, TypeAlias

from rankloop import interleaving, policies, scorers
from rankloop.policies import Policy
from rankloop.types import SettingError, suggestion

Spec: TypeAlias = Mapping[str, Any]
Catalogue: TypeAlias = Mapping[str, type[Policy]]

PARTS: Mapping[
    str, Callable[..., object]
] = {  # settings that are objects themselves, by a name like team-draft
    re.sub("([a-z])([A-Z])", r"\1-\2", name).lower(): kind
    for layer in (interleaving, policies, scorers)
    for name, kind in vars(layer).items()
    if isinstance(kind, type) and is_dataclass(kind) and not issubclass(kind, Policy)
}


def catalogue(own: Iterable[type[Policy]] = ()) -> Catalogue:
    """The policies that have a name: those of rankloop, and your own.

    >>> "pairrank" in catalogue()
    True
    """
    shipped = (kind for kind in vars(policies).values() if isinstance(kind, type))
    named = (kind for kind in shipped if issubclass(kind, Policy) and kind.name)
    known = [kind for kind in named if kind.learns_from == "clicks"]  # which is what users of a service give
    return {kind.name: kind for kind in [*known, *own]}


def describe(policy: Policy) -> dict[str, Any]:
    """What makes the policy again, without what it learned: its name and every setting, defaults included.

    >>> describe(policies.EpsilonGreedy(epsilon=0.2))["settings"]
    {'scorer': {'part': 'linear'}, 'learning_rate': 0.001, 'epsilon': 0.2}
    """
    if not policy.name:
        raise SettingError(
            f"{type(policy).__name__} has no name: give the class a `name`, so that it is found again"
        )
    settings = {each.name: getattr(policy, each.name) for each in fields(policy) if each.init}
    return {"name": policy.name, "settings": {name: _plain(name, value) for name, value in settings.items()}}


def build(spec: Spec, known: Catalogue) -> Policy:
    """The policy that a description describes.

    >>> certainty = {"part": "sure", "level": 0.8}
    >>> build({"name": "pairrank", "settings": {"certainty": certainty}}, catalogue()).certainty
    Sure(level=0.8)
    """
    name, settings = spec.get("name"), spec.get("settings", {})
    if not isinstance(name, str) or not isinstance(settings, Mapping):
        raise SettingError(f'a policy is {{"name": ..., "settings": {{...}}}}, found {spec!r}')
    if name not in known:
        raise SettingError(f"no policy is called {name!r}: {suggestion(name, known)}")
    kind = known[name]
    names = [each.name for each in fields(kind) if each.init]
    for setting in settings:
        if setting not in names:
            raise SettingError(f"{name} has no setting {setting!r}: {suggestion(str(setting), names)}")
    try:
        return kind(**{setting: _value(value) for setting, value in settings.items()})
    except TypeError as error:
        raise SettingError(f"policy {name!r}: {error}") from error


def _plain(name: str, value: object) -> object:
    """A setting as JSON."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, tuple):
        return [_plain(name, each) for each in value]
    for part, kind in PARTS.items():
        if type(value) is kind and is_dataclass(value):
            return {"part": part} | {
                each.name: _plain(name, getattr(value, each.name)) for each in fields(value)
            }
    raise SettingError(
        f"setting {name!r} cannot be stored: expected a number, a text or one of {', '.join(PARTS)}"
    )


def _value(value: object) -> object:
    if isinstance(value, list):
        return tuple(_value(each) for each in value)
    if not isinstance(value, Mapping):
        return value
    options = {name: _value(each) for name, each in value.items()}
    part = str(options.pop("part", ""))
    if part not in PARTS:
        raise SettingError(f"no part is called {part!r}: {suggestion(part, PARTS)}")
    return PARTS[part](**options)
