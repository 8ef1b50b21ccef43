"""Configuration of a ranker: a fold of the decisions in its log, and of nothing else.

The same decisions give the same settings, mode, schemas and closed lists in every thread and every process,
and inside a transaction that has just written one more decision.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, TypeAlias

from rankloop.errors import RankloopError, SettingError
from rankloop.policies import Policy
from rankloop.policies.policy_names import PolicyKinds
from rankloop.service.core.feature_schema import FeatureSchema
from rankloop.service.core.job_record import LongJob, jobs_after
from rankloop.service.core.ranker_settings import (
    BaseRankerSettings,
    Mode,
    build_policy,
    default_policy,
    find_signal,
)
from rankloop.service.core.settings_record import read_settings
from rankloop.service.store import Decision, Store
from rankloop.types import Signal

DEFAULTS = BaseRankerSettings()
States: TypeAlias = Mapping[str, Any]  # what each extension has decided, by its name; None: nothing


class KnowsDecisions(Protocol):
    """A transaction, as far as a fold of decisions needs it."""

    def read_decisions(self, ranker: str, *, after: int = 0) -> Iterable[Decision]:
        """Return the decisions after an entry, in order, with those that this transaction wrote."""
        ...


class DecidesExtensions(Protocol):
    """A registry of extensions, as far as their settings and their decided state are concerned."""

    @property
    def settings_type(self) -> type[BaseRankerSettings]:
        """The settings of a ranker, with a field for each extension that has some."""
        ...

    def decide(self, states: States, decision: Decision, before: Configuration) -> States:
        """Return the state of each extension after one more decision, made under a configuration."""
        ...


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Configuration:
    """Settings, mode, schemas and closed lists after a decision of the log.

    Settings that this process cannot read, or whose policy it does not have, leave `problem`: the ranker then
    shows the caller's order, and its events are taken in by what can be read of its settings. An exposure
    account that cannot be read is not kept meanwhile.
    """

    position: int = 0  # the last decision that was folded
    settings: BaseRankerSettings = DEFAULTS
    policy: Policy = field(default_factory=default_policy)  # of these settings
    settings_version: int = 0
    verdict_window: float = DEFAULTS.window  # of the log's settings, by which events get verdicts
    mode: Mode = "explore"
    mode_since: int = 0  # the entry that set it
    schema: FeatureSchema = field(default_factory=FeatureSchema)
    context_schema: FeatureSchema = field(default_factory=FeatureSchema)  # features of who asks
    flushed_until: int = 0  # the last entry that closed all lists shown before it
    deleted: int = 0  # the last entry that deleted people's data
    jobs: Mapping[int, LongJob] = field(default_factory=dict)  # by number, also those that have ended
    extension_states: States = field(default_factory=dict)
    problem: str = ""

    @property
    def signal(self) -> Signal:
        """What the policy is taught: grades, if there are any and it accepts them, or else clicks."""
        return find_signal(self.settings, self.policy)

    @property
    def waiting(self) -> tuple[LongJob, ...]:
        """The jobs that have not ended, in the order in which they are done."""
        return tuple(job for _, job in sorted(self.jobs.items()) if job.waits)

    def after(
        self, decision: Decision, registry: DecidesExtensions, policy_kinds: PolicyKinds
    ) -> Configuration:
        """Return the configuration after one more decision."""
        states = registry.decide(self.extension_states, decision, self)
        jobs, changes = jobs_after(self.jobs, decision), self._changes(decision, registry, policy_kinds)
        return replace(self, position=decision.seq, jobs=jobs, extension_states=states, **changes)

    def _changes(  # noqa: PLR0911  # one for each kind
        self, decision: Decision, registry: DecidesExtensions, policy_kinds: PolicyKinds
    ) -> Mapping[str, Any]:
        """What a decision changes of the configuration itself, by field."""
        body, seq = decision.body, decision.seq
        match decision.kind:
            case "settings":
                return {**_read(body["settings"], registry, policy_kinds), "settings_version": seq}
            case "mode":
                return {"mode": body["mode"], "mode_since": seq}
            case "schema":
                return {"schema": self.schema.add(body["names"])}
            case "retire":
                return {"schema": self.schema.retire(body["columns"], seq)}
            case "context":
                return {"context_schema": self.context_schema.add(body["names"])}
            case "flush":
                return {"flushed_until": seq}
            case "delete":
                return {"deleted": seq}
        return {}

    def after_all(
        self, decisions: Iterable[Decision], registry: DecidesExtensions, policy_kinds: PolicyKinds
    ) -> Configuration:
        """Return the configuration after many more decisions."""
        found = self
        for decision in decisions:
            found = found.after(decision, registry, policy_kinds)
        return found

    def within(
        self, transaction: KnowsDecisions, ranker: str, registry: DecidesExtensions, policy_kinds: PolicyKinds
    ) -> Configuration:
        """Return the configuration inside a transaction; not to be kept, as it may never be durable."""
        decisions = transaction.read_decisions(ranker, after=self.position)
        return self.after_all(decisions, registry, policy_kinds)


def configuration_at(
    store: Store,
    ranker: str,
    registry: DecidesExtensions,
    policy_kinds: PolicyKinds,
    *,
    seq: int | None = None,
) -> Configuration:
    """Return the configuration after an entry of the log; without one, the configuration now."""
    decisions = (each for each in store.read_decisions(ranker) if seq is None or each.seq <= seq)
    found = Configuration().after_all(decisions, registry, policy_kinds)
    return found if seq is None else replace(found, position=seq)


def _read(
    data: Mapping[str, Any], registry: DecidesExtensions, policy_kinds: PolicyKinds
) -> Mapping[str, Any]:
    """Read logged settings and build their policy; what cannot be read or built here leaves a problem."""
    settings, problem = _read_known(data, registry.settings_type)
    try:
        policy = build_policy(settings.policy, policy_kinds)
    except (RankloopError, TypeError, ValueError) as error:
        policy, problem = default_policy(), problem or f"its policy cannot be built: {error}"
    window = settings.window
    return {"settings": settings, "policy": policy, "verdict_window": window, "problem": problem}


def _read_known(data: Mapping[str, Any], kind: type[BaseRankerSettings]) -> tuple[BaseRankerSettings, str]:
    """Read logged settings; of those that cannot be read as they are, what can be read field by field."""
    try:
        return read_settings(kind, data), ""
    except SettingError as error:
        problem = f"its settings cannot be read: {error}"
    known = kind()
    for name, value in data.items():
        with suppress(SettingError):
            known = read_settings(kind, {**known.to_log(), name: value})
    return known, problem
