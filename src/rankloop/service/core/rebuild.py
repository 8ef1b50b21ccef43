"""Rebuild of what was learned: all that a fold depends on beside the log."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace

from rankloop.policies import Policy
from rankloop.service.core.configuration import Configuration
from rankloop.service.core.ranker_settings import BaseRankerSettings


@dataclass(frozen=True, kw_only=True)
class RebuildSpec:
    """What a fold passes over, and the settings under which it learns.

    >>> RebuildSpec().digest == RebuildSpec(without=frozenset({"click-7"})).digest
    False
    """

    without: frozenset[str] = frozenset()  # events, as if they had never been
    settings: BaseRankerSettings | None = None  # as if they had always held; None: those of the log
    policy: Policy | None = None  # of these settings
    first_entry: int = 0  # at which the log begins
    width: int = 0  # features it begins with
    retired: frozenset[int] = frozenset()  # columns of features that it never sees

    @property
    def digest(self) -> str:
        """The same for the same fold."""
        settings = None if self.settings is None else self.settings.to_log()
        said = json.dumps(
            [sorted(self.without), settings, self.first_entry, self.width, sorted(self.retired)],
            sort_keys=True,
        )
        return hashlib.blake2b(said.encode(), digest_size=16).hexdigest()

    def configure(self, logged: Configuration) -> Configuration:
        """Return the configuration under which the fold learns, from that of the log.

        Settings that are given take the place of the log's; the window by which events got their verdicts
        stays the log's.
        """
        if self.settings is None or self.policy is None:
            return logged
        return replace(logged, settings=self.settings, policy=self.policy, problem="")


def first_width(policy: Policy, features: int) -> int:
    """How many features a policy begins with that learns a log again: all, if it can take no more later."""
    return features if policy.widened(features + 1) is None else 0
