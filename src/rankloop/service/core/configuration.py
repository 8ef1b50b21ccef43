"""Configuration of a ranker: a fold of the decisions in its log, and of nothing else.

The same decisions give the same settings, mode, schemas and closed lists in every thread and every process,
and inside a transaction that has just written one more decision.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, TypeAlias, TypeVar

from rankloop.errors import RankloopError
from rankloop.policies.policy_names import PolicyKinds
from rankloop.service.core.feature_schema import FeatureSchema
from rankloop.service.core.job_record import LongJob, jobs_after
from rankloop.service.core.ranker_settings import Mode, RankerSettings
from rankloop.service.extensions.fair.settings import FairSettings
from rankloop.service.extensions.promise.settings import PromiseSettings
from rankloop.service.store import Decision, Store

Part = TypeVar("Part", FairSettings, PromiseSettings)
READABLE = (
    "window",
    "actions",
    "learn_late",
    "grades",
    "highest_grade",
    "reading",
    "fair",
    "source_lists",
    "source_repeats",
    "source_window",
    "promise",
)  # without the policy
States: TypeAlias = Mapping[str, Any]  # what each extension has decided, by its name; None: nothing


class KnowsDecisions(Protocol):
    """A transaction, as far as a fold of decisions needs it."""

    def read_decisions(self, ranker: str, *, after: int = 0) -> Iterable[Decision]:
        """Return the decisions after an entry, in order, with those that this transaction wrote."""
        ...


class DecidesExtensions(Protocol):
    """A registry of extensions, as far as their decided state is concerned."""

    def decide(self, states: States, decision: Decision, before: Configuration) -> States:
        """Return the state of each extension after one more decision, made under a configuration."""
        ...


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Configuration:
    """Settings, mode, schemas and closed lists after a decision of the log.

    Settings that this process cannot read, because they name a policy it does not have, leave `problem`: the
    ranker then shows the caller's order, and its events are taken in by what can be read of its settings. An
    exposure account that cannot be read is not kept meanwhile.
    """

    position: int = 0  # the last decision that was folded
    settings: RankerSettings = field(default_factory=RankerSettings)
    settings_version: int = 0
    verdict_window: float = RankerSettings().window  # of the log's settings, by which events get verdicts
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
    def waiting(self) -> tuple[LongJob, ...]:
        """The jobs that have not ended, in the order in which they are done."""
        return tuple(job for _, job in sorted(self.jobs.items()) if job.waits)

    def after(
        self, decision: Decision, registry: DecidesExtensions, policy_kinds: PolicyKinds
    ) -> Configuration:
        """Return the configuration after one more decision."""
        states = registry.decide(self.extension_states, decision, self)
        jobs, changes = jobs_after(self.jobs, decision), self._changes(decision, policy_kinds)
        return replace(self, position=decision.seq, jobs=jobs, extension_states=states, **changes)

    def _changes(self, decision: Decision, policy_kinds: PolicyKinds) -> Mapping[str, Any]:  # noqa: PLR0911  # one for each kind
        """What a decision changes of the configuration itself, by field."""
        body, seq = decision.body, decision.seq
        match decision.kind:
            case "settings":
                settings, problem = _readable(body["settings"], policy_kinds)
                return {
                    "settings": settings,
                    "settings_version": seq,
                    "verdict_window": settings.window,
                    "problem": problem,
                }
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


def _readable(data: Mapping[str, Any], policy_kinds: PolicyKinds) -> tuple[RankerSettings, str]:
    """The settings, or as much of them as this process can read, and in words what it cannot."""
    try:
        return RankerSettings.from_json(data, policy_kinds), ""
    except (RankloopError, TypeError, ValueError, KeyError) as error:
        rest = {name: value for name, value in data.items() if name in READABLE}
        rest["fair"] = read_part(FairSettings, rest.get("fair"))
        rest["promise"] = read_part(PromiseSettings, rest.get("promise"))
        return RankerSettings(**rest), f"its settings cannot be read: {error}"


def read_part(kind: type[Part], data: Any) -> Part | None:
    """How exposure is shared, or what is promised; None also if this process cannot read it."""
    try:
        return None if data is None else kind.from_json(data)
    except (RankloopError, TypeError, ValueError, KeyError):
        return None
