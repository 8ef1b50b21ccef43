"""Rankers of a service, by name: created, configured and told to learn."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Self

from rankloop.errors import RequestError, SettingError, suggest_name
from rankloop.naming import write_name
from rankloop.policies.policy_names import PolicyKinds
from rankloop.service.core.background_thread import LearningThread
from rankloop.service.core.configuration import Configuration
from rankloop.service.core.creation import begin as begin_log
from rankloop.service.core.decision_kind import sign_decision
from rankloop.service.core.extension import Registry
from rankloop.service.core.learner import LearningRounds
from rankloop.service.core.lists.ranked_lists import RankedLists
from rankloop.service.core.ranker import Ranker
from rankloop.service.core.ranker_settings import (
    BaseRankerSettings,
    Mode,
    check_mode,
    check_policy_can_serve,
    complete_settings,
    parse_settings,
)
from rankloop.service.core.settings_change import SettingsPreview, changed_settings, patched, preview
from rankloop.service.store import Store, Transaction
from rankloop.service.store.learner_election import ALONE, Election
from rankloop.short_text import check_text


@dataclass(frozen=True, slots=True, eq=False)
class RankerInfo:
    """A ranker as of now."""

    name: str
    policy: str  # by name
    mode: Mode
    settings: BaseRankerSettings
    settings_version: int
    model_version: int
    features: tuple[str, ...]  # by column

    @classmethod
    def of(cls, ranker: Ranker) -> Self:
        """What is in force, as of one moment."""
        configuration, model = ranker.view.configuration, ranker.view.model
        return cls(
            name=ranker.name,
            policy=write_name(configuration.policy),
            mode=configuration.mode,
            settings=configuration.settings,
            settings_version=configuration.settings_version,
            model_version=model.version,
            features=tuple(configuration.schema.columns),
        )


class Rankers:
    """Rankers of a service, as `service.rankers`.

    Each decision is written to the log with who decided it (`by`, as a rule the name of a key) and why
    (`reason`). With a `learner`, a thread learns and looks for rankers that other processes create.
    """

    def __init__(
        self,
        store: Store,
        registry: Registry,
        policy_kinds: PolicyKinds,
        *,
        clock: Callable[[], float],
        election: Election = ALONE,
        begin: bool = True,
    ) -> None:
        self.store, self.registry, self.policy_kinds = store, registry, policy_kinds
        self.clock, self.election = clock, election
        self.learner: LearningThread | None = None
        self.by_name: Mapping[str, Ranker] = {}  # replaced as a whole
        self._naming = threading.Lock()
        self._waiting: set[RankedLists] = set()  # those with lists to write, because the store is away
        self.rounds = LearningRounds(store, self._opened, self._waiting)
        self.discover(begin=begin)

    def create(
        self,
        ranker: str,
        settings: BaseRankerSettings | None = None,
        *,
        mode: Mode = "explore",
        by: str = "",
        reason: str = "",
    ) -> None:
        """Create a ranker; nothing happens if it exists with the same settings."""
        check_text("a ranker's name", ranker)
        check_mode(mode)
        wanted = self.check_settings(settings or self.registry.settings_type())
        said = sign_decision(by, reason)
        created = begin_log(self.store, ranker, wanted, mode, at=self.clock(), said=said)
        self.discover()
        if not created and settings is not None and self.get(ranker).settings.to_json() != wanted.to_json():
            raise SettingError(f"there is a ranker {ranker!r} with other settings: use configure")

    def names(self) -> list[str]:
        """Return the names of the rankers, in alphabetical order."""
        return sorted(self.by_name)

    def get(self, name: str) -> Ranker:
        """Return a ranker by name; without a learner, one that another process has just created, too."""
        if name not in self.by_name and self.learner is None:
            self.discover()
        if name not in self.by_name:
            choices = suggest_name(name, self.by_name) if self.by_name else "none was created yet"
            raise RequestError(f"no ranker is called {name!r}: {choices}")
        return self.by_name[name]

    def describe(self, ranker: str) -> RankerInfo:
        """Return the policy, mode, settings, version and features of a ranker, as of one moment."""
        return RankerInfo.of(self.get(ranker))

    def describe_all(self) -> list[RankerInfo]:
        """Return what `describe` says of every ranker, in the order of their names."""
        return [RankerInfo.of(found) for _, found in sorted(self.by_name.items())]

    def configure(
        self,
        ranker: str,
        settings: BaseRankerSettings,
        *,
        version: int | None = None,
        by: str = "",
        reason: str = "",
    ) -> int:
        """Replace the settings of a ranker; return their version.

        With a `version`, the change is refused unless that version is in force: nobody overwrites the change
        of somebody else. What was learned stays if the new policy `continues` it.
        `service.jobs.relearn` replaces the settings and learns the log again under them.
        """
        wanted, found = self.check_settings(settings), self.get(ranker)
        seq = found.decide_if(partial(changed_settings, wanted, sign_decision(by, reason), version))
        found.catch_up()
        return seq

    def preview(self, ranker: str, settings: BaseRankerSettings, *, relearn: bool = False) -> SettingsPreview:
        """Return what these settings would change, and what would be lost; changes nothing."""
        wanted = complete_settings(settings, self.policy_kinds)
        return preview(self.get(ranker), self.store, wanted, relearn=relearn)

    def merge_settings(self, ranker: str, patch: Mapping[str, Any]) -> BaseRankerSettings:
        """Return the settings in force with some of them changed, by a JSON merge patch; changes nothing."""
        return self.parse_settings(patched(self.get(ranker), patch))

    def parse_settings(self, data: Mapping[str, Any]) -> BaseRankerSettings:
        """Return settings from JSON under which a policy can rank and learn: it is tried out first."""
        return parse_settings(data, self.registry.settings_type, self.policy_kinds)

    def check_settings(self, settings: BaseRankerSettings) -> BaseRankerSettings:
        """Return settings with every default of their policy; refused if it cannot be served."""
        wanted = complete_settings(settings, self.policy_kinds)
        check_policy_can_serve(wanted, self.policy_kinds)
        return wanted

    def set_mode(self, ranker: str, mode: Mode, *, by: str = "", reason: str = "") -> int:
        """Change the mode of a ranker; it is in force when this returns."""
        check_mode(mode)
        said = {"reason": reason, **sign_decision(by, reason)}
        return self.get(ranker).decide("mode", mode=mode, **said)

    def flush(self, ranker: str) -> None:
        """Close all open lists now and learn from them; later clicks on them are late."""
        found = self.get(ranker)
        found.decide("flush")
        found.catch_up()

    # learning

    def learn(self, rankers: Iterable[str]) -> None:
        """Learn what came in for these rankers, or wake the thread that does."""
        if self.learner:
            self.learner.wake()
            return
        for name in filter(None, rankers):
            self.get(name).try_to_catch_up()

    def tick(self, patience: float = 0.0) -> None:
        """Let time pass: close what has been due for so many seconds, and learn."""
        errors = self.rounds.go(patience)
        if len(errors) > 1:
            raise ExceptionGroup(f"{len(errors)} rankers cannot go on just now", errors)
        if errors:
            raise errors[0]

    @property
    def is_starting(self) -> bool:
        """Whether the log of a ranker is still to be folded for the first time in this process."""
        return any(found.starting for found in self.by_name.values())

    @property
    def is_leader(self) -> bool:
        """Whether this process does what only one of those on a store is to do."""
        first = next(iter(sorted(self.by_name)), None)
        return first is None or self.by_name[first].leads

    def resume_waiting(self) -> None:
        """Write the lists that waited while the store was away."""
        for each in tuple(self._waiting):
            each.resume()

    def configuration_within(self, transaction: Transaction, ranker: str) -> Configuration:
        """Return the configuration of a ranker inside a transaction, also of one not known here yet."""
        known = self.by_name.get(ranker)
        start = known.view.configuration if known else Configuration()
        return start.within(transaction, ranker, self.registry, self.policy_kinds)

    def discover(self, *, begin: bool = True) -> None:
        """Open the rankers that are in the store and not yet here."""
        with self._naming:
            fresh = [name for name in self.store.list_rankers() if name not in self.by_name]
            if fresh:
                given = self.store, self.registry, self.policy_kinds, self.clock, self.election
                opened = {name: Ranker(name, *given, begin=begin, holding=self._waiting) for name in fresh}
                self.by_name = {**self.by_name, **opened}

    def _opened(self, names: Collection[str]) -> Mapping[str, Ranker]:
        """The rankers there are, with those of these names."""
        if any(name not in self.by_name for name in names):
            self.discover()
        return self.by_name
