"""A policy as a name and settings in JSON, and back: how a log remembers what ranked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, TypeAlias

from rankloop.errors import SettingError, suggest_name
from rankloop.policies import Policy
from rankloop.spelling.catalogue import Catalogue
from rankloop.spelling.paper import MARK, find_paper
from rankloop.spelling.parts import BY_CLASS, PARTS, find_part, name_of_part
from rankloop.spelling.text import parse

Spec: TypeAlias = Mapping[str, Any]


def describe(policy: Policy) -> dict[str, Any]:
    """What makes the policy again, without what it learned: its name and every setting, defaults included.

    >>> from rankloop.policies import EpsilonGreedy
    >>> list(describe(EpsilonGreedy(epsilon=0.2))["settings"].values())
    [{'part': 'linear'}, None, True, 0.001, 'adjacent', 0.2]
    """
    if not policy.name:
        raise SettingError(
            f"{type(policy).__name__} has no name: give the class a `name`, so that it is found again"
        )
    settings = {each.name: getattr(policy, each.name) for each in fields(policy) if each.init}
    return {"name": policy.name, "settings": {name: _plain(name, value) for name, value in settings.items()}}


def build(spec: Spec, known: Catalogue) -> Policy:
    """The policy that a description describes.

    >>> from rankloop.spelling import catalogue
    >>> certainty = {"part": "sure", "level": 0.8}
    >>> build({"name": "pairrank", "settings": {"certainty": certainty}}, catalogue()).certainty
    Sure(level=0.8)
    >>> build({"name": "ranknet@paper", "settings": {"learning_rate": 0.1}}, catalogue()).pairing
    'adjacent'
    """
    name, settings = spec.get("name"), spec.get("settings", {})
    if not isinstance(name, str) or not isinstance(settings, Mapping):
        raise SettingError(f'a policy is {{"name": ..., "settings": {{...}}}}, found {spec!r}')
    if MARK in name:  # the paper's settings, under those that are given
        paper = parse(find_paper(name).policy, known)
        settings = {**describe(paper)["settings"], **settings}
        name = paper.name
    if name not in known:
        raise SettingError(f"no policy is called {name!r}: {suggest_name(name, known)}")
    kind = known[name]
    names = [each.name for each in fields(kind) if each.init]
    for setting in settings:
        if setting not in names:
            raise SettingError(f"{name} has no setting {setting!r}: {suggest_name(str(setting), names)}")
    try:
        return kind(**{setting: _value(setting, value) for setting, value in settings.items()})
    except TypeError as error:
        raise SettingError(f"policy {name!r}: {error}") from error


def _plain(setting: str, value: object) -> object:
    """A setting as JSON."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, tuple):
        return [_plain(setting, each) for each in value]
    if part := name_of_part(setting, value):
        inside = {each.name: _plain(setting, getattr(value, each.name)) for each in fields(value)}  # type: ignore[arg-type]
        return {"part": part} | inside
    parts = ", ".join(PARTS.get(setting, BY_CLASS))
    raise SettingError(f"setting {setting!r} cannot be stored: expected a number, a text or one of {parts}")


def _value(setting: str, value: object) -> object:
    if isinstance(value, list):
        return tuple(_value(setting, each) for each in value)
    if not isinstance(value, Mapping):
        return value
    options = {name: _value(setting, each) for name, each in value.items()}
    part = str(options.pop("part", ""))
    return find_part(setting, part)(**options)
