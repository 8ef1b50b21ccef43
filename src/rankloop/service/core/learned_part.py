"""Learned part of a fold: the model, and the lists that wait until their window closes.

A list that got clicks, or grades, is *open* until its window closes, by the log's time; then all of them are
learned at once, as one feedback. The version of a model is the number of the entry that last changed it.

Applying an entry either succeeds or raises before the entry is passed: a store that cannot be read just now
is asked again later, and nothing is skipped. An open list is removed only after it was learned or refused, so
that applying the entry again goes on where it stopped. A list from which no policy can learn is refused:
counted, with the reason.
"""

from __future__ import annotations

import copy
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from rankloop.errors import DataError
from rankloop.naming import write_name
from rankloop.policies import Policy
from rankloop.service.core.configuration import Configuration
from rankloop.service.core.feedback import Reaction, lesson, reaction
from rankloop.service.core.fold_part import PartState
from rankloop.service.core.model import Model, width_of
from rankloop.service.core.open_lists import OpenLists
from rankloop.service.core.ranker_settings import LEARNS
from rankloop.service.core.rebuild import RebuildSpec
from rankloop.service.core.scaling import Scale, scale_of
from rankloop.service.operator_log import warn_operator
from rankloop.service.store import Decision, Event, Impression, Logged

LOGGER = logging.getLogger("rankloop.service")
MAX_OPEN = 100_000  # lists with clicks that wait for their window to close; more are closed early
FindImpression: TypeAlias = Callable[[str], Impression | None]  # a list that was shown, by its id


