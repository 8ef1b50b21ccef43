"""The policies that have a name, and those of your own that are found where they are defined."""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Iterable, Mapping
from types import ModuleType
from typing import TypeAlias, TypeVar

from rankloop import policies
from rankloop.errors import SettingError, suggest_name
from rankloop.lab import baselines  # until names are tables that folders pass in
from rankloop.policies import Policy
from rankloop.types import Signal

Catalogue: TypeAlias = Mapping[str, type[Policy]]
T = TypeVar("T")

_OWN = re.compile(r"(?P<module>[A-Za-z_][\w.]*):(?P<kind>[A-Za-z_]\w*)(:(?P<settings>.*))?")


def catalogue(own: Iterable[type[Policy]] = (), *, learns_from: Signal | None = None) -> Catalogue:
    """The policies that have a name: those of rankloop that learn from this, or all of them, and your own.

    >>> "pairrank" in catalogue(), "offline-ranknet" in catalogue(learns_from="clicks")
    (True, False)
    """
    shipped = (kind for kind in (vars(policies) | vars(baselines)).values() if isinstance(kind, type))
    named = (kind for kind in shipped if issubclass(kind, Policy) and kind.name)
    known = [kind for kind in named if learns_from is None or kind.accepts(learns_from)]
    return {kind.name: kind for kind in [*sorted(known, key=lambda kind: kind.name), *own]}


def lookup(noun: str, name: str, table: Mapping[str, T]) -> T:
    """The value of a name, or an error that lists the names there are."""
    if name not in table:
        raise SettingError(f"no {noun} is called {name!r}: {suggest_name(name, table)}")
    return table[name]


def split_own(text: str) -> tuple[str, str] | None:
    """The address of a class and its settings in `package.module:Class:setting=value`; None for other texts.

    >>> split_own("shop.ranking:Mine:rate=0.1"), split_own("pdgd:decay=0.9")
    (('shop.ranking:Mine', 'rate=0.1'), None)
    """
    found = _OWN.fullmatch(text)
    return (f"{found['module']}:{found['kind']}", found["settings"] or "") if found else None


def own_class(address: str) -> type[Policy]:
    """The policy class at `package.module:Class`.

    >>> own_class("rankloop.policies.gradient.pdgd:PDGD")
    <class 'rankloop.policies.gradient.pdgd.PDGD'>
    """
    name, _, kind = address.partition(":")
    module = _module(name)
    found = getattr(module, kind, None)
    if found is None:
        raise SettingError(f"{name} has no class {kind!r}: {suggest_name(kind, _policies_in(module))}")
    if not (isinstance(found, type) and issubclass(found, Policy)):
        raise SettingError(f"{address} is no policy: expected a class that extends rankloop.policies.Policy")
    if missing := sorted(found.__abstractmethods__):
        raise SettingError(f"{address} is no whole policy: it does not define {', '.join(missing)}")
    return found


def address_of(kind: type[Policy]) -> str:
    """Where a class is found again: `package.module:Class`.

    >>> address_of(policies.PDGD)
    'rankloop.policies.gradient.pdgd:PDGD'
    """
    if not kind.__qualname__.isidentifier():
        raise SettingError(
            f"{kind.__qualname__} is defined inside something else: define it in a module, to be found again"
        )
    return f"{kind.__module__}:{kind.__name__}"


def _module(name: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name and (name == error.name or name.startswith(f"{error.name}.")):
            raise SettingError(
                f"no module is called {name!r}: it is neither in this folder nor installed; a policy of your "
                "own is named package.module:Class"
            ) from error
        raise SettingError(f"{name} cannot be imported: {error}") from error
    except Exception as error:
        raise SettingError(f"{name} cannot be imported: {type(error).__name__}: {error}") from error


def _policies_in(module: ModuleType) -> list[str]:
    kinds = inspect.getmembers(module, lambda value: isinstance(value, type) and issubclass(value, Policy))
    return [name for name, kind in kinds if not kind.__abstractmethods__]
