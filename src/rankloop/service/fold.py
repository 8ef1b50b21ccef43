"""A model is a fold of the log: this is the fold.

Entries are applied in order, and nothing else matters: not when, not by whom, not from which snapshot. A list
that got clicks is *open* until its window closes, by the log's time; then all its clicks are learned at once,
as one feedback. The version of a model is the number of the entry that last changed it.
"""

from __future__ import annotations

import copy
import heapq
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, Self

import numpy as np

from rankloop.policies import Policy
from rankloop.service.lesson import lesson
from rankloop.service.model import Model
from rankloop.service.scaling import Scale, scale_of
from rankloop.service.settings import LEARNS, Mode, RankerSettings
from rankloop.spelling import Catalogue, describe
from rankloop.store import Decision, Entry, Event, Impression, Snapshot
from rankloop.types import RankloopError


class Past(Protocol):
    """What a fold may ask about the log before it."""

    def impression(self, query_id: str) -> Impression | None:
        """A list that was shown."""
        ...

    def model(self, seq: int, *, without: frozenset[str]) -> Model:
        """The model after an entry, as if some events had never been."""
        ...

    def again(self, until: int, *, without: frozenset[str], rules: RankerSettings | None) -> Fold:
        """The fold of everything before an entry, without some events or under other rules."""
        ...


@dataclass(slots=True)
class OpenList:
    """A list that got clicks and still takes more."""

    closes_at: float
    done: dict[int, set[str]] = field(default_factory=dict)  # by index: what was done there


