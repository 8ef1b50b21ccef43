"""Names with settings, `PDGD(learning_rate=0.1, scorer=MLP((64, 32)))`: one reader and one writer for all."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass
from functools import cache, lru_cache
from math import inf, isnan
from typing import Annotated, Any, Literal, TypeVar, get_args, get_origin

from rankloop.bounds import LARGEST, describe_bound, list_kinds, list_options, read_hints
from rankloop.errors import SettingError, suggest_name

T = TypeVar("T")

LONGEST = 2_000  # characters of a text, so that the parser meets no endless nesting
WORDS = {"true": True, "false": False, "none": None, "inf": inf}


def read_name(text: str, kinds: Mapping[str, Callable[..., T] | str], *, noun: str = "policy") -> T:
    """Make what a text names: a kind of the table, with settings in parentheses.

    Capitals, `-` and `_` make no difference in names. A kind of the table may be a text itself, which is the
    name of other settings of another kind: settings given after it count more.

    >>> from rankloop.learning.certainty import Width
    >>> read_name("width(alpha=0.1)", {"Width": Width}, noun="certainty")
    Width(alpha=0.1, diagonal=False)
    >>> kinds = {"Width": Width, "width@paper": "Width(alpha=0.01)"}
    >>> read_name("width@paper", kinds), read_name("Width@Paper(alpha=0.5)", kinds)
    (Width(alpha=0.01, diagonal=False), Width(alpha=0.5, diagonal=False))
    >>> read_name("Width:alpha=1", kinds, noun="certainty")
    Traceback (most recent call last):
    ...
    rankloop.errors.SettingError: settings stand in parentheses: write Width(alpha=1), found 'Width:alpha=1'
    """
    name, call = split_name(text, noun)
    kind = find_kind(name, kinds, noun)
    if not isinstance(kind, str):
        return _build(kind, call)
    name, given = split_name(kind, noun)
    kind = find_kind(name, kinds, noun)
    if isinstance(kind, str):
        raise SettingError(f"{text} names {name}, which is a name of other settings, too")
    return _build(kind, call, given)


def write_name(value: object, defaults: bool = False, *, name: str = "") -> str:
    """Write the text that makes the value again: its settings without defaults, or with them.

    It carries the name of its class or, in a table that calls it so, another `name`.

    >>> from rankloop.learning.projection import DocumentSpace
    >>> write_name(DocumentSpace(3)), write_name(DocumentSpace(trust=0.25))
    ('DocumentSpace()', 'DocumentSpace(trust=0.25)')
    >>> write_name(DocumentSpace(), defaults=True)
    "DocumentSpace(k=3, recent=10, trust=1.0, unit=False, examined='clicks')"
    """
    text = _write_object(value, defaults, name)
    _check_text(text, "name")
    return text


def settings_of(value: object) -> dict[str, Any]:
    """List the settings of a value: those with which its class makes it again.

    >>> from rankloop.scorers import MLP
    >>> settings_of(MLP((64, 32)))
    {'hidden': (64, 32), 'scale': 0.25, 'seed': 0}
    """
    return {each.name: getattr(value, each.name) for each in fields(value) if each.init}  # type: ignore[arg-type]


def given_settings(text: str) -> frozenset[str]:
    """Say which settings a text gives by name; the others have their defaults.

    >>> sorted(given_settings("pdgd(decay=0.9, scorer=MLP(seed=1))"))
    ['decay', 'scorer']
    """
    _, call = split_name(text, "name")
    return frozenset(each.arg for each in call.keywords if each.arg)


def split_name(text: str, noun: str) -> tuple[str, ast.Call]:
    """Divide a text into the name before its first parenthesis and the settings, parsed and not yet read.

    >>> name, call = split_name("/data/mq2008(fold=1)", "dataset")
    >>> name, [each.arg for each in call.keywords]
    ('/data/mq2008', ['fold'])
    """
    _check_text(text, noun)
    name, opened, settings = text.strip().partition("(")
    if not opened:
        return name, NO_SETTINGS
    try:
        call = ast.parse(f"name({settings}", mode="eval").body
    except SyntaxError as error:
        raise SettingError(f"{noun} {text!r} cannot be read: {error.msg}") from None
    except (ValueError, MemoryError, RecursionError):
        raise SettingError(f"{noun} {text!r} cannot be read: it holds what no name does") from None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
        raise SettingError(f"{noun} {text!r} cannot be read: write {name}(<setting>=<value>, ...)")
    return name.rstrip(), call


def split_names(text: str, at: str = ",") -> list[str]:
    """Divide a list of names at its commas, but for those in parentheses and quotes.

    >>> split_names("MGD(candidates=49, step=0.1), pdgd,"), split_names("Linear()|MLP('|')", "|")
    (['MGD(candidates=49, step=0.1)', 'pdgd'], ['Linear()', "MLP('|')"])
    """
    ends, depth, quote, escaped = [], 0, "", False
    for place, letter in enumerate(text):
        if quote:
            quote = "" if letter == quote and not escaped else quote
            escaped = letter == "\\" and not escaped
        elif letter in "'\"":
            quote = letter
        elif letter == at and depth == 0:
            ends.append(place)
        else:
            depth += (letter in "([") - (letter in ")]")
    starts = [0, *(end + 1 for end in ends)]
    parts = (text[start:end].strip() for start, end in zip(starts, [*ends, len(text)], strict=True))
    return [part for part in parts if part]


def find_kind(name: str, kinds: Mapping[str, T], noun: str) -> T:
    """Find a name in a table, whatever its capitals, `-` and `_`.

    >>> find_kind("epsilon-greedy", {"EpsilonGreedy": 1}, "policy")
    1
    """
    known = {_simplify(each): each for each in kinds}
    if _simplify(name) in known:
        return kinds[known[_simplify(name)]]
    before, colon, after = name.partition(":")
    if colon and _simplify(before) in known:
        right = f"{known[_simplify(before)]}({after.replace(',', ', ')})"
        raise SettingError(f"settings stand in parentheses: write {right}, found {name!r}")
    raise SettingError(f"no {noun} is called {name!r}: {suggest_name(name, kinds)}")


def _check_text(text: object, noun: str) -> None:
    if not isinstance(text, str):
        raise SettingError(f"a {noun} is a text such as Name(setting=value), found {repr(text)[:50]}")
    if len(text) > LONGEST:
        raise SettingError(f"a {noun} has at most {LONGEST:,} characters, found {len(text):,}: {text[:60]}")


# Reading


NO_SETTINGS = ast.Call(func=ast.Name(id="name"), args=[], keywords=[])


@dataclass(frozen=True, slots=True)
class _Setting:
    """A setting of a kind: what it may be, whether it needs no name, and whether it must be given."""

    label: str  # as errors begin: "PDGD: decay"
    hint: Any  # its annotation
    positional: bool = False
    required: bool = False

    @property
    def options(self) -> tuple[Any, ...]:
        """The alternatives of the annotation without their bounds, which the kind itself checks."""
        return _options(self.hint)

    @property
    def takes_anything(self) -> bool:
        """Whether nothing is known of what it may be."""
        return object in self.options or Any in self.options

    def items(self, count: int) -> list[_Setting] | None:
        """Say what each of so many values in parentheses may be; None, if there may not be so many."""
        if self.takes_anything:
            return [self] * count
        for each in self.options:
            inner = get_args(each)
            if get_origin(each) is tuple and len(inner) == 2 and inner[1] is ...:
                return [_Setting(self.label, inner[0])] * count
            if get_origin(each) is tuple and len(inner) == count:
                return [_Setting(self.label, item) for item in inner]
        return None

    def find_word(self, word: str) -> str | None:
        """Find the permitted word that is written so, whatever its capitals, `-` and `_`."""
        words = [each for it in self.options if get_origin(it) is Literal for each in get_args(it)]
        return next((str(each) for each in words if _simplify(str(each)) == _simplify(word)), None)

    def parts(self) -> Iterator[type[Any]]:
        """List the classes of objects that it takes: those in its annotation, and what extends them."""
        return (kind for option in self.options for kind in list_kinds(option))

    def refuse(self, node: ast.expr) -> SettingError:
        """Make the error about a value that it does not take."""
        return SettingError(f"{self.label} must be {describe_bound(self.hint)}, found {_unparse(node)}")


@cache
def _settings(kind: Callable[..., object]) -> Mapping[str, _Setting]:
    """List the settings of a class or function, from its signature and annotations."""
    hints = read_hints(kind)
    return {
        name: _Setting(
            label=f"{kind.__name__}: {name}",
            hint=hints.get(name, object),
            positional=each.kind is not each.KEYWORD_ONLY,
            required=each.default is each.empty,
        )
        for name, each in inspect.signature(kind).parameters.items()
        if each.kind not in (each.VAR_POSITIONAL, each.VAR_KEYWORD)  # they have no name of their own
    }


@cache
def _options(hint: Any) -> tuple[Any, ...]:
    return tuple(get_args(each)[0] if get_origin(each) is Annotated else each for each in list_options(hint))


def _build(kind: Callable[..., T], call: ast.Call, preset: ast.Call = NO_SETTINGS) -> T:
    known, label = _settings(kind), kind.__name__
    given = _by_setting(known, label, preset) | _by_setting(known, label, call)
    if missing := [name for name, each in known.items() if each.required and name not in given]:
        form = ", ".join(f"{each}=..." for each in missing)
        raise SettingError(f"{label} needs {' and '.join(missing)}: write {label}({form})")
    return kind(**{name: _read_value(node, known[name]) for name, node in given.items()})


def _by_setting(known: Mapping[str, _Setting], label: str, call: ast.Call) -> dict[str, ast.expr]:
    """List the values of a call by setting, not yet read."""
    unnamed = [name for name, each in known.items() if each.positional]
    for extra in call.args[len(unnamed) :]:
        form = f"write {label}({next(iter(known))}=...)" if known else f"write {label}()"
        raise SettingError(f"{label}: expected <setting>=<value>, found {_unparse(extra)}: {form}")
    found: dict[str, ast.expr] = dict(zip(unnamed, call.args, strict=False))
    for each in call.keywords:
        if each.arg is None or each.arg not in known:
            hint = suggest_name(str(each.arg), known) if known else "it has none"
            raise SettingError(f"{label} has no setting {each.arg or '**'!r}: {hint}")
        if each.arg in found:
            raise SettingError(f"{label}: {each.arg} is given twice, leave one out")
        found[each.arg] = each.value
    return found


def _read_value(node: ast.expr, setting: _Setting) -> object:
    """Read the value of a setting, as one of its options."""
    match node:
        case ast.Name(id=word):
            return _read_word(node, word, setting)
        case ast.Call(func=ast.Name(id=word)):
            return _build(_find_part(node, word, setting), node)
        case ast.Tuple(elts=items) | ast.List(elts=items):
            if (inner := setting.items(len(items))) is None:
                raise setting.refuse(node)
            return tuple(_read_value(item, each) for item, each in zip(items, inner, strict=True))
        case ast.Constant(value=bool() | int() | float() | str() | None as value):
            return _read_plain(node, value, setting)
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as number)):
            return _read_plain(node, -number, setting)
        case ast.UnaryOp(op=ast.USub(), operand=ast.Name(id="inf")):
            return _read_plain(node, -inf, setting)
    raise setting.refuse(node)


def _read_word(node: ast.expr, word: str, setting: _Setting) -> object:
    """Read what a word without quotes stands for: `exact`, `none`, or an object as it comes."""
    if (found := setting.find_word(word)) is not None:
        return found
    if word.casefold() in WORDS:
        return _read_plain(node, WORDS[word.casefold()], setting)
    if str in setting.options or setting.takes_anything:
        return word
    return _build(_find_part(node, word, setting), NO_SETTINGS)


def _find_part(node: ast.expr, word: str, setting: _Setting) -> type[Any]:
    for each in setting.parts():
        if _simplify(each.__name__) == _simplify(word):
            return each
    raise setting.refuse(node)


def _read_plain(node: ast.expr, value: float | str | None, setting: _Setting) -> object:
    if isinstance(value, str) and (found := setting.find_word(value)) is not None:
        return found
    if type(value) in setting.options or setting.takes_anything:
        return value
    if type(value) is int and float in setting.options and abs(value) < LARGEST:
        return float(value)
    raise setting.refuse(node)


@lru_cache(maxsize=1024)
def _simplify(name: str) -> str:
    return name.strip().casefold().replace("-", "").replace("_", "")


def _unparse(node: ast.expr) -> str:
    try:
        text = ast.unparse(node)
    except RecursionError:
        text = "too many operators"
    return text if len(text) <= 60 else f"{text[:60]}..."


# Writing


def _write_object(value: object, defaults: bool, name: str = "") -> str:
    if not is_dataclass(value) or isinstance(value, type):
        raise SettingError(f"{value!r} cannot be written as a name: expected an object with settings")
    kind, parts = type(value), []
    for each in fields(value):
        if not each.init:
            continue
        setting = _settings(kind)[each.name]
        text = _write_value(getattr(value, each.name), setting, defaults)
        default = each.default if each.default_factory is MISSING else each.default_factory()
        if defaults or default is MISSING or text != _write_value(default, setting, defaults):
            parts.append(f"{each.name}={text}")
    return f"{name or kind.__name__}({', '.join(parts)})"


def _write_value(value: object, setting: _Setting, defaults: bool) -> str:
    match value:
        case None | bool():
            return repr(value)
        case str():
            return repr(str(value))
        case int():
            whole = float not in setting.options or int in setting.options
            return repr(int(value) if whole else float(value))
        case float() if not isnan(value):
            return repr(float(value))
        case tuple() | list():
            inner = setting.items(len(value)) or [setting] * len(value)
            items = [_write_value(item, each, defaults) for item, each in zip(value, inner, strict=True)]
            return f"({', '.join(items)}{',' * (len(items) == 1)})"
        case _ if is_dataclass(value):
            return _write_object(value, defaults)
    raise SettingError(f"{setting.label} cannot be written as text: {value!r}")