class LearnedPart:
    """What a ranker has learned after some entry of its log.

    `models` are those of entries to which the log later returns; the fold keeps them on the way.
    """

    name = "learned"

    def __init__(
        self,
        ranker: str,
        find_impression: FindImpression,
        spec: RebuildSpec,
        configuration: Configuration,
        models: Mapping[int, Model],
    ) -> None:
        self.ranker, self.find_impression, self.spec, self.models = ranker, find_impression, spec, models
        self.position = self.version = 0
        self.signal = configuration.signal
        self.policy: Policy = configuration.policy
        self.scale: Scale = scale_of(configuration.settings.scaling)
        self.lists, self.width = 0, spec.width
        self.refused = 0  # lists that no policy could learn from
        self.problem = ""  # why the last of them was refused
        self.early = 0  # lists closed before their window, because too many were open
        self.versions_since_snapshot = self.lists_in_snapshot = 0  # that it came from, or gave last
        self.open = OpenLists()
        self.impressions_ahead: Mapping[str, Impression] = {}  # lists that are due, read together
        self._changed = False  # by the entry that is being applied
        self.skips_learned_since: int | None = None  # later lists are learned also without a click
        self._learn_skips_from(0)

    @property
    def learns_from_skips(self) -> bool:
        """Whether lists that were not clicked teach, so that all lists are entries for it."""
        return self.signal == "clicks" and self.policy.learns_without_clicks

    @property
    def needs_lists(self) -> bool:
        """Whether it also wants lists that were not clicked."""
        return self.learns_from_skips

    @property
    def closes_next(self) -> float:
        """When the next open list closes; infinite if none is open."""
        return self.open.closes_next

    def value(self) -> Model:
        """Return the model."""
        return Model(
            version=self.version,
            policy=self.policy,
            scale=self.scale,
            lists=self.lists,
            width=self.width,
            retired=tuple(sorted(self.spec.retired)),
        )

    def apply(self, entry: Logged, before: Configuration, after: Configuration) -> None:
        """Learn what is due, then take in the next entry."""
        self._learn_due(before, until=entry.at)
        if isinstance(entry, Event):
            self._record(entry, before)
        elif isinstance(entry, Decision):
            self._decide(entry, before, after)
        elif self.learns_from_skips and entry.teaches:  # a list
            if entry.query_id not in self.open:  # it is, if making room for it has failed before
                closes_at = entry.at + before.settings.window
                self.open.open(entry.query_id, entry.seq, shown_at=entry.at, closes_at=closes_at)
            self._make_room(before, entry.at)
        if self._changed:
            self.version, self._changed = entry.seq, False
            self.versions_since_snapshot += 1

    # clicks

    def _record(self, event: Event, configuration: Configuration) -> None:
        """A click or a grade opens its list, or joins those there are."""
        if event.position is None or event.list_seq is None or event.closes_at is None:
            return
        if event.verdict == "late" and not configuration.settings.learn_late:
            return
        if event.query_id not in self.open:
            since = self.skips_learned_since
            if since is not None and event.list_seq > since:  # it was learned when it closed, and only once
                return
            shown_at = event.closes_at - configuration.verdict_window
            self.open.open(event.query_id, event.list_seq, shown_at=shown_at, closes_at=event.closes_at)
        self.open.record(event)
        self._make_room(configuration, event.at)

    def find_due(self, entries: Sequence[Logged], configuration: Configuration) -> list[int]:
        """Return the lists that are learned while these entries are applied, as far as can be told now."""
        if configuration.mode not in LEARNS:
            return []
        end = entries[-1].at
        events = (each for each in entries if isinstance(each, Event) and each.query_id not in self.open)
        due = {each.list_seq: None for each in events if each.closes_at is not None and each.closes_at <= end}
        return [*self.open.find_due(end), *(number for number in due if number is not None)]

    def _make_room(self, configuration: Configuration, now: float) -> None:
        if len(self.open) > MAX_OPEN:
            early = self.open.closes_next > now  # what came late closes at once
            self._learn_due(configuration, until=self.open.closes_next, most=1)
            self.early += early

    def _learn_due(self, configuration: Configuration, *, until: float, most: int | None = None) -> None:
        """Learn the lists whose window has closed by a moment, the first to close first."""
        done = 0
        while (most is None or done < most) and (query_id := self.open.next_due(until)) is not None:
            self._learn_list(query_id, configuration)
            self.open.remove_next()
            done += 1

    def _learn_list(self, query_id: str, configuration: Configuration) -> None:
        """Learn a list; it stays open if it cannot be read just now."""
        done = self.open.actions(query_id)
        found = reaction(configuration.settings, configuration.signal, done, silence=self.learns_from_skips)
        if found is None or configuration.mode not in LEARNS:
            return
        try:
            impression = self.impressions_ahead.get(query_id) or self.find_impression(query_id)
        except DataError as error:  # damaged for good; everything else may pass, and is raised
            self._refuse(query_id, error)
            return
        if impression is not None:
            self._learn(impression, found, configuration)

    def _learn(self, impression: Impression, found: Reaction, configuration: Configuration) -> None:
        scale = self._scale_after(impression)
        try:
            model = replace(self.value(), scale=scale)
            taught = lesson(model, impression, found, retired=configuration.schema.retired)
            if taught is None:
                return
            policy = copy.copy(taught.policy)  # a twin: learn replaces arrays and changes none
            policy.learn(taught.feedback)
        except MemoryError:  # says something about this moment, nothing about the list
            raise
        except Exception as error:  # whatever it is: it would be the same each time
            self._refuse(impression.query_id, error)
            return
        self.policy, self.scale, self.lists = policy, scale, self.lists + 1
        self.width = width_of(policy, taught.feedback.ranking.query)
        self._changed = True

    def _scale_after(self, impression: Impression) -> Scale:
        if self.policy.reads != "context":
            return self.scale.after(self.value().seen(impression.features))
        return self.scale.after(impression.context[None]) if impression.context.size else self.scale

    def _refuse(self, query_id: str, error: Exception) -> None:
        self.refused += 1
        self.problem = f"list {query_id!r} could not be learned from: {type(error).__name__}: {error}"[:500]
        warn_operator(
            LOGGER,
            "a list could not be learned from, and never will be",
            where=f"ranker {self.ranker!r}",
            why=self.problem,
            do="mend its policy, then configure it with relearn",
        )

    # decisions

    def _decide(self, decision: Decision, before: Configuration, after: Configuration) -> None:
        acts: Mapping[str, Callable[[Decision, Configuration, Configuration], None]] = {
            "settings": self._change_settings,
            "rollback": self._roll_back,
            "forget": self._begin_version,
            "retire": self._begin_version,
            "delete": self._begin_version,
            "flush": self._flush,
        }
        act = acts.get(decision.kind)  # others change only the configuration
        if act is not None:
            act(decision, before, after)
        if after.settings.window > before.settings.window:
            self.open.extend_windows(after.settings.window)
        self.signal = after.signal
        self._learn_skips_from(decision.seq)

    def _learn_skips_from(self, seq: int) -> None:
        """Later lists are learned without a click, if skips teach; if they did before, earlier ones were."""
        if not self.learns_from_skips:
            self.skips_learned_since = None
        elif self.skips_learned_since is None:
            self.skips_learned_since = seq

    def _change_settings(self, _: Decision, before: Configuration, after: Configuration) -> None:
        first, given = self.position == 0, self.spec.settings is not None
        if first or not _continues(after, before):
            if not (given and self.lists == 0):  # a relearned model starts as wide as it will be
                self.width = 0
            self.policy, self.scale, self.lists = after.policy, scale_of(after.settings.scaling), 0
            self._changed = True
        else:
            self.policy = after.policy.from_state(self.policy.state())  # other settings, same knowledge
            self._changed |= write_name(after.policy) != write_name(before.policy)

    def _roll_back(self, decision: Decision, _: Configuration, after: Configuration) -> None:
        model, retired = self.models[int(decision.body["to"])], self.spec.retired
        same = after.policy.continues(model.policy) and retired == frozenset(model.retired)
        if not same:  # a rollback to it is refused today
            return
        self.policy = after.policy.from_state(model.policy.state())
        self.scale, self.lists, self.width = model.scale, model.lists, model.width
        self._changed = True

    def _begin_version(self, _: Decision, __: Configuration, ___: Configuration) -> None:
        self._changed = True  # this part never knew what is gone, and its version says so

    def _flush(self, _: Decision, before: Configuration, __: Configuration) -> None:
        self._learn_due(before, until=float("inf"))

    def continue_under_log(
        self, decision: Decision, spec: RebuildSpec, before: Configuration, after: Configuration
    ) -> None:
        """Go on by the log's own settings, which are now those by which all of this was learned."""
        self.spec, self.signal = spec, after.signal
        if after.settings.window > before.settings.window:
            self.open.extend_windows(after.settings.window)
        self._learn_skips_from(decision.seq)
        self.position = self.version = decision.seq
        self.versions_since_snapshot += 1

    # snapshots

    def snapshot(self) -> PartState:
        """Return all that does not follow from the decisions alone."""
        body: dict[str, Any] = {
            "version": self.version,
            "lists": self.lists,
            "width": self.width,
            "refused": self.refused,
            "problem": self.problem,
            "early": self.early,
            "skips_learned_since": self.skips_learned_since,
            "open": self.open.to_json(),
        }
        arrays = {f"policy.{name}": value for name, value in self.policy.state().items()}
        arrays |= {f"scale.{name}": value for name, value in self.scale.state().items()}
        return PartState(body, arrays)

    def note_snapshot(self) -> None:
        """Count versions and lists from here on: a snapshot was saved."""
        self.versions_since_snapshot, self.lists_in_snapshot = 0, self.lists

    def restore(self, state: PartState, at: Configuration, *, relearns: bool = False) -> None:
        """Go on from a snapshot, which was made under a configuration.

        If it `relearns`, what was learned is learned again, and only the open lists are taken over.
        """
        body, scaling = state.body, at.settings.scaling
        self.signal, self.version = at.signal, body["version"]
        self.open, self.skips_learned_since = OpenLists.from_json(body["open"]), body["skips_learned_since"]
        if relearns:
            self.policy, self.scale = at.policy, scale_of(scaling)
        else:
            self.lists, self.width = body["lists"], body["width"]
            self.refused, self.problem, self.early = body["refused"], body["problem"], body["early"]
            self.policy = at.policy.from_state(_of("policy.", state))
            self.scale = scale_of(scaling, _of("scale.", state))
            self.lists_in_snapshot = self.lists
        self._learn_skips_from(self.position)


def _continues(after: Configuration, before: Configuration) -> bool:
    """Whether what was learned under one configuration holds under another."""
    return after.policy.continues(before.policy) and after.settings.scaling == before.settings.scaling


def _of(prefix: str, state: PartState) -> dict[str, Any]:
    return {name.removeprefix(prefix): each for name, each in state.arrays.items() if name.startswith(prefix)}