class Fold:
    """The state of a ranker after some entry of its log.

    `without` are events to pass over as if they had never been; `rules` are given when the log is folded as
    if they had held all along; `targets` are the entries to which the log later rolls back: the models there
    are kept on the way.
    """

    def __init__(
        self,
        ranker: str,
        past: Past,
        known: Catalogue,
        *,
        without: frozenset[str] = frozenset(),
        rules: RankerSettings | None = None,
        targets: Iterable[int] = (),
    ) -> None:
        self.ranker, self.past, self.known = ranker, past, known
        self.without = without
        self.position, self.at, self.version = 0, float("-inf"), 0
        self.rules = rules or RankerSettings()
        self.mode: Mode = "explore"
        self.policy: Policy = self.rules.policy
        self.scale: Scale = scale_of(self.rules.scaling)
        self.lists = self.width = self.refused = 0
        self.unkept = 0  # versions since the snapshot it came from, or since the last one it gave
        self.open: dict[str, OpenList] = {}
        self._closing: list[tuple[float, int, str]] = []  # a heap: closes_at, number of the list, its id
        self._given = rules
        self._targets = sorted(set(targets))
        self._marks: dict[int, Model] = {}

    @property
    def model(self) -> Model:
        """What readers may see."""
        return Model(
            version=self.version, policy=self.policy, scale=self.scale, lists=self.lists, width=self.width
        )

    @property
    def closes_next(self) -> float:
        """When the next open list closes; infinite if none is open."""
        return self._closing[0][0] if self._closing else float("inf")

    def apply(self, entry: Entry) -> None:
        """Take in the next entry."""
        self._mark(entry.seq)
        if isinstance(entry, Event) and entry.event_id in self.without:
            return
        changed = self._close(until=entry.at)
        if isinstance(entry, Event):
            changed |= self._note(entry)
        else:
            changed |= self._decide(entry)
        self.position, self.at = entry.seq, entry.at
        if changed:
            self.version = entry.seq
            self.unkept += 1

    def run(self, entries: Iterable[Entry]) -> Self:
        """Take in many entries."""
        for entry in entries:
            self.apply(entry)
        return self

    # clicks

    def _note(self, event: Event) -> bool:
        """A click opens its list or joins those there are."""
        if event.position is None or event.list_seq is None or event.closes_at is None:
            return False
        if event.verdict == "late" and not self.rules.learn_late:
            return False
        if event.query_id not in self.open:
            self.open[event.query_id] = OpenList(event.closes_at)
            heapq.heappush(self._closing, (event.closes_at, event.list_seq, event.query_id))
        self.open[event.query_id].done.setdefault(event.position - 1, set()).add(event.action)
        return len(self.open) > self.rules.max_open and self._close_next()

    def _close(self, *, until: float) -> bool:
        changed = False
        while self._closing and self._closing[0][0] <= until:
            changed |= self._close_next()
        return changed

    def _close_next(self) -> bool:
        """Learn the list whose window closes first; whether anything changed."""
        _, _, query_id = heapq.heappop(self._closing)
        done = self.open.pop(query_id).done
        if self.mode not in LEARNS:
            return False
        impression = self.past.impression(query_id)
        places = [place for place, actions in done.items() if self.rules.clicked(actions)]
        return impression is not None and bool(places) and self._learn(impression, places)

    def _learn(self, impression: Impression, places: list[int]) -> bool:
        scale = self.scale.after(impression.features)
        taught = replace(self.model, scale=scale)
        try:
            found = lesson(taught, impression, places)
            if found is None:
                return False
            pupil = copy.copy(found.policy)  # a twin: learn replaces arrays and changes none
            pupil.learn(found.feedback)
        except (RankloopError, np.linalg.LinAlgError, ArithmeticError):  # a list nobody can learn from
            self.refused += 1
            return False
        self.policy, self.scale, self.lists = pupil, scale, self.lists + 1
        self.width = found.feedback.ranking.query.features.shape[1]
        return True

    # decisions

    def _decide(self, decision: Decision) -> bool:
        acts: Mapping[str, Callable[[Decision], bool]] = {
            "settings": self._settings,
            "mode": self._mode,
            "rollback": self._rollback,
            "forget": self._forget,
            "flush": self._flush,
        }
        act = acts.get(decision.kind)  # a tick or a longer schema changes nothing here
        return act is not None and act(decision)

    def _settings(self, decision: Decision) -> bool:
        before, first = self.rules, self.position == 0
        self.rules = rules = self._given or RankerSettings.from_json(decision.body["settings"], self.known)
        if decision.body.get("relearn") and not first and not self._given:
            self._take_over(self.past.again(decision.seq, without=self.without, rules=rules))
            return True
        if first or not rules.policy.understands(before.policy) or rules.scaling != before.scaling:
            self.policy, self.scale, self.lists, self.width = rules.policy, scale_of(rules.scaling), 0, 0
            return True
        self.policy = rules.policy.from_state(self.policy.state())  # other settings, same knowledge
        return describe(rules.policy) != describe(before.policy)

    def _mode(self, decision: Decision) -> bool:
        self.mode = decision.body["mode"]
        return False

    def _rollback(self, decision: Decision) -> bool:
        target = int(decision.body["to"])
        model = self._marks.get(target) or self.past.model(target, without=self.without)
        if not self.rules.policy.understands(model.policy):  # nobody may decide that any more
            return False
        self.policy = self.rules.policy.from_state(model.policy.state())
        self.scale, self.lists, self.width = model.scale, model.lists, model.width
        return True

    def _forget(self, decision: Decision) -> bool:
        ids = frozenset(decision.body["events"])
        if ids <= self.without:  # this fold never knew them
            return True
        self.without |= ids
        self._take_over(self.past.again(decision.seq, without=self.without, rules=self._given))
        return True

    def _flush(self, decision: Decision) -> bool:
        del decision
        return self._close(until=float("inf"))

    def _take_over(self, other: Fold) -> None:
        """Go on from another past."""
        self.policy, self.scale = other.policy, other.scale
        self.lists, self.width = other.lists, other.width
        self.open, self._closing, self.refused = other.open, other._closing, other.refused

    def _mark(self, seq: int) -> None:
        """Keep the model at entries that will be returned to, before going beyond them."""
        while self._targets and self._targets[0] < seq:
            self._marks[self._targets.pop(0)] = self.model.apart()

    # snapshots

    def snapshot(self) -> Snapshot:
        """Everything, as JSON and named arrays."""
        closing = {query_id: (closes_at, number) for closes_at, number, query_id in self._closing}
        body: dict[str, Any] = {
            "version": self.version,
            "settings": self.rules.to_json(),
            "mode": self.mode,
            "lists": self.lists,
            "width": self.width,
            "refused": self.refused,
            "without": sorted(self.without),
            "open": {
                query_id: [*closing[query_id], [[place, sorted(acts)] for place, acts in each.done.items()]]
                for query_id, each in self.open.items()
            },
        }
        arrays = {f"policy.{name}": value for name, value in self.policy.state().items()}
        arrays |= {f"scale.{name}": value for name, value in self.scale.state().items()}
        return Snapshot(seq=self.position, at=self.at, ranker=self.ranker, body=body, arrays=arrays)

    @classmethod
    def resume(
        cls,
        snapshot: Snapshot,
        past: Past,
        known: Catalogue,
        *,
        without: frozenset[str] = frozenset(),
        rules: RankerSettings | None = None,
        targets: Iterable[int] = (),
    ) -> Self:
        """Go on from a snapshot."""
        body = snapshot.body
        forgotten = frozenset(body["without"]) | without
        fold = cls(snapshot.ranker, past, known, without=forgotten, rules=rules, targets=targets)
        fold.position, fold.at, fold.version = snapshot.seq, snapshot.at, body["version"]
        fold.mode = body["mode"]
        for query_id, (closes_at, number, done) in body["open"].items():
            fold.open[query_id] = OpenList(closes_at, {place: set(acts) for place, acts in done})
            heapq.heappush(fold._closing, (closes_at, number, query_id))
        if rules is None:  # otherwise nothing was learned yet under these rules
            fold.rules = RankerSettings.from_json(body["settings"], known)
            fold.lists, fold.width, fold.refused = body["lists"], body["width"], body["refused"]
            fold.policy = fold.rules.policy.from_state(_part("policy.", snapshot))
            fold.scale = scale_of(fold.rules.scaling, _part("scale.", snapshot))
        return fold


def _part(prefix: str, snapshot: Snapshot) -> dict[str, Any]:
    return {
        name.removeprefix(prefix): value for name, value in snapshot.arrays.items() if name.startswith(prefix)
    }
