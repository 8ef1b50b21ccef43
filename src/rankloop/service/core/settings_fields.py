"""Fields of settings as forms, `--help` and the reference show them: what each is called, does and may be."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import msgspec
from msgspec import inspect, structs

from rankloop.service.core.data_errors import describe_types, list_choices, unwrap_types
from rankloop.service.core.settings_record import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingField:
    """A setting as people see it."""

    name: str  # with dots, as in client_limit.lists
    title: str
    description: str  # what it does
    expected: str  # which values it takes, in words
    default: Any  # as JSON
    choices: tuple[str, ...] = ()  # the words that it takes
    values: Mapping[str, str] = field(default_factory=dict)  # what some values mean
    unit: str = ""
    group: str = ""  # what it stands with on a page
    takes_null: bool = False
    is_number: bool = False
    is_map: bool = False  # or a list
    is_record: bool = False  # its own fields follow it

    @property
    def effect(self) -> str:
        """What it does, and what some of its values mean, as one line of help."""
        meanings = "; ".join(f"{value}: {meaning}" for value, meaning in self.values.items())
        return f"{self.description} {meanings}.".strip() if meanings else self.description


@cache
def fields_of(kind: type[Settings], prefix: str = "") -> tuple[SettingField, ...]:
    """List the fields of settings, each record followed by its own fields.

    >>> class WalkSettings(Settings, frozen=True, kw_only=True):
    ...     step: float = 0.5
    >>> [step] = fields_of(WalkSettings)
    >>> step.name, step.expected, step.default
    ('step', 'a number', 0.5)
    """
    return tuple(_list_fields(kind, prefix))


def _list_fields(kind: type[Settings], prefix: str) -> Iterator[SettingField]:
    kinds = {each.encode_name: each.type for each in inspect.type_info(kind).fields}  # type: ignore[attr-defined]
    for each in structs.fields(kind):
        words = _find_words(kinds[each.name])
        types = list(unwrap_types([kinds[each.name]]))
        records = [info.cls for info in types if isinstance(info, inspect.StructType)]
        yield SettingField(
            name=f"{prefix}{each.name}",
            title=words.pop("title", ""),
            description=words.pop("description", ""),
            expected=describe_types(types),
            default=_find_default(each),
            choices=_order(list_choices(types), words.get("values", {})),
            takes_null=any(isinstance(info, inspect.NoneType) for info in types),
            is_number=any(isinstance(info, inspect.IntType | inspect.FloatType) for info in types),
            is_map=any(isinstance(info, inspect.DictType | inspect.VarTupleType) for info in types),
            is_record=bool(records),
            **words,
        )
        for record in records:
            yield from fields_of(record, f"{prefix}{each.name}.")


def _find_words(info: Any) -> dict[str, Any]:
    """Collect what is said about a type, from the outside in."""
    found: dict[str, Any] = {}
    while isinstance(info, inspect.Metadata):
        found = {**(info.extra_json_schema or {}), **(info.extra or {}), **found}
        info = info.type
    return found


def _order(choices: tuple[str, ...], values: Mapping[str, str]) -> tuple[str, ...]:
    """Put choices in the order in which their meanings are said."""
    places = list(values)
    return tuple(sorted(choices, key=lambda each: places.index(each) if each in places else len(places)))


def _find_default(field: structs.FieldInfo) -> Any:
    value = field.default if field.default_factory is msgspec.NODEFAULT else field.default_factory()
    return None if value is msgspec.NODEFAULT else msgspec.to_builtins(value)
