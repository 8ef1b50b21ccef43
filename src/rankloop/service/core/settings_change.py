"""Change of settings: what it would change and what would be lost, before anybody decides."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from rankloop.naming import write_name
from rankloop.service.core.configuration import Configuration
from rankloop.service.core.ranker import Ranker
from rankloop.service.core.ranker_settings import BaseRankerSettings, build_policy
from rankloop.service.core.settings_fields import SettingField, fields_of
from rankloop.service.service_errors import ConflictError
from rankloop.service.store import COUNTED, Store

NOTHING: Mapping[str, SettingField] = MappingProxyType({})


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


def merged(before: Any, patch: Any, fields: Mapping[str, SettingField] = NOTHING, path: str = "") -> Any:
    """A JSON merge patch (RFC 7396): objects are merged, null removes a member, all else takes its place.

    But null stays where a setting of these `fields` may be null, and where there is no such setting.

    >>> merged({"a": 1, "b": {"c": 2, "d": 3}}, {"a": None, "b": {"c": 4}, "e": 5})
    {'b': {'c': 4, 'd': 3}, 'e': 5}
    """
    if not isinstance(patch, Mapping):
        return patch
    found = dict(before) if isinstance(before, Mapping) else {}
    for name, value in patch.items():
        if value is None and not _keeps_null(fields, path, name):
            found.pop(name, None)
        else:
            found[name] = merged(found.get(name), value, fields, f"{path}{name}.")
    return found


def _keeps_null(fields: Mapping[str, SettingField], path: str, name: str) -> bool:
    """Whether null is what a patch says of a member: it is off, or no setting at all."""
    record, field = fields.get(path.rstrip(".")), fields.get(f"{path}{name}")
    if not fields or (record is not None and record.is_map):
        return False
    return field is None or field.takes_null


def patched(ranker: Ranker, patch: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of a ranker with some of them changed; null brings the default back, or switches off.

    A policy is one text: settings that it does not give have their defaults.
    """
    settings = ranker.settings
    fields = {each.name: each for each in fields_of(type(settings))}
    return dict(merged(settings.to_json(), patch, fields))


def preview(
    ranker: Ranker, store: Store, settings: BaseRankerSettings, *, relearn: bool = False
) -> SettingsPreview:
    """What these settings would change, and what would be lost by them."""
    configuration, model = ranker.view.configuration, ranker.view.model
    before, after = configuration.settings.to_json(), settings.to_json()
    wanted = build_policy(settings.policy, ranker.history.policy_kinds)
    policies = write_name(configuration.policy), write_name(wanted)
    changes = tuple(_changes("", before | {"policy": policies[0]}, after | {"policy": policies[1]}))
    policy = before["policy"] != after["policy"]
    understood = wanted.continues(configuration.policy) and settings.scaling == configuration.settings.scaling
    lost = model.lists if not understood and not relearn else 0
    always = {"since": float("-inf"), "until": float("inf")}
    tally = store.statistics.count_events(ranker.name, **always).verdicts if lost else {}
    events = sum(tally.get(verdict, 0) for verdict in COUNTED)
    sentences = _sentences(ranker, changes, policies if policy else None, understood, relearn, lost)
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


def changed_settings(
    settings: BaseRankerSettings, said: Mapping[str, str], version: int | None, configuration: Configuration
) -> tuple[str, Mapping[str, Any]]:
    """Return the decision that puts settings into force; refused while a job is about to put others."""
    check_version(version, configuration)
    return "settings", {"settings": settings.to_log(), "relearn": False, **said}


def check_version(version: int | None, configuration: Configuration) -> None:
    """Refuse to change other settings than those that somebody has looked at, or those about to come."""
    if version is not None and version != configuration.settings_version:
        raise ConflictError(
            f"the settings were changed meanwhile: version {configuration.settings_version} is in force, "
            f"and you have seen version {version}; look at them again"
        )
    for job in configuration.waiting:
        if job.kind == "relearn":
            raise ConflictError(
                f"job {job.number} is about to put other settings into force: wait for it, or cancel it"
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
    policies: tuple[str, str] | None,
    understood: bool,
    relearn: bool,
    lost: int,
) -> Iterator[str]:
    if not changes and not relearn:
        yield "Nothing would change."
    if policies is not None:
        yield f"The policy would change from {policies[0]} to {policies[1]}."
    if relearn:
        yield "The log would be learned again as if these settings had always held."
        if base := ranker.history.first_entry():
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
