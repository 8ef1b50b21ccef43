"""Policies by name: `PDGD(learning_rate=0.1)`, and `pairrank@paper` for the settings of a paper."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from typing import TypeAlias

from rankloop import policies
from rankloop.errors import SettingError
from rankloop.naming import read_name, write_name
from rankloop.policies.paper_settings import PAPER
from rankloop.policy import Policy

PolicyKinds: TypeAlias = Mapping[str, type[Policy]]


def list_policies(values: Iterable[object]) -> dict[str, type[Policy]]:
    """Find the policies among values such as those of a module, by the names of their classes."""
    kinds = (each for each in values if isinstance(each, type) and issubclass(each, Policy))
    return {each.__name__: each for each in kinds if not inspect.isabstract(each)}


POLICIES: PolicyKinds = dict(sorted(list_policies(vars(policies).values()).items()))


def read_policy(text: str, kinds: PolicyKinds = POLICIES) -> Policy:
    """Make the policy that a text names, of those in a table.

    >>> read_policy("epsilon-greedy(epsilon=0.2)").epsilon
    0.2
    >>> read_policy("PairRank(certainty=Width(0.1))").certainty
    Width(alpha=0.1, diagonal=False)
    >>> read_policy("ranknet@paper(learning_rate=0.1)").pairing  # as the paper has it, but for the rate
    'adjacent'
    """
    named: dict[str, type[Policy] | str] = {**kinds, **{name: each.policy for name, each in PAPER.items()}}
    return read_name(text, named)


def write_policy(policy: Policy, kinds: PolicyKinds = POLICIES, *, defaults: bool = False) -> str:
    """Write the text that makes the policy again, without what it learned.

    One that is not in the table is named by where its class is: `shop.ranking.Mine()`.

    >>> from rankloop.policies import PDGD
    >>> from rankloop.scorers import MLP
    >>> write_policy(PDGD()), write_policy(PDGD(scorer=MLP((64, 32)), decay=0.9))
    ('PDGD()', 'PDGD(scorer=MLP(hidden=(64, 32)), decay=0.9)')
    """
    kind = type(policy)
    if kinds.get(kind.__name__) is kind:
        return write_name(policy, defaults)
    if not kind.__qualname__.isidentifier():
        raise SettingError(f"{kind.__qualname__} is defined inside something else: define it in a module")
    return write_name(policy, defaults, name=f"{kind.__module__}.{kind.__name__}")
