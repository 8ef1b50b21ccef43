"""Policies as the command line names them: also a class of one's own, by where it is defined."""

from __future__ import annotations

import importlib
import inspect
import sys
from pathlib import Path
from types import ModuleType

from rankloop.errors import SettingError, suggest_name
from rankloop.lab.baselines import ALL_POLICIES
from rankloop.policies.policy_names import POLICIES, PolicyKinds, list_policies, read_policy
from rankloop.policy import Policy


def read_any_policy(text: str, kinds: PolicyKinds = ALL_POLICIES) -> Policy:
    """Make the policy that a text names, or one of your own: `shop.ranking.Mine(rate=0.1)`.

    Its module may be in the folder where the command was given. Only the command line does this, because it
    imports code.

    >>> read_any_policy("pdgd(learning_rate=0.5)").learning_rate
    0.5
    >>> read_any_policy("rankloop.policies.gradient.pdgd.PDGD(learning_rate=0.5)").learning_rate
    0.5
    """
    address = text.partition("(")[0].strip()
    if "." not in address or ":" in address:
        return read_policy(text, kinds)
    return read_policy(text, {address: find_class(address)})


def read_served_policy(text: str) -> Policy:
    """Make the policy that a text names in a service: it starts from the caller's order, a paper's does not.

    >>> read_served_policy("pairrank").caller_order, read_served_policy("pairrank@paper").caller_order
    ('decent', None)
    """
    from rankloop.service.core.ranker_settings import trusting  # noqa: PLC0415

    policy = read_any_policy(text, POLICIES)
    return policy if "@" in text else trusting(policy)


def find_class(address: str) -> type[Policy]:
    """Import the policy class at `package.module.Class`.

    >>> find_class("rankloop.policies.gradient.pdgd.PDGD")
    <class 'rankloop.policies.gradient.pdgd.PDGD'>
    """
    name, _, kind = address.rpartition(".")
    module = _module(name)
    found = getattr(module, kind, None)
    if found is None:
        raise SettingError(
            f"{name} has no class {kind!r}: {suggest_name(kind, list_policies(vars(module).values()))}"
        )
    if not (isinstance(found, type) and issubclass(found, Policy)):
        raise SettingError(f"{address} is no policy: expected a class that extends rankloop.Policy")
    if inspect.isabstract(found):
        missing = ", ".join(sorted(found.__abstractmethods__))
        raise SettingError(f"{address} is no whole policy: it does not define {missing}")
    return found


def _module(name: str) -> ModuleType:
    if (here := str(Path.cwd())) not in sys.path:
        sys.path.append(here)  # worker processes take it over
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name and (name == error.name or name.startswith(f"{error.name}.")):
            raise SettingError(
                f"no module is called {name!r}: it is neither in this folder nor installed; a policy of your "
                "own is named package.module.Class"
            ) from error
        raise SettingError(f"{name} cannot be imported: {error}") from error
    except Exception as error:
        raise SettingError(f"{name} cannot be imported: {type(error).__name__}: {error}") from error
