"""Names on the command line and the objects they stand for: the one table."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any, TypeVar

from rankloop import policies
from rankloop.interleaving import Probabilistic, TeamDraft
from rankloop.policies import Policy, Sure, Theory, Width
from rankloop.scorers import Linear
from rankloop.types import SettingError, suggestion
from rankloop.users import CASCADE_TABLES, Preset

POLICIES: Mapping[str, type[Policy]] = {
    kind.name: kind
    for kind in vars(policies).values()
    if isinstance(kind, type) and issubclass(kind, Policy) and kind.name
}
T = TypeVar("T")
USERS = tuple(CASCADE_TABLES)
PARTS: Mapping[str, Mapping[str, Callable[..., object]]] = {  # settings that are objects themselves
    "interleaving": {"team-draft": TeamDraft, "probabilistic": Probabilistic},
    "scorer": {"linear": Linear},
    "certainty": {"sure": Sure, "width": Width, "theory": Theory},
}


def split_names(text: str) -> list[str]:
    """The names in a comma-separated list; `key=value` belongs to the name before it.

    >>> split_names("mgd:candidates=49,interleaving=probabilistic,pdgd")
    ['mgd:candidates=49,interleaving=probabilistic', 'pdgd']
    """
    names: list[str] = []
    for part in (part.strip() for part in text.split(",")):
        if names and "=" in part and ":" not in part:
            names[-1] += f",{part}"
        elif part:
            names.append(part)
    return names


def policy(name: str) -> Policy:
    """The policy a name stands for, with the settings after the colon.

    >>> policy("epsilon-greedy:epsilon=0.2")
    EpsilonGreedy(scorer=Linear(), learning_rate=0.001, epsilon=0.2)
    >>> policy("pairrank:certainty=width(0.1)").certainty
    Width(alpha=0.1)
    """
    kind, settings = _parse(name)
    make = lookup("policy", kind, POLICIES)
    known = [setting.name for setting in fields(make) if setting.init]
    for key in settings:
        if key not in known:
            raise SettingError(f"{kind} has no setting {key!r}: {suggestion(key, known)}")
    try:
        return make(**settings)
    except TypeError as error:
        raise SettingError(f"{name!r}: {error}") from error


def user(name: str) -> Preset:
    """The user a name stands for.

    >>> user("navigational:stop=every")
    Preset(name='navigational', stop_at='every')
    """
    kind, settings = _parse(name)
    lookup("user", kind, dict.fromkeys(USERS))
    stop = settings.pop("stop", "click")
    if settings:
        raise SettingError(f"a user has the setting stop (click or every), found {', '.join(settings)}")
    return Preset(kind, stop)


def _parse(name: str) -> tuple[str, dict[str, Any]]:
    kind, _, rest = name.partition(":")
    settings = {}
    for part in rest.split(",") if rest else ():
        key, equals, value = part.partition("=")
        if not equals:
            raise SettingError(f"{name!r}: expected <name>:<setting>=<value>,..., found {part!r}")
        settings[key.strip()] = _value(key.strip(), value.strip())
    return kind, settings


def _value(key: str, text: str) -> object:
    if key in PARTS:
        part, _, argument = text.removesuffix(")").partition("(")
        return lookup(key, part, PARTS[key])(*([_literal(argument)] if argument else []))
    return _literal(text)


def _literal(text: str) -> object:
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def lookup(noun: str, name: str, table: Mapping[str, T]) -> T:
    """The value of a name, or an error that lists the names there are."""
    if name not in table:
        raise SettingError(f"no {noun} is called {name!r}: {suggestion(name, table)}")
    return table[name]
