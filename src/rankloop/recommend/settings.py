"""Settings of a recommender by name: each known, and of the type that its default has."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import Field, fields
from typing import Any

from rankloop.errors import SettingError, suggest_name
from rankloop.recommend.recommender import Recommender

KINDS: Mapping[type, str] = {
    bool: "True or False",
    int: "a whole number",
    float: "a number",
    str: "a word",
    tuple: "numbers in parentheses",
}


def check_settings(kind: type[Recommender], given: Mapping[str, object]) -> None:
    """Refuse settings that a kind of recommender does not have, and values of another type.

    >>> from rankloop.recommend import IALS
    >>> check_settings(IALS, {"d": 8.5})
    Traceback (most recent call last):
    rankloop.errors.SettingError: ials: d must be a whole number, found 8.5
    """
    known = {each.name: each for each in fields(kind) if each.init}
    for name, value in given.items():
        if name not in known:
            raise SettingError(f"{kind.name} has no setting {name!r}: {suggest_name(name, sorted(known))}")
        _check_type(kind, known[name], value)


def _check_type(kind: type[Recommender], setting: Field[Any], value: object) -> None:
    expected = type(setting.default)
    allowed: tuple[type, ...] = {float: (int, float), tuple: (tuple, list)}.get(expected, (expected,))
    if not isinstance(value, allowed) or (isinstance(value, bool) and expected is not bool):
        raise SettingError(f"{kind.name}: {setting.name} must be {KINDS[expected]}, found {value!r}")
