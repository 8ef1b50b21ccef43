"""Errors in data: what its types expect, what was found instead, and where."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from math import isfinite
from typing import Any, TypeAlias

import msgspec
from msgspec import inspect

LONGEST = 60  # characters of a value that is worth repeating
ANY = "..."  # an entry of which msgspec gives no name
UNREADABLE: Any = object()  # data, or a place in it, that cannot be read
KINDS = {"str": str, "bool": bool, "array": list, "object": dict, "int": int, "float": float}
PLAIN: Mapping[type[inspect.Type], str] = {
    inspect.BoolType: "true or false",
    inspect.NoneType: "null",
    inspect.AnyType: "any value",
    inspect.StrType: "a text",
    inspect.ListType: "a list",
    inspect.VarTupleType: "a list",
    inspect.TupleType: "a list",
    inspect.SetType: "a list",
}
Step: TypeAlias = str | int


def explain_error(
    error: msgspec.ValidationError,
    kind: Any,
    data: Any,
    *,
    at: str = "",
    noun: str = "field",
    owner: str = "the body",
) -> str:
    """Say where data is not of a kind, what was expected there and what was found.

    The data may stand `at` a path in something larger. Its fields are called by a `noun`, and the data
    itself, where no path names it, by its `owner`.

    >>> try:
    ...     msgspec.convert({"price": "9"}, dict[str, float])
    ... except msgspec.ValidationError as error:
    ...     explain_error(error, dict[str, float], {"price": "9"})
    'price: Expected a number, found "9"'
    """
    what, _, where = str(error).partition(" - at `")
    root = [_read_type(kind)]
    steps, value = _walk(data, where.rstrip("`"), root, _find_wrong_kind(what))
    path, types = _write_path([at, *steps] if at else steps), list(_find_types(root, steps))
    if error.__cause__ is not None:  # a check of a record's own
        return join_path(path, str(error.__cause__))
    if unknown := re.search(r"unknown field `(.*)`", what):
        known = [each.encode_name for info in types for each in getattr(info, "fields", ())]
        found = (
            f"Expected a {noun} of {path or owner}, found '{unknown[1]}'{suggest(unknown[1], known) or '.'}"
        )
        return f"{found} {noun.capitalize()}s: {', '.join(known)}"
    if missing := re.search(r"missing required field `(.*)`", what):
        return join_path(path, f"Expected the {noun} '{missing[1]}', found none")
    if value is UNREADABLE or not types or where.startswith("key"):
        return join_path(path, what)
    near = suggest(value, list_choices(types)) if isinstance(value, str) else ""
    return join_path(path, f"Expected {describe_types(types, value)}, found {show_value(value)}{near}")


def describe_type(kind: Any) -> str:
    """Say in words which values a type takes.

    >>> from typing import Annotated, Literal
    >>> from msgspec import Meta
    >>> describe_type(Annotated[float, Meta(gt=0, le=1e6)]), describe_type(int | None)
    ('a number above 0 and up to 1,000,000', 'a whole number or null')
    >>> describe_type(Literal["query", "running"]), describe_type(Annotated[str, Meta(max_length=200)])
    ('one of query, running', 'a text of up to 200 characters')
    """
    return describe_types(list(unwrap_types([_read_type(kind)])))


def describe_types(types: Sequence[inspect.Type], found: Any = None) -> str:
    """Say in words which values one of some types takes; if an infinite one was found, that it is finite."""
    finite = not (isinstance(found, float) and not isfinite(found))
    words = list(dict.fromkeys(_describe(each) for each in types))
    said = (", or " if any(" or " in each or "," in each for each in words) else " or ").join(words)
    return said if finite else said.replace("a number", "a finite number")


def list_choices(types: Iterable[inspect.Type]) -> tuple[str, ...]:
    """List the words that one of some types takes."""
    return tuple(str(word) for each in types for word in _list_words(each))


def unwrap_types(types: Iterable[Any]) -> Iterator[Any]:
    """List the alternatives of types, without what is only said about them."""
    for info in types:
        if isinstance(info, inspect.Metadata):
            yield from unwrap_types([info.type])
        elif isinstance(info, inspect.UnionType):
            yield from unwrap_types(info.types)
        else:
            yield info


def show_value(value: Any) -> str:
    """Show a value as JSON, or its size if it is long."""
    if isinstance(value, list | tuple | Mapping):
        return f"{len(value):,} entries" if len(value) > 1 else "one entry" if value else "an empty one"
    if isinstance(value, float) and not isfinite(value):
        return str(value)
    try:
        sent = msgspec.json.encode(value).decode()
    except (TypeError, ValueError, OverflowError, msgspec.MsgspecError):
        short = type(value) is int and value.bit_length() < 10_000
        sent = str(value) if short else f"a value of type {type(value).__name__}"
    if len(sent) <= LONGEST:
        return sent
    return (
        f"a text of {len(value):,} characters"
        if isinstance(value, str)
        else f"a number of {len(sent)} digits"
    )


def suggest(name: str, choices: Iterable[str]) -> str:
    """Name the nearest choice, as the end of an error; nothing if none is near."""
    known = {choice.casefold(): choice for choice in choices}
    nearest = difflib.get_close_matches(name.casefold(), known, n=1)
    return f": did you mean '{known[nearest[0]]}'?" if nearest else ""


def join_path(path: str, said: str) -> str:
    """Put the path of a record before an error of its own, which begins with the name of a field.

    >>> join_path("fair", "cap: Expected a number"), join_path("fair", "Expected an object")
    ('fair.cap: Expected a number', 'fair: Expected an object')
    """
    if not path:
        return said
    return f"{path}.{said}" if re.match(r"[a-z_]+[.:\[]", said) else f"{path}: {said}"


# Types in words


def _describe(info: Any) -> str:
    if isinstance(info, inspect.IntType | inspect.FloatType):
        return _describe_number(info)
    if words := list_choices([info]):
        return f"one of {', '.join(words)}"
    said = PLAIN.get(type(info), "an object")
    return said + _describe_size(info, "characters" if isinstance(info, inspect.StrType) else "entries")


def _describe_number(info: Any) -> str:
    number = "a whole number" if isinstance(info, inspect.IntType) else "a number"
    if info.ge is not None and info.le is not None:
        return f"{number} from {_show_bound(info.ge)} to {_show_bound(info.le)}"
    ends = {"above": info.gt, "up to": info.le, "below": info.lt}
    said = [f"{word} {_show_bound(end)}" for word, end in ends.items() if end is not None]
    if info.ge is not None:
        said.insert(0, f"of {_show_bound(info.ge)} or more")
    return " ".join([number, " and ".join(said)]).rstrip()


def _show_bound(end: float) -> str:
    if abs(end) < 1e12 and end == int(end):
        return f"{int(end):,}"
    return f"{end:g}".replace("e+", "e").replace("e-0", "e-")


def _describe_size(info: Any, things: str) -> str:
    least, most = getattr(info, "min_length", None), getattr(info, "max_length", None)
    if least and most:
        return f" of {least:,} to {most:,} {things}"
    return f" of {least:,} or more {things}" if least else f" of up to {most:,} {things}" if most else ""


def _list_words(info: Any) -> Iterator[Any]:
    if isinstance(info, inspect.LiteralType):
        yield from info.values
    elif isinstance(info, inspect.EnumType):
        yield from (each.value for each in info.cls)


# Places in data


def _write_path(steps: Sequence[Step]) -> str:
    path = "".join(f"[{step}]" if isinstance(step, int) or step == ANY else f".{step}" for step in steps)
    return path.lstrip(".")


def _find_wrong_kind(what: str) -> str:
    got = re.search(r"got `(\w+)`", what)
    return got[1] if got else ""


def _walk(data: Any, path: str, types: Iterable[Any], got: str) -> tuple[list[Step], Any]:
    """Follow a path of msgspec; an entry without a name is the first that is not of its type."""
    steps: list[Step] = []
    value, here = data, list(types)
    for name, index in re.findall(r"\.([^.\[]+)|\[(\d+|\.\.\.)\]", path.removeprefix("$")):
        step: Step = name or (int(index) if index != ANY else _first_wrong(value, here, got))
        try:
            value = value[step]
        except (KeyError, IndexError, TypeError):
            return [*steps, step], UNREADABLE
        steps.append(step)
        here = list(_find_types(here, (step,)))
    return steps, value


def _first_wrong(value: Any, types: Iterable[Any], got: str) -> str:
    """Find the name of the first entry that is not of the type of entries, as far as it is plain."""
    entries = value.items() if isinstance(value, Mapping) else ()
    inner = [after for info in types for after in unwrap_types(_inside(info, ANY))]
    for name, each in entries:
        if type(each) is KINDS.get(got) or (not got and not any(_takes(info, each) for info in inner)):
            return str(name)
    return ANY


def _takes(info: Any, value: Any) -> bool:
    """Whether a plain value is of a type; what is not plain is taken to be."""
    if isinstance(info, inspect.IntType | inspect.FloatType):
        number = isinstance(value, int if isinstance(info, inspect.IntType) else int | float)
        return number and not isinstance(value, bool) and _is_within(info, value)
    if isinstance(info, inspect.StrType):
        low, high = info.min_length or 0, info.max_length
        return isinstance(value, str) and low <= len(value) and (high is None or len(value) <= high)
    if isinstance(info, inspect.LiteralType | inspect.EnumType):
        return value in list_choices([info])
    return True


def _is_within(info: Any, value: float) -> bool:
    return (
        (info.ge is None or value >= info.ge)
        and (info.gt is None or value > info.gt)
        and (info.le is None or value <= info.le)
        and (info.lt is None or value < info.lt)
    )


def _find_types(types: Iterable[Any], steps: Sequence[Step]) -> Iterator[Any]:
    """Find the types that a value at the end of these steps may have."""
    found = list(unwrap_types(types))
    for step in steps:
        found = list(unwrap_types(after for info in found for after in _inside(info, step)))
    return iter(found)


def _inside(info: Any, step: Step) -> Iterator[Any]:
    """Find what an entry of a type may be."""
    if isinstance(info, inspect.StructType):
        yield from (each.type for each in info.fields if each.encode_name == step)
    elif isinstance(info, inspect.ListType | inspect.VarTupleType) and isinstance(step, int):
        yield info.item_type
    elif isinstance(info, inspect.DictType):
        yield info.value_type


@cache
def _read_type(kind: Any) -> inspect.Type:
    return inspect.type_info(kind)
