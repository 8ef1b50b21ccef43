"""Undo of a decision: a new one that restores what was in force before, or the reason why there is none."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from rankloop.errors import RequestError
from rankloop.service.core.settings_change import ChangedField
from rankloop.service.reports.decision_log import in_words
from rankloop.service.service_errors import ConflictError, HistoryError
from rankloop.service.store import SERVICE, Decision, Store

if TYPE_CHECKING:  # it has these as its methods
    from rankloop.service.service_facade import ServiceFacade

NEVER = {  # kinds that cannot be undone, and why
    "delete": "What was deleted on request is gone from the log, the snapshots and the models: there is "
    "nothing that it could be restored from, and that was the point.",
    "forget": "These events were to be as if they had never been: going back would bring them back, and a "
    "version from before them can be chosen on the overview, knowing that.",
    "retire": "A feature that was retired comes back by itself when it is sent again, as a new one: what it "
    "was worth is learned anew.",
    "retain": "What was discarded is gone from the disk; only a backup has it.",
    "backup": "A backup changes nothing: delete its file, if it is not wanted.",
    "trial_stop": "A trial that has ended cannot go on: visitors since were given to no arm. Begin another.",
}


@dataclass(frozen=True, slots=True)
class UndoPreview:
    """What an undo would do, or why there is none; nothing is changed by looking at it."""

    seq: int
    ranker: str
    kind: str
    what: str  # was decided
    possible: bool
    sentences: tuple[str, ...]  # what would happen; or why it cannot
    changes: tuple[ChangedField, ...] = ()  # from what is in force to what would be
    confirm: str = ""  # of this undo as things are now, to be told a second time


@dataclass(frozen=True, slots=True)
class Plan:
    """A preview, and what does it."""

    preview: UndoPreview
    do: Callable[[str, str], object]  # by whom, and why


class Refused(Exception):
    """Why a decision cannot be undone."""


def undo_plan(service: ServiceFacade, seq: int) -> Plan:
    """How to undo a decision by its entry in the log."""
    decision = _find(service.store, seq)
    former = [
        each
        for each in service.store.read_decisions(decision.ranker, kinds=(decision.kind,))
        if each.seq < seq
    ]
    told = seq, decision.ranker, decision.kind, in_words(decision, former[-1] if former else None).what
    try:
        return _plan(service, decision, told)
    except Refused as refused:
        return Plan(UndoPreview(*told, False, (str(refused),)), do=print)


def undo(service: ServiceFacade, seq: int, *, confirm: str, by: str, reason: str) -> UndoPreview:
    """Undo a decision as its preview said; refused if that is not what would happen by now."""
    if not reason.strip():
        raise RequestError("an undo needs a reason: those who read the decisions want to know why")
    plan = undo_plan(service, seq)
    if not plan.preview.possible:
        raise ConflictError(f"decision {seq} cannot be undone: {' '.join(plan.preview.sentences)}")
    if confirm != plan.preview.confirm:
        said = " ".join(plan.preview.sentences)
        raise ConflictError(f"{said} If you want that, send it again with confirm={plan.preview.confirm}")
    plan.do(by, f"undoes decision {seq}: {reason}")
    return plan.preview


def _plan(service: ServiceFacade, decision: Decision, told: tuple[int, str, str, str]) -> Plan:
    kind, ranker = decision.kind, decision.ranker
    if kind in NEVER:
        raise Refused(NEVER[kind])
    ways = {"mode": _mode, "settings": _settings, "rollback": _rollback, "trial": _trial, "key": _key}
    if kind not in ways:
        raise Refused("It is no decision of an operator.")
    sentences, changes, do = ways[kind](service, decision)
    head = service.ranker(ranker).view.configuration.position if ranker else seq_of(service.store)
    said = f"{told}{head}{sentences}{[(each.name, each.after) for each in changes]}"
    confirm = hashlib.blake2b(said.encode(), digest_size=8).hexdigest()
    return Plan(UndoPreview(*told, True, sentences, changes, confirm), do)


Way = tuple[tuple[str, ...], tuple[ChangedField, ...], Callable[[str, str], object]]


def _mode(service: ServiceFacade, decision: Decision) -> Way:
    ranker, now = decision.ranker, service.ranker(decision.ranker).view.configuration
    if now.mode_since != decision.seq:
        raise Refused(f"The mode was changed again since, by decision {now.mode_since}: undo that one.")
    before = [
        each for each in service.store.read_decisions(ranker, kinds=("mode",)) if each.seq < decision.seq
    ]
    if not before:
        raise Refused("The ranker began with it: there is no mode before.")
    mode = before[-1].body["mode"]
    sentences = [f"Ranker {ranker!r} would be in mode {mode} again, as before."]
    if (trial := service.ranker(ranker).view.trial) is not None:
        sentences.append(f"Trial {trial.number} would end.")

    def do(by: str, reason: str) -> object:
        return service.set_mode(ranker, mode, by=by, reason=reason)

    return tuple(sentences), (ChangedField("mode", now.mode, mode),), do


def _settings(service: ServiceFacade, decision: Decision) -> Way:
    ranker = decision.ranker
    found = service.ranker(ranker)
    version = found.view.configuration.settings_version
    if version != decision.seq:
        raise Refused(f"The settings were changed again since, by decision {version}: undo that one.")
    before = [
        each for each in service.store.read_decisions(ranker, kinds=("settings",)) if each.seq < decision.seq
    ]
    if not before:
        raise Refused("The ranker began with them: there are no settings before.")
    configuration = found.history.configuration(decision.seq - 1)
    if configuration.problem:
        raise Refused(f"The settings before cannot be read any more: {configuration.problem}.")
    seen = service.preview(ranker, configuration.settings)
    sentences = [f"Ranker {ranker!r} would have the settings of decision {before[-1].seq} again."]
    if decision.body.get("relearn"):
        sentences.append("The log was learned again with it: that stays, unless it is told below.")

    def do(by: str, reason: str) -> object:
        return service.configure(ranker, configuration.settings, version=version, by=by, reason=reason)

    return (*sentences, *seen.sentences), seen.changes, do


def _rollback(service: ServiceFacade, decision: Decision) -> Way:
    ranker = decision.ranker
    found = service.ranker(ranker)
    later = [
        each.seq
        for each in service.store.read_decisions(ranker, kinds=("rollback",))
        if each.seq > decision.seq
    ]
    if later:
        raise Refused(f"It was rolled back again since, by decision {later[-1]}: undo that one.")
    try:
        was, then = found.history.model(decision.seq - 1), found.history.model(decision.seq)
    except HistoryError as error:
        raise Refused(f"The version before is not kept any more: {error}.") from error
    now = found.view.model
    sentences = [f"Ranker {ranker!r} would know again what it knew at version {was.version:,}."]
    if now.lists > then.lists:
        lists = now.lists - then.lists
        sentences.append(f"What was learned from {lists:,} lists since the rollback would be left out.")
    change = ChangedField("version", now.version, was.version)
    return tuple(sentences), (change,), partial(_roll_back, service, ranker, decision.seq - 1)


def _roll_back(service: ServiceFacade, ranker: str, to: int, by: str, reason: str) -> object:
    return service.rollback(ranker, to=to, by=by, reason=reason)


def _trial(service: ServiceFacade, decision: Decision) -> Way:
    ranker, trial = decision.ranker, service.ranker(decision.ranker).view.trial
    if trial is None or trial.number != decision.seq:
        raise Refused("The trial has ended already.")

    def do(by: str, reason: str) -> object:
        return service.stop_trial(ranker, trial.number, by=by, reason=reason)

    return (f"Trial {trial.number} would end; what has come of it stays.",), (), do


def _key(service: ServiceFacade, decision: Decision) -> Way:
    name, action = str(decision.body["name"]), decision.body["action"]
    if action == "rotate":
        raise Refused("The old bits of the key are kept nowhere: only their hash was. Rotate it again.")
    if action == "revoke":
        raise Refused("A key that was revoked opens nothing any more: make another one.")
    if not any(key.name == name and key.live for key in service.keys.all()):
        raise Refused("The key was revoked already.")

    def do(by: str, reason: str) -> object:
        service.keys.revoke(name, by=by, reason=reason)
        return name

    return (f"The key {name} would be revoked, and open nothing more.",), (), do


def _find(store: Store, seq: int) -> Decision:
    for name in (SERVICE, *store.list_rankers()):
        found: Any = store.read_decisions(name, after=seq - 1)
        if found and found[0].seq == seq:
            return found[0]  # type: ignore[no-any-return]
    raise HistoryError(f"there is no decision {seq}: it never was, or was discarded")


def seq_of(store: Store) -> int:
    """The last decision about the service as a whole."""
    return max((each.seq for each in store.read_decisions(SERVICE)), default=0)


def _nothing(by: str, reason: str) -> None:
    raise AssertionError(f"what cannot be undone is refused before {by} does it for {reason}")
