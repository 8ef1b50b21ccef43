"""What a setting may be, said by its annotation: `learning_rate: Positive = 0.1`."""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from math import inf
from typing import Annotated, Any, Literal, TypeAlias, Union, get_args, get_origin, get_type_hints

from rankloop.errors import SettingError

_Test: TypeAlias = Callable[[Any], bool]

LARGEST = 2**1000  # of a whole number that may stand for one with fractions
PLAIN = {bool: "True or False", int: "a whole number", float: "a number", str: "a text", type(None): "None"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """Which numbers a setting may be; infinity only with `at_most=inf`.

    >>> Odds = Annotated[float, Bound(above=1)]
    >>> describe_bound(Odds), fits(2, Odds), fits(1.0, Odds), fits(inf, Odds)
    ('a finite number above 1', True, False, False)
    """

    at_least: float | None = None
    above: float | None = None
    at_most: float | None = None
    below: float | None = None

    def admits(self, value: float) -> bool:
        """Whether this number is inside."""
        return (
            (-inf < value < inf or value == self.at_most)
            and (self.at_least is None or value >= self.at_least)
            and (self.above is None or value > self.above)
            and (self.at_most is None or value <= self.at_most)
            and (self.below is None or value < self.below)
        )

    def describe(self, kind: object) -> str:
        """Say in words which numbers of a kind, `int` or `float`, are inside."""
        number = "a whole number" if kind is int else "a number"
        if kind is not int and self.at_most is None and self.below is None:
            number = "a finite number"
        least, most = self.at_least, self.at_most if self.at_most != inf else None
        if least is not None and most is not None:
            return f"{number} from {least:g} to {most:g}"
        ends = {"of at least": least, "above": self.above, "of at most": most, "below": self.below}
        said = " and ".join(f"{word} {end:g}" for word, end in ends.items() if end is not None)
        return f"{number} {said.replace('and of', 'and')}"


Positive: TypeAlias = Annotated[float, Bound(above=0)]
NonNegative: TypeAlias = Annotated[float, Bound(at_least=0)]
Probability: TypeAlias = Annotated[float, Bound(at_least=0, at_most=1)]
Factor: TypeAlias = Annotated[float, Bound(above=0, at_most=1)]
Count: TypeAlias = Annotated[int, Bound(at_least=1)]
Natural: TypeAlias = Annotated[int, Bound(at_least=0)]


def check_settings(value: object) -> None:
    """Refuse settings that are not what their annotations say: the `__post_init__` of a dataclass.

    An annotation may be a bound, a type, words (`Literal`), a class or a protocol of objects with settings,
    or several of these. What is annotated otherwise is not checked.

    >>> @dataclass
    ... class Walk:
    ...     step: Positive = 0.1
    ...     turns: Natural | Literal["many"] = "many"
    ...
    ...     def __post_init__(self) -> None:
    ...         check_settings(self)
    >>> Walk(step=1).turns
    'many'
    >>> Walk(turns=-1)
    Traceback (most recent call last):
    ...
    rankloop.errors.SettingError: Walk: turns must be a whole number of at least 0 or 'many', found -1
    """
    for name, hint, test in _list_tests(type(value)):  # type: ignore[arg-type]  # a class is hashable
        if not test(found := getattr(value, name)):
            raise SettingError(
                f"{type(value).__name__}: {name} must be {describe_bound(hint)}, found {_show(found)}"
            )


def fits(value: object, hint: Any) -> bool:
    """Whether a value is what an annotation says.

    >>> fits(0.5, Factor), fits(0, Factor), fits(True, Natural), fits((4, 2), tuple[Count, ...] | None)
    (True, False, False, True)
    """
    return _find_test(hint)(value)


def describe_bound(hint: Any) -> str:
    """Say in words what an annotation takes.

    >>> describe_bound(Factor), describe_bound(Count | None), describe_bound(Literal["good", "bad"])
    ('a number above 0 and at most 1', 'a whole number of at least 1 or None', "'good' or 'bad'")
    """
    *first, last = dict.fromkeys(word for option in list_options(hint) for word in _describe_option(option))
    return f"{', '.join(first)} or {last}" if first else last


def read_hints(kind: Callable[..., object]) -> Mapping[str, Any]:
    """Read the annotations of a class or function, with their bounds.

    >>> list(read_hints(Bound))
    ['at_least', 'above', 'at_most', 'below']
    """
    try:
        return get_type_hints(kind, include_extras=True)
    except NameError as error:
        raise SettingError(
            f"{kind.__name__} has an annotation with the name {error.name!r}, not known when it runs: "
            "import it at the top of its module, not below `if TYPE_CHECKING`"
        ) from None


def list_options(hint: Any) -> tuple[Any, ...]:
    """List the alternatives of an annotation.

    >>> list_options(int | Literal["all"] | None)
    (<class 'int'>, typing.Literal['all'], <class 'NoneType'>)
    """
    if get_origin(hint) in (Union, types.UnionType):
        return tuple(option for each in get_args(hint) for option in list_options(each))
    return (hint,)


def list_kinds(option: Any) -> Iterator[type[Any]]:
    """List the classes of objects with settings that an option stands for: itself, and what extends it."""
    waiting = [option] if isinstance(option, type) and option not in PLAIN and option is not object else []
    while waiting:
        kind = waiting.pop(0)
        waiting += kind.__subclasses__()
        if is_dataclass(kind) and not inspect.isabstract(kind) and not kind.__name__.startswith("_"):
            yield kind


@cache
def _list_tests(kind: type[Any]) -> tuple[tuple[str, Any, _Test], ...]:
    hints = read_hints(kind)
    return tuple(
        (each.name, hints[each.name], _find_test(hints[each.name])) for each in fields(kind) if each.init
    )


@cache
def _find_test(hint: Any) -> _Test:
    """Make the test of an annotation, once: a policy with six settings is checked in microseconds."""
    options = list_options(hint)
    if len(options) > 1:
        tests = [_find_test(option) for option in options]
        return lambda value: any(test(value) for test in tests)
    special = {Annotated: _test_number, Literal: _test_words, tuple: _test_tuple}.get(get_origin(hint))
    if special is not None:
        return special(get_args(hint))
    if hint is float:
        return lambda value: isinstance(value, float) or (type(value) is int and abs(value) < LARGEST)
    if hint in PLAIN:
        return lambda value: type(value) is hint or (hint is str and isinstance(value, str))
    return _test_class(get_origin(hint) or hint)


def _test_number(said: tuple[Any, ...]) -> _Test:
    is_plain, bounds = _find_test(said[0]), [each for each in said[1:] if isinstance(each, Bound)]
    return lambda value: is_plain(value) and all(each.admits(value) for each in bounds)


def _test_words(said: tuple[Any, ...]) -> _Test:
    words = {(type(word), word) for word in said}
    return lambda value: isinstance(value, bool | int | str | None) and (type(value), value) in words


def _test_tuple(said: tuple[Any, ...]) -> _Test:
    if len(said) == 2 and said[1] is ...:
        fits_item = _find_test(said[0])
        return lambda value: isinstance(value, tuple) and all(map(fits_item, value))
    tests = [_find_test(each) for each in said]
    return lambda value: (
        isinstance(value, tuple)
        and len(value) == len(tests)
        and all(test(item) for test, item in zip(tests, value, strict=True))
    )


def _test_class(kind: Any) -> _Test:
    """Make the test of a class; of a protocol that can be asked at run time, for objects alone."""
    if not getattr(kind, "_is_protocol", False):
        is_class = isinstance(kind, type) and kind is not Any
        return (lambda value: isinstance(value, kind)) if is_class else _is_anything
    if not getattr(kind, "_is_runtime_protocol", False):
        return _is_anything
    return lambda value: (
        kind in type(value).__mro__ or (not isinstance(value, type) and isinstance(value, kind))
    )


def _is_anything(value: object) -> bool:
    del value
    return True


def _describe_option(option: Any) -> Iterable[str]:
    said = get_args(option)
    if get_origin(option) is Annotated:
        bounds = [each.describe(said[0]) for each in said[1:] if isinstance(each, Bound)]
        return bounds or _describe_option(said[0])
    if get_origin(option) is Literal:
        return map(repr, said)
    if get_origin(option) is tuple:
        item = describe_bound(said[0]) if said[1:] == (...,) else ", ".join(map(describe_bound, said))
        return (f"values in parentheses (each {item})" if said[1:] == (...,) else f"({item})",)
    if get_origin(option) is Callable:
        return ("a function",)
    if option in PLAIN:
        return (PLAIN[option],)
    return [kind.__name__ for kind in list_kinds(option)] or [getattr(option, "__name__", str(option))]


def _show(found: object) -> str:
    text = repr(found)
    return text if len(text) <= 80 else f"{text[:80]}..."
