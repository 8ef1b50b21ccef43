"""Names on the command line and the objects they stand for: the one table."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any, TypeVar

from rankloop import policies
from rankloop.experiments import probes
from rankloop.experiments.probes import Probe
from rankloop.experiments.skylines import OfflineLambdaRank, OfflineRankNet, OnlineLambdaRank
from rankloop.interleaving import Probabilistic, TeamDraft
from rankloop.policies import (
    Diagonal,
    DiagonalWidth,
    DocumentSpace,
    Exact,
    Full,
    Policy,
    Projected,
    ReplayMemory,
    Sure,
    Theory,
    TrueDocumentSpace,
    Width,
)
from rankloop.scorers import MLP, Linear
from rankloop.types import SettingError, suggestion
from rankloop.users import CASCADE_TABLES, Preset

POLICIES: Mapping[str, type[Policy]] = {
    kind.name: kind
    for kind in vars(policies).values()
    if isinstance(kind, type) and issubclass(kind, Policy) and kind.name
}
PROBES: Mapping[str, type[Probe]] = {
    kind.name: kind
    for kind in vars(probes).values()
    if isinstance(kind, type) and issubclass(kind, Probe) and kind.name
}
SKYLINES: Mapping[str, type[OfflineRankNet]] = {
    kind.name: kind for kind in (OfflineRankNet, OfflineLambdaRank, OnlineLambdaRank)
}
T = TypeVar("T")
USERS = tuple(CASCADE_TABLES)
STOPS = {"click": ("click",), "every": ("every",), "both": ("click", "every")}
PARTS: Mapping[str, Mapping[str, Callable[..., object]]] = {  # settings that are objects themselves
    "interleaving": {"team-draft": TeamDraft, "probabilistic": Probabilistic},
    "scorer": {"linear": Linear, "mlp": MLP},
    "covariance": {"full": Full, "diagonal": Diagonal, "projected": Projected},
    "training": {"replay-memory": ReplayMemory, "exact": Exact},
    "certainty": {"sure": Sure, "width": Width, "diagonal": DiagonalWidth, "theory": Theory},
    "projection": {"document-space": DocumentSpace, "true-document-space": TrueDocumentSpace},
}


def split_names(text: str) -> list[str]:
    """The names in a comma-separated list; `key=value` belongs to the name before it.

    >>> split_names("mgd:candidates=49,interleaving=probabilistic,pdgd")
    ['mgd:candidates=49,interleaving=probabilistic', 'pdgd']
    """
    names: list[str] = []
    for part in (part.strip() for part in _split(text)):
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
    >>> policy("pdgd:scorer=mlp((64,32),scale=1)").scorer
    MLP(hidden=(64, 32), scale=1, seed=0)
    >>> policy("mgd:projection=document-space(3,recent=20)").projection
    DocumentSpace(recent=20, trust=1.0, unit=False, k=3)
    """
    return _make("policy", name, POLICIES)


def probe(name: str) -> Probe:
    """The probe a name stands for, with the settings after the colon.

    >>> probe("block-size:ranks=(1,3),every=5")
    BlockSizes(every=5, ranks=(1, 3))
    """
    return _make("probe", name, PROBES)


def skyline(name: str) -> OfflineRankNet:
    """The skyline a name stands for, with the settings after the colon.

    >>> skyline("offline-lambdarank:steps=500").steps
    500
    """
    return _make("skyline", name, SKYLINES)


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


def users(text: str, stop: str) -> dict[str, Preset]:
    """The users in a comma-separated list under a reading of stop, or under both.

    >>> list(users("perfect,navigational:stop=every", "both"))
    ['perfect', 'navigational:stop=every', 'perfect:stop=every']
    """
    chosen = {}
    for reading in lookup("reading of stop", stop, STOPS):
        for name in split_names(text):
            full = name if ":" in name or reading == "click" else f"{name}:stop={reading}"
            chosen[full] = user(full)
    return chosen


def settings_of(kind: type) -> list[str]:
    """The settings of a policy, probe or skyline with their defaults, as they are written after the colon.

    >>> settings_of(POLICIES["epsilon-greedy"])
    ['scorer=linear', 'learning_rate=0.001', 'epsilon=0.1']
    """
    made = kind()
    values = {each.name: getattr(made, each.name) for each in fields(kind) if each.init}
    return [name if value is None else f"{name}={_written(name, value)}" for name, value in values.items()]


def _written(key: str, value: object) -> str:
    for name, make in PARTS.get(key, {}).items():
        if value == make():
            return name
    return value if isinstance(value, str) else repr(value).replace(" ", "")


def _make(noun: str, name: str, table: Mapping[str, type[T]]) -> T:
    kind, settings = _parse(name)
    make = lookup(noun, kind, table)
    known = {setting.name: setting.default for setting in fields(make) if setting.init}  # type: ignore[arg-type]
    for key, value in settings.items():
        if key not in known:
            raise SettingError(f"{kind} has no setting {key!r}: {suggestion(key, known)}")
        if isinstance(known[key], int | float) and isinstance(value, str):
            raise SettingError(
                f"{kind}: expected {key}=<a number>, as in {key}={known[key]}, found {value!r}"
            )
    try:
        return make(**settings)
    except TypeError as error:
        raise SettingError(f"{name!r}: {error}") from error


def _split(text: str) -> list[str]:
    """Parts between commas, except commas in parentheses."""
    return re.split(r",(?![^()]*\))", text)


def _parse(name: str) -> tuple[str, dict[str, Any]]:
    kind, _, rest = name.partition(":")
    settings = {}
    for part in _split(rest) if rest else ():
        key, equals, value = part.partition("=")
        if not equals:
            raise SettingError(f"{name!r}: expected <name>:<setting>=<value>,..., found {part!r}")
        settings[key.strip()] = _value(key.strip(), value.strip())
    return kind, settings


def _value(key: str, text: str) -> object:
    if key in PARTS:
        part, opened, argument = text.removesuffix(")").partition("(")
        if bool(opened) != text.endswith(")"):
            raise SettingError(f"{key}: expected <name> or <name>(<value>), found {text!r}")
        make = lookup(key, part, PARTS[key])
        given = [item.partition("=") for item in _split(argument)] if argument else []
        values = [_literal(value) for value, equals, _ in given if not equals]
        settings = {name.strip(): _literal(value.strip()) for name, equals, value in given if equals}
        known = [setting.name for setting in fields(make)]  # type: ignore[arg-type]
        for name in settings:
            if name not in known:
                raise SettingError(f"{part} has no setting {name!r}: {suggestion(name, known)}")
        try:
            return make(*values, **settings)
        except TypeError as error:
            form = f"{part}(<setting>=<value>,...)" if settings else f"{part}(<number>)"
            raise SettingError(f"{key}: expected {part} or {form}, found {text!r}") from error
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
