"""Settings page: a form for a ranker's settings, with what would change shown before it is decided."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, Literal

from litestar import Response, get, post
from litestar.datastructures import FormMultiDict
from litestar.params import FromQuery, QueryParameter
from litestar.response import Redirect

from rankloop.errors import RequestError
from rankloop.service.core.ranker_settings import BaseRankerSettings
from rankloop.service.core.settings_change import SettingsPreview, check_confirmed
from rankloop.service.core.settings_fields import SettingField, fields_of
from rankloop.service.core.settings_record import Settings
from rankloop.service.http.app_context import InjectedContext
from rankloop.service.pages.ranker_status import first_ranker
from rankloop.service.pages.shell import InjectedPages
from rankloop.service.pages.sign_in import AnyRequest, own_site, signed_form
from rankloop.service.service_facade import ServiceFacade

LONGEST = 20_000  # characters of a field
ORDER = (  # of the groups; those of other extensions follow
    "What counts as a click",
    "How far results may move",
    "Click promise",
    "Fair exposure",
    "Who may teach",
    "Ranking method",
    "Limits",
)
SWITCH = ("off", "on")
DONE = {
    "changed": "The settings are changed, and in force. The undo is among the decisions.",
    "under way": "The log is being learned again: the settings are in force when that is done.",
}
Kind = Literal["number", "choice", "text", "json"]


@dataclass(frozen=True, slots=True)
class Field:
    """A setting as a field of a form."""

    name: str
    label: str
    help: str
    kind: Kind
    value: str
    choices: tuple[str, ...] = ()


@get("/settings")
async def settings(
    request: AnyRequest,
    pages: InjectedPages,
    context: InjectedContext,
    ranker: FromQuery[str] = "",
    done: Annotated[str, QueryParameter(max_length=20)] = "",
) -> Response[str]:
    """The form, filled with what is in force."""
    name = ranker or first_ranker(context.service)
    if not name:
        return pages.show(request, "settings.html", section="/settings", ranker="")
    configuration = context.service.ranker(name).view.configuration
    return pages.show(
        request,
        "settings.html",
        section="/settings",
        ranker=name,
        seen=configuration.settings_version,
        groups=grouped(configuration.settings),
        done=DONE.get(done, ""),
    )


@post("/settings/preview", guards=[own_site], status_code=200)
async def preview(request: AnyRequest, pages: InjectedPages, context: InjectedContext) -> Response[str]:
    """What the form would change, and what would be lost; changes nothing."""
    form, _ = await signed_form(request, pages.sessions)
    service, name = context.service, str(form.get("ranker", ""))
    changes = changed_in(form, service.settings(name))
    relearn = bool(form.get("relearn"))
    rules = service.patched(name, changes)
    seen = await context.ask(partial(service.preview, name, rules, relearn=relearn))
    return pages.show(
        request,
        "settings_preview.html",
        section="/settings",
        ranker=seen.ranker,
        preview=seen,
        changes=json.dumps(changes),
        nothing=not seen.changes and not relearn,
    )


@post("/settings/change", guards=[own_site])
async def change(request: AnyRequest, pages: InjectedPages, context: InjectedContext) -> Redirect:
    """Put it into force, as it was seen: refused if other settings are in force by now."""
    form, key = await signed_form(request, pages.sessions)
    service, name = context.service, str(form.get("ranker", ""))
    changes = _parsed("changes", str(form.get("changes", "")))
    if not isinstance(changes, dict):
        raise RequestError(f"expected changes by the names of settings, found {str(changes)[:50]!r}")
    rules = service.patched(name, changes)
    relearn, why = bool(form.get("relearn")), str(form.get("reason", "")).strip()
    if not why:
        raise RequestError("a change of settings needs a reason: it stays beside the decision")
    seen = await context.ask(partial(_confirmed, service, name, rules, relearn, str(form.get("confirm", ""))))
    said: dict[str, Any] = {"version": _whole(form.get("version")), "by": key, "reason": why}
    report = None
    if relearn:
        report = await context.ask(partial(service.adopt, seen.ranker, rules, **said))
    else:
        await context.ask(partial(service.configure, seen.ranker, rules, **said))
    done = "changed" if report is None or report.ended else "under way"
    return Redirect("/settings", status_code=303, query_params={"ranker": name, "done": done})


def grouped(settings: Settings) -> list[tuple[str, list[Field]]]:
    """The settings as fields, by what they are about; the fields of a record stand below its own."""
    values, found = flattened(settings), dict[str, list[Field]]({title: [] for title in ORDER})
    group = ""
    for each in fields_of(type(settings)):
        group = each.group or group  # of its record
        if not each.is_record or each.takes_null:
            found.setdefault(group, []).append(_field(each, values[each.name]))
    return [(title, fields) for title, fields in found.items() if fields]


def flattened(settings: Settings) -> dict[str, Any]:
    """The values of settings by the names of their fields; a record that is off has its defaults."""
    data, found = settings.to_json(), dict[str, Any]()
    for each in fields_of(type(settings)):
        *path, name = each.name.split(".")
        record: Any = data
        for part in path:
            record = record.get(part) or {}
        value = record.get(name, each.default)
        found[each.name] = value is not None if each.is_record else value
    return found


def changed_in(form: FormMultiDict | Mapping[str, str], settings: Settings) -> dict[str, Any]:
    """The settings that a form has otherwise than they are in force, as a merge patch.

    >>> settings = BaseRankerSettings()
    >>> changed_in({"window": "60", "learn_late": "off", "client_limit.lists": ""}, settings)
    {'window': 60.0, 'client_limit': {'lists': None}}
    """
    values, found = flattened(settings), dict[str, Any]()
    for each in fields_of(type(settings)):
        text = form.get(each.name)
        *path, name = each.name.split(".")
        if not isinstance(text, str) or any(form.get(part) == "off" for part in path):
            continue  # it is not in the form, or its record is switched off
        if len(text) > LONGEST:
            raise RequestError(f"{each.name}: at most {LONGEST} characters, found {len(text)}")
        after = read(each, text.strip())
        if text == text_of(values[each.name]) or after == values[each.name]:
            continue
        target = found
        for part in path:
            target = target.setdefault(part, {})
        target[name] = ({} if after else None) if each.is_record else _patch(values[each.name], after)
    return found


def text_of(value: Any) -> str:
    """A setting as the text of its field.

    >>> text_of(None), text_of(True), text_of(600.0), text_of({"click": 1})
    ('', 'on', '600', '{"click": 1}')
    """
    if value is None or isinstance(value, bool):
        return {None: "", True: "on", False: "off"}[value]
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return value if isinstance(value, str) else json.dumps(value)


def read(field: SettingField, text: str) -> Any:
    """A setting from the text of its field: what it can be is checked where settings are made."""
    kind = _kind(field)
    if kind == "choice":
        return text == "on" if _is_switch(field) else text
    if not text:
        return None
    if kind == "text" or text in field.choices:
        return text
    found = _parsed(field.name, text)
    return float(found) if isinstance(field.default, float) and type(found) is int else found


def _patch(before: Any, after: Any) -> Any:
    """What makes a map another one: members that it has no more are null."""
    if isinstance(before, dict) and isinstance(after, dict):
        return after | {name: None for name in before if name not in after}
    return after


def _field(field: SettingField, value: Any) -> Field:
    kind, text = _kind(field), text_of(value)
    if kind == "json" and not isinstance(value, str) and value is not None and len(text) > 60:
        text = json.dumps(value, indent=1)
    label = f"{field.title} ({field.unit})" if field.unit else field.title
    choices = SWITCH if _is_switch(field) else field.choices
    return Field(field.name, label, field.effect, kind, text, choices)


def _kind(field: SettingField) -> Kind:
    if _is_switch(field) or (field.choices and not field.is_map):
        return "choice"
    if field.is_number and not field.is_map:
        return "number"
    return "text" if isinstance(field.default, str) and not field.is_map else "json"


def _is_switch(field: SettingField) -> bool:
    return isinstance(field.default, bool) or field.is_record


def _parsed(name: str, text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise RequestError(f"{name}: expected a number or JSON, found {text[:50]!r}") from error


def _confirmed(
    service: ServiceFacade, ranker: str, rules: BaseRankerSettings, relearn: bool, confirm: str
) -> SettingsPreview:
    seen = service.preview(ranker, rules, relearn=relearn)
    check_confirmed(seen, confirm)
    return seen


def _whole(value: object) -> int:
    text = str(value)
    if not (text.isascii() and text.isdigit()) or len(text) > 18:
        raise RequestError(f"a version is a number, found {text[:20]!r}")
    return int(text)
