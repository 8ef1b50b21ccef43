"""Settings: a record that is checked where it is born, whatever it is made from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from math import isfinite
from typing import Any, TypeVar, get_type_hints

import msgspec
from msgspec import Meta, Struct, structs

from rankloop.errors import RequestError, SettingError
from rankloop.service.core.data_errors import explain_error
from rankloop.short_text import check_text

S = TypeVar("S", bound="Settings")


class Settings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Base of all settings: by constructor, by `structs.replace` and from JSON they meet the same checks.

    A field says in its annotation what it may be, what it is called and what it does:
    `window: Annotated[float, Meta(ge=0), describe("Click window", "How long ...")] = 600.0`.

    >>> class WalkSettings(Settings, frozen=True, kw_only=True):
    ...     step: float = 0.5
    >>> WalkSettings(step=1).step
    1.0
    >>> WalkSettings(step="far")
    Traceback (most recent call last):
    ...
    rankloop.errors.SettingError: step: Expected a number, found "far"
    """

    def __post_init__(self) -> None:
        """Refuse values that a field does not take, and contradictions."""
        for name, hint in _field_types(type(self)):
            value = getattr(self, name)
            checked = _convert(name, value, hint)
            if checked is not value:  # 60 -> 60.0, {"tolerance": 2} -> FairSettings
                structs.force_setattr(self, name, checked)
        self.check()

    def check(self) -> None:
        """Refuse values that contradict each other, by `SettingError`s that begin with a field's name."""

    def to_json(self) -> dict[str, Any]:
        """As JSON, with every default."""
        found: dict[str, Any] = msgspec.to_builtins(self)
        return found


def read_settings(kind: type[S], data: object) -> S:
    """Read settings from decoded JSON; what is missing has its default.

    >>> class WalkSettings(Settings, frozen=True, kw_only=True):
    ...     step: float = 0.5
    >>> read_settings(WalkSettings, {"stp": 0.9})
    Traceback (most recent call last):
    ...
    rankloop.errors.SettingError: Expected a setting of walk, found 'stp': did you mean 'step'? Settings: step
    """
    try:
        return msgspec.convert(data, kind)
    except msgspec.ValidationError as error:
        raise SettingError(_explain(error, kind, data)) from error


def describe(
    title: str, description: str, *, unit: str = "", group: str = "", values: Mapping[str, str] | None = None
) -> Meta:
    """Say what a setting is called and does, its unit, its group on a page, and what some values mean."""
    return Meta(
        title=title, description=description, extra={"unit": unit, "group": group, "values": values or {}}
    )


def check_names(field: str, names: Iterable[str], noun: str = "an action") -> None:
    """Refuse names in a field that no store can keep."""
    for name in names:
        try:
            check_text(noun, name)
        except RequestError as error:
            raise SettingError(f"{field}: {error}") from error


def _convert(name: str, value: Any, hint: Any) -> Any:
    """The value as its field keeps it."""
    plain = float(value) if isinstance(value, float) else value  # also one of NumPy
    try:
        found = msgspec.convert(plain, hint)
    except msgspec.ValidationError as error:
        raise SettingError(_explain(error, hint, plain, at=name)) from error
    if endless := _find_endless(found):
        raise SettingError(f"{name}{endless[0]}: Expected a finite number, found {endless[1]}")
    return found


def _explain(error: msgspec.ValidationError, kind: Any, data: object, at: str = "") -> str:
    owner = "" if at else kind.__name__.removesuffix("Settings").lower()
    said = explain_error(error, kind, data, at=at, noun="setting", owner=owner)
    out_of_bounds = str(error).startswith("Expected") and "got `" not in str(error)
    return f"{said}: choose a value within the bounds" if out_of_bounds else said


def _find_endless(value: Any) -> tuple[str, float] | None:
    """Find a number in a value that is infinite, with the path to it."""
    if isinstance(value, float):
        return None if isfinite(value) else ("", value)
    entries = (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, tuple) else ()
    )
    for key, each in entries:
        if found := _find_endless(each):
            return f"[{key}]{found[0]}" if isinstance(key, int) else f".{key}{found[0]}", found[1]
    return None


@cache
def _field_types(kind: type[Settings]) -> tuple[tuple[str, Any], ...]:
    hints = get_type_hints(kind, include_extras=True)
    return tuple((name, hints[name]) for name in kind.__struct_fields__)
