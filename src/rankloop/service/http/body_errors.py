"""Complaints about a body: what was expected, what was found, and what there is to choose from."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

import msgspec
from msgspec import inspect

from rankloop.errors import suggest_name

LONGEST = 60  # characters of a text that is worth repeating
ANY = "..."  # an entry of which msgspec says no name
MISSING: Any = object()  # nothing stands there
KINDS = {"str": str, "bool": bool, "array": list, "object": dict, "int": int, "float": float}


def complaint(error: msgspec.MsgspecError, kind: Any, body: bytes) -> str:
    """What is wrong with a body that should be of a kind, where first.

    >>> try:
    ...     msgspec.json.decode(b'{"price": "9"}', type=dict[str, float])
    ... except msgspec.ValidationError as error:
    ...     complaint(error, dict[str, float], b'{"price": "9"}')
    'price: Expected `float`, got `str`, found "9"'
    """
    what, _, where = str(error).partition(" - at `$")
    if not isinstance(error, msgspec.ValidationError):
        return f"the body must be JSON: {what}"
    got = re.search(r"got `(\w+)`", what)
    steps, value = _walk(_read(body), where.rstrip("`"), got[1] if got else "")
    path = "".join(f"[{step}]" if isinstance(step, int) or step == ANY else f".{step}" for step in steps)
    path = path.lstrip(".")
    said = what + _more(what, value, kind, steps)
    return f"{path}: {said}" if path else said


def _more(what: str, value: Any, kind: Any, steps: Sequence[str | int]) -> str:
    """What the complaint leaves unsaid: the choices, or what was found instead."""
    if named := re.search(r"unknown field `(.*)`", what):
        known = [each.encode_name for info in _infos(kind, steps) for each in getattr(info, "fields", ())]
        return f": {suggest_name(named[1], known)}" if known else ""
    if named := re.search(r"Invalid enum value '(.*)'", what):
        choices = [str(each) for info in _infos(kind, steps) for each in getattr(info, "values", ())]
        return f": {suggest_name(named[1], choices)}" if choices else ""
    worth = what.startswith("Expected") and steps and value is not MISSING
    return f", found {_told(value)}" if worth else ""


def _read(body: bytes) -> Any:
    """A body as it was sent; nothing if its wrong part is all that can be read."""
    try:
        return msgspec.json.decode(body)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return None


def _told(value: Any) -> str:
    """A value as it was sent, or its size if it is long."""
    if isinstance(value, list | dict):
        return f"{len(value)} entries" if value else "an empty one"
    sent = msgspec.json.encode(value).decode()
    if len(sent) <= LONGEST:
        return sent
    return (
        f"a text of {len(value)} characters" if isinstance(value, str) else f"a number of {len(sent)} digits"
    )


def _walk(value: Any, path: str, got: str) -> tuple[list[str | int], Any]:
    """The steps of a path and the value there; of an entry without a name, the first of the wrong type."""
    steps: list[str | int] = []
    for name, index in re.findall(r"\.([^.\[]+)|\[(\d+|\.\.\.)\]", path):
        step: str | int = name or (int(index) if index != ANY else _first(value, got))
        try:
            value = value[step]
        except (KeyError, IndexError, TypeError):
            return [*steps, step], MISSING
        steps.append(step)
    return steps, value


def _first(value: Any, got: str) -> str:
    """The name of the first entry of a type."""
    entries = value.items() if isinstance(value, dict) else ()
    return next((name for name, each in entries if type(each) is KINDS.get(got)), ANY)


def _infos(kind: Any, steps: Sequence[str | int]) -> Iterator[Any]:
    """The types that a value at the end of these steps may have."""
    infos = [_info(kind)]
    for step in steps:
        infos = [after for info in _alternatives(infos) for after in _inside(info, step)]
    return _alternatives(infos)


def _alternatives(infos: Sequence[Any]) -> Iterator[Any]:
    for info in infos:
        yield from info.types if isinstance(info, inspect.UnionType) else (info,)


def _inside(info: Any, step: str | int) -> Iterator[Any]:
    """What an entry of a type may be."""
    if isinstance(info, inspect.StructType):
        yield from (each.type for each in info.fields if each.encode_name == step)
    elif isinstance(info, inspect.ListType) and isinstance(step, int):
        yield info.item_type
    elif isinstance(info, inspect.DictType):
        yield info.value_type


@cache
def _info(kind: Any) -> Any:
    return inspect.type_info(kind)
