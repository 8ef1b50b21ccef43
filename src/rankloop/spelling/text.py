"""A policy as text, `pdgd:scorer=mlp((64,32),scale=1)`, and back."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, Field, fields
from typing import Any, TypeVar

from rankloop.errors import SettingError, suggest_name
from rankloop.policies import Policy
from rankloop.spelling.catalogue import Catalogue, address_of, catalogue, lookup, own_class, split_own
from rankloop.spelling.paper import MARK, find_paper
from rankloop.spelling.parts import find_part, name_of_part, takes_parts

T = TypeVar("T")


def parse(text: str, known: Catalogue | None = None) -> Policy:
    """The policy that a text names: one of rankloop's or, by where its class is, one of your own.

    >>> parse("epsilon-greedy:epsilon=0.2")
    EpsilonGreedy(scorer=Linear(), trust=None, learn_trust=True, learning_rate=0.001, pairing='adjacent',
                  epsilon=0.2)
    >>> parse("pairrank:certainty=width(0.1)").certainty
    Width(alpha=0.1, diagonal=False)
    >>> parse("mgd:projection=document-space(3,recent=20)").projection
    DocumentSpace(k=3, recent=20, trust=1.0, unit=False, examined='clicks')
    >>> parse("rankloop.policies.gradient.pdgd:PDGD:learning_rate=0.5").learning_rate
    0.5
    >>> parse("ranknet@paper:learning_rate=0.1")  # as the paper has it, but for the rate
    RankNet(scorer=Linear(), trust=None, learn_trust=True, learning_rate=0.1, pairing='adjacent')
    """
    known = catalogue() if known is None else known
    text = written_out(text)
    if text.partition(":")[0] not in known and (own := split_own(text)):
        address, settings = own
        return _build(address, own_class(address), settings)
    return make("policy", text, known)


def spell(policy: Policy, known: Catalogue | None = None) -> str:
    """The shortest text that makes the policy again, without what it learned: defaults are left out.

    >>> from rankloop.policies import PDGD
    >>> from rankloop.scorers import MLP
    >>> spell(PDGD()), spell(PDGD(scorer=MLP((64, 32), scale=1), decay=0.9))
    ('pdgd', 'pdgd:scorer=mlp((64,32),scale=1),decay=0.9')
    """
    known = catalogue() if known is None else known
    name = policy.name if known.get(policy.name) is type(policy) else address_of(type(policy))
    changed = [f"{each.name}={write(each.name, value)}" for each, value in _changed(policy)]
    return f"{name}:{','.join(changed)}" if changed else name


def written_out(text: str) -> str:
    """A text in which a name of a paper's settings stands for them; settings after it come last, and count.

    >>> written_out("ranknet@paper:learning_rate=0.1"), written_out("pdgd")
    ('ranknet:pairing=adjacent,learning_rate=0.001,learning_rate=0.1', 'pdgd')
    """
    name, _, rest = text.partition(":")
    if MARK not in name:
        return text
    policy = find_paper(name).policy
    return f"{policy},{rest}" if rest else policy


def make(noun: str, text: str, kinds: Mapping[str, type[T]]) -> T:
    """What a text `name:setting=value,...` stands for, of the kinds in a table: policies, probes.

    >>> make("policy", "pdgd:decay=0.9", catalogue()).decay
    0.9
    """
    name, _, settings = text.partition(":")
    return _build(name, lookup(noun, name, kinds), settings)


def settings_of(kind: type) -> list[str]:
    """The settings of a policy or probe with their defaults, as they are written after the colon.

    >>> settings_of(catalogue()["epsilon-greedy"])
    ['scorer=linear', 'trust', 'learn_trust=True', 'learning_rate=0.001', 'pairing=adjacent', 'epsilon=0.1']
    """
    listed = {each.name: _default(each) for each in fields(kind) if each.init}
    return [
        name if value is None or value is MISSING else f"{name}={write(name, value)}"
        for name, value in listed.items()
    ]


def split(text: str, at: str = ",") -> list[str]:
    """Parts of a text, split where no parenthesis or quote is open.

    >>> split("a=(1,2),b='x,y',c")
    ['a=(1,2)', "b='x,y'", 'c']
    """
    parts, start, depth, quote = [], 0, 0, ""
    for index, letter in enumerate(text):
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "'\"":
            quote = letter
        elif letter == at and depth == 0:
            parts.append(text[start:index])
            start = index + 1
        depth += (not quote) * ((letter in "([") - (letter in ")]"))
    return [*parts, text[start:]]


def read(setting: str, text: str, default: object = None) -> object:
    """The value of a setting.

    >>> read("learning_rate", "0.1"), read("scorer", "mlp(64)"), read("exploration", "random")
    (0.1, MLP(hidden=64, scale=..., seed=0), 'random')
    """
    if text == "None" or not takes_parts(setting, default):
        return _literal(text)
    name, opened, argument = text.removesuffix(")").partition("(")
    if bool(opened) != text.endswith(")"):
        raise SettingError(f"{setting}: expected <name> or <name>(<value>), found {text!r}")
    kind = find_part(setting, name)
    given = [item.partition("=") for item in split(argument)] if argument else []
    values = [_literal(value) for value, equals, _ in given if not equals]
    settings = {key.strip(): _literal(value.strip()) for key, equals, value in given if equals}
    known = [each.name for each in fields(kind)]
    for key in settings:
        if key not in known:
            raise SettingError(f"{name} has no setting {key!r}: {suggest_name(key, known)}")
    try:
        return kind(*values, **settings)
    except TypeError as error:
        form = f"{name}(<setting>=<value>,...)" if settings else f"{name}(<number>)"
        needed = ",".join(f"{each.name}=<value>" for each in fields(kind) if _default(each) is MISSING)
        expected = f"{name}({needed})" if needed else f"{name} or {form}"
        raise SettingError(f"{setting}: expected {expected}, found {text!r}") from error


def write(setting: str, value: object) -> str:
    """A value as it is written after the setting's name.

    >>> write("scorer", None), write("rounds", (1, 10)), write("name", "a b"), write("merit", (("A", 2),))
    ('None', '(1,10)', "'a b'", "(('A',2),)")
    """
    if name := name_of_part(setting, value):
        first = next((each.name for each in fields(value) if each.init and not each.kw_only), "")  # type: ignore[arg-type]
        given = [
            ("" if each.name == first else f"{each.name}=") + write("", inner)
            for each, inner in sorted(_changed(value), key=lambda pair: pair[0].name != first)
        ]
        return f"{name}({','.join(given)})" if given else name
    if isinstance(value, tuple):
        inside = (repr(each) if isinstance(each, str) else write("", each) for each in value)
        return f"({','.join(inside)}{',' * (len(value) == 1)})"
    if isinstance(value, str):
        plain = re.fullmatch(r"[A-Za-z_][\w.-]*", value) and isinstance(_literal(value), str)
        return value if plain else repr(value)
    if value is None or isinstance(value, bool | int | float):
        return repr(value).replace("inf", "1e999")
    raise SettingError(f"{setting or 'a setting'} cannot be written as text: {value!r}")


def _build(name: str, kind: type[T], rest: str) -> T:
    known = {each.name: _default(each) for each in fields(kind) if each.init}  # type: ignore[arg-type]
    settings: dict[str, Any] = {}
    for part in split(rest) if rest else ():
        key, equals, text = (each.strip() for each in part.partition("="))
        if not equals:
            raise SettingError(f"{name!r}: expected <name>:<setting>=<value>,..., found {part!r}")
        if key not in known:
            raise SettingError(f"{name} has no setting {key!r}: {suggest_name(key, known)}")
        settings[key] = read(key, text, known[key])
        if isinstance(known[key], int | float) and isinstance(settings[key], str):
            raise SettingError(f"{name}: expected {key}=<a number>, as in {key}={known[key]}, found {text!r}")
    try:
        return kind(**settings)
    except TypeError as error:
        raise SettingError(f"{name!r}: {error}") from error


def _changed(value: object) -> Iterator[tuple[Field[Any], object]]:
    """The settings of a policy or part that are not as they come."""
    for each in fields(value):  # type: ignore[arg-type]
        found = getattr(value, each.name)
        default = _default(each)
        if each.init and (type(found) is not type(default) or found != default):
            yield each, found


def _default(each: Field[Any]) -> object:
    return each.default if each.default_factory is MISSING else each.default_factory()


def _literal(text: str) -> object:
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text
