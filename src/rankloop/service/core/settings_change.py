"""Change of settings: what it would change and what would be lost, before anybody decides."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from rankloop.errors import SettingError, suggest_name
from rankloop.naming import write_name
from rankloop.service.core.ranker import Ranker
from rankloop.service.core.ranker_settings import RankerSettings
from rankloop.service.service_errors import ConflictError
from rankloop.service.store import COUNTED, Store


@dataclass(frozen=True, slots=True)
class ChangedField:
    """A setting that would be another."""

    name: str  # with dots, as in policy.settings.caller_order
    before: Any
    after: Any


@dataclass(frozen=True, slots=True)
class SettingsPreview:
    """What a change of settings would do; nothing is changed by looking at it."""

    ranker: str
    version: int  # of the settings that are in force
    relearn: bool
    changes: tuple[ChangedField, ...]
    changes_policy: bool
    keeps_learned: bool  # what was learned stays as it is
    lists: int  # learned from, that would be lost
    events: int  # counted events that taught them
    sentences: tuple[str, ...]  # the same in words
    dangerous: bool  # it must be confirmed
    confirm: str  # by which it is told a second time: of this change of these settings, and no other


class Unconfirmed(ConflictError):
    """A change that would drop what was learned, or change the policy, and was told only once."""

    def __init__(self, preview: SettingsPreview) -> None:
        said = " ".join(preview.sentences)
        super().__init__(f"{said} If you want that, send the same again with confirm={preview.confirm}")
        self.preview = preview


def merged(before: Any, patch: Any) -> Any:
    """A JSON merge patch (RFC 7396): null removes a member, objects are merged, all else takes its place.

    >>> merged({"a": 1, "b": {"c": 2, "d": 3}}, {"a": None, "b": {"c": 4}, "e": 5})
    {'b': {'c': 4, 'd': 3}, 'e': 5}
    """
    if not isinstance(patch, Mapping):
        return patch
    found = dict(before) if isinstance(before, Mapping) else {}
    for name, value in patch.items():
        if value is None:
            found.pop(name, None)
        else:
            found[name] = merged(found.get(name), value)
    return found


def patched(ranker: Ranker, patch: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of a ranker with some of them changed; null brings the default back.

    A policy is one text: settings that it does not give have their defaults.
    """
    before = ranker.settings.to_json()
    for name in patch:
        if name not in before:
            raise SettingError(f"a ranker has no setting {name!r}: {suggest_name(str(name), before)}")
    return dict(merged(before, patch))


def preview(
    ranker: Ranker, store: Store, settings: RankerSettings, *, relearn: bool = False
) -> SettingsPreview:
    """What these settings would change, and what would be lost by them."""
    configuration, model = ranker.view.configuration, ranker.view.model
    before, after = configuration.settings.to_json(), settings.to_json()
    names = {"policy": write_name(configuration.settings.policy)}, {"policy": write_name(settings.policy)}
    changes = tuple(_changes("", before | names[0], after | names[1]))
    policy = before["policy"] != after["policy"]
    understood = (
        settings.policy.continues(configuration.settings.policy)
        and settings.scaling == configuration.settings.scaling
    )
    lost = model.lists if not understood and not relearn else 0
    always = {"since": float("-inf"), "until": float("inf")}
    tally = store.statistics.count_events(ranker.name, **always).verdicts if lost else {}
    events = sum(tally.get(verdict, 0) for verdict in COUNTED)
    sentences = _sentences(ranker, changes, policy, understood, relearn, lost, settings)
    return SettingsPreview(
        ranker=ranker.name,
        version=configuration.settings_version,
        relearn=relearn,
        changes=changes,
        changes_policy=policy,
        keeps_learned=understood and not relearn,
        lists=lost,
        events=events,
        sentences=tuple(sentences),
        dangerous=policy or bool(lost),
        confirm=_token(ranker.name, configuration.settings_version, after, relearn),
    )


def check_confirmed(found: SettingsPreview, confirm: str) -> None:
    """Refuse a change that must be confirmed and was not."""
    if found.dangerous and confirm != found.confirm:
        raise Unconfirmed(found)


def _changes(path: str, before: Any, after: Any) -> Iterator[ChangedField]:
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        for name in sorted(before.keys() | after.keys()):
            yield from _changes(f"{path}.{name}" if path else name, before.get(name), after.get(name))
    elif before != after:
        yield ChangedField(path, before, after)


def _sentences(
    ranker: Ranker,
    changes: tuple[ChangedField, ...],
    policy: bool,
    understood: bool,
    relearn: bool,
    lost: int,
    settings: RankerSettings,
) -> Iterator[str]:
    configuration = ranker.view.configuration
    if not changes and not relearn:
        yield "Nothing would change."
    if policy:
        names = write_name(configuration.settings.policy), write_name(settings.policy)
        yield f"The policy would change from {names[0]} to {names[1]}."
    if relearn:
        yield "The log would be learned again as if these settings had always held."
        if base := ranker.history.base():
            yield f"What was learned before entry {base:,}, where the log begins now, would be lost."
    elif lost:
        yield f"What was learned from {lost:,} lists would be dropped, and learning begin anew."
    elif not understood:
        yield "Learning would begin anew; nothing was learned so far."
    if any(each.name.startswith("fair") for each in changes):
        yield "The exposure account would begin anew."
    if ranker.view.trial is not None and (changes or relearn):
        yield f"Trial {ranker.view.trial.number} would end."


def _token(ranker: str, version: int, after: Mapping[str, Any], relearn: bool) -> str:
    said = json.dumps([ranker, version, after, relearn], sort_keys=True)
    return hashlib.blake2b(said.encode(), digest_size=8).hexdigest()
