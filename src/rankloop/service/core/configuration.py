"""What is in force for a ranker: a fold of the decisions in its log, and of nothing else.

Whoever folds the same decisions gets the same settings, mode, schema and closed lists: another thread,
another process, a transaction in which one more decision was just written.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, TypeVar

from rankloop.errors import RankloopError
from rankloop.policies.policy_names import PolicyKinds
from rankloop.service.core.job_record import KINDS as JOB_KINDS
from rankloop.service.core.job_record import LongJob, jobs_after
from rankloop.service.core.ranker_settings import Mode, RankerSettings
from rankloop.service.extensions.fair.settings import FairSettings
from rankloop.service.extensions.promise.settings import PromiseSettings
from rankloop.service.extensions.trial.trial_state import KINDS as TRIAL_KINDS
from rankloop.service.extensions.trial.trial_state import Trial, trial_after
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
KINDS = tuple(
    {"schema", "context", "flush", "delete", *TRIAL_KINDS, *JOB_KINDS}
)  # that change what is in force


class KnowsDecisions(Protocol):
    """A transaction, as far as a fold of decisions needs it."""

    def read_decisions(self, ranker: str, *, after: int = 0) -> Iterable[Decision]:
        """What was decided after an entry, in order; also what this transaction wrote."""
        ...


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Configuration:
    """Settings, mode, schema and closed lists after a decision of the log.

    Settings that this process cannot read, because they name a policy it does not have, leave `problem`: the
    ranker then shows the caller's order, and its events are taken in by what can be read of its settings. An
    exposure account that cannot be read is not kept meanwhile.
    """

    position: int = 0  # the last decision that was folded
    settings: RankerSettings = field(default_factory=RankerSettings)
    settings_version: int = 0
    account: int = 0  # the entry with which the exposure account began; 0: there is none
    promise: int = 0  # the entry with which the promise began; 0: nothing is promised
    mode: Mode = "explore"
    mode_since: int = 0  # the entry that set it
    schema: Mapping[str, int] = field(default_factory=dict)  # features by name: their column
    names: tuple[str, ...] = ()  # of all columns, also of retired features; one may come twice
    retired: Mapping[int, int] = field(
        default_factory=dict
    )  # columns of retired features: the entry that did
    context_schema: Mapping[str, int] = field(
        default_factory=dict
    )  # features of who asks, by name: their column
    flushed_until: int = 0  # the last entry that closed all lists shown before it
    deleted: int = 0  # the last entry that deleted people's data
    trial: Trial | None = None  # the last one, also if it has ended
    jobs: Mapping[int, LongJob] = field(default_factory=dict)  # by number, also those that have ended
    problem: str = ""

    def after(self, decision: Decision, policy_kinds: PolicyKinds) -> Configuration:
        """What is in force after one more decision."""
        trial = trial_after(self.trial, decision, self.mode)
        jobs = jobs_after(self.jobs, decision)
        found = self._decided(decision, policy_kinds)
        return found if trial is self.trial and jobs is self.jobs else replace(found, trial=trial, jobs=jobs)

    @property
    def waiting(self) -> tuple[LongJob, ...]:
        """The jobs that have not ended, in the order in which they are done."""
        return tuple(job for _, job in sorted(self.jobs.items()) if job.waits)

    def _decided(self, decision: Decision, policy_kinds: PolicyKinds) -> Configuration:
        body, seq = decision.body, decision.seq
        if decision.kind == "settings":
            settings, problem = _readable(body["settings"], policy_kinds)
            account = (
                self.account
                if _told(settings.fair) == _told(self.settings.fair)
                else seq
                if settings.fair
                else 0
            )
            same = settings.promise == self.settings.promise
            promise = self.promise if same else seq if settings.promise else 0
            return replace(
                self,
                position=seq,
                settings=settings,
                settings_version=seq,
                account=account,
                promise=promise,
                problem=problem,
            )
        if decision.kind == "mode":
            return replace(self, position=seq, mode=body["mode"], mode_since=seq)
        if decision.kind in ("schema", "retire"):
            names, columns = body["names"], body.get("columns")
            return self._with(names, seq) if columns is None else self._without(columns, seq)
        if decision.kind == "context":
            return replace(self, position=seq, context_schema=_longer(self.context_schema, body["names"]))
        flushed = seq if decision.kind == "flush" else self.flushed_until
        deleted = seq if decision.kind == "delete" else self.deleted
        return replace(self, position=seq, flushed_until=flushed, deleted=deleted)

    def _with(self, names: Iterable[str], seq: int) -> Configuration:
        """New features get the next columns; one that was retired is new."""
        fresh = tuple(name for name in dict.fromkeys(names) if name not in self.schema)
        columns = {name: len(self.names) + number for number, name in enumerate(fresh)}
        return replace(self, position=seq, schema={**self.schema, **columns}, names=(*self.names, *fresh))

    def _without(self, columns: Iterable[int], seq: int) -> Configuration:
        """Features are retired: their columns stay, and nobody has them any more."""
        retired = {**dict.fromkeys(columns, seq), **self.retired}
        schema = {name: column for name, column in self.schema.items() if column not in retired}
        return replace(self, position=seq, schema=schema, retired=retired)

    def after_all(self, decisions: Iterable[Decision], policy_kinds: PolicyKinds) -> Configuration:
        """What is in force after many more decisions."""
        found = self
        for decision in decisions:
            found = found.after(decision, policy_kinds)
        return found

    def within(self, transaction: KnowsDecisions, ranker: str, policy_kinds: PolicyKinds) -> Configuration:
        """What is in force inside a transaction: it sees what is not durable yet, so nobody may keep it."""
        return self.after_all(transaction.read_decisions(ranker, after=self.position), policy_kinds)


def configuration_at(
    store: Store, ranker: str, policy_kinds: PolicyKinds, *, until: int | None = None
) -> Configuration:
    """What was in force after an entry of the log; without one, what is in force now."""
    chosen = (decision for kind in KINDS for decision in store.read_decisions(ranker, kind=kind))
    ordered = sorted(chosen, key=lambda decision: decision.seq)
    kept = [decision for decision in ordered if until is None or decision.seq <= until]
    found = Configuration().after_all(kept, policy_kinds)
    return found if until is None else replace(found, position=until)


def _readable(data: Mapping[str, Any], policy_kinds: PolicyKinds) -> tuple[RankerSettings, str]:
    """The settings, or as much of them as this process can read, and in words what it cannot."""
    try:
        return RankerSettings.from_json(data, policy_kinds), ""
    except (RankloopError, TypeError, ValueError, KeyError) as error:
        rest = {name: value for name, value in data.items() if name in READABLE}
        rest["fair"] = _readable_part(FairSettings, rest.get("fair"))
        rest["promise"] = _readable_part(PromiseSettings, rest.get("promise"))
        return RankerSettings(**rest), f"its settings cannot be read: {error}"


def _readable_part(kind: type[Part], data: Any) -> Part | None:
    """How exposure is shared, or what is promised; None also if this process cannot read it."""
    try:
        return None if data is None else kind.from_json(data)
    except (RankloopError, TypeError, ValueError, KeyError):
        return None


def _longer(schema: Mapping[str, int], names: Iterable[str]) -> dict[str, int]:
    """New features get the next columns; one that is known keeps its own."""
    longer = dict(schema)
    for name in names:
        longer.setdefault(name, len(longer))
    return longer


def _told(fair: FairSettings | None) -> dict[str, Any] | None:
    return None if fair is None else fair.to_json()
