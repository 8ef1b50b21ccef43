"""Settings page: a form for a ranker's settings, with what would change shown before it is decided."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, Literal

from litestar import Response, get, post
from litestar.datastructures import FormMultiDict
from litestar.params import FromQuery, QueryParameter
from litestar.response import Redirect

from rankloop.errors import RequestError
from rankloop.service import RankerSettings
from rankloop.service.core.settings_change import SettingsPreview, check_confirmed
from rankloop.service.http.app_context import InjectedContext
from rankloop.service.pages.ranker_status import first_ranker
from rankloop.service.pages.settings_words import CHOICES, GROUPS, WORDS
from rankloop.service.pages.shell import InjectedPages
from rankloop.service.pages.sign_in import AnyRequest, own_site, signed_form
from rankloop.service.service_facade import ServiceFacade

LONGEST = 20_000  # characters of a field
DONE = {
    "changed": "The settings are changed, and in force. The undo is among the decisions.",
    "under way": "The log is being learned again: the settings are in force when that is done.",
}
Kind = Literal["number", "choice", "json"]


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
        groups=list(grouped(configuration.settings.to_json())),
        done=DONE.get(done, ""),
    )


@post("/settings/preview", guards=[own_site], status_code=200)
async def preview(request: AnyRequest, pages: InjectedPages, context: InjectedContext) -> Response[str]:
    """What the form would change, and what would be lost; changes nothing."""
    form, _ = await signed_form(request, pages.sessions)
    service, name = context.service, str(form.get("ranker", ""))
    before = service.settings(name).to_json()
    changes = changed_in(form, before)
    relearn = bool(form.get("relearn"))
    rules = _with(service, name, changes)
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
    rules = _with(service, name, _parsed("changes", str(form.get("changes", ""))))
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


def grouped(values: Mapping[str, Any]) -> Iterator[tuple[str, list[Field]]]:
    """The settings as fields, by what they are about."""
    for title, names in GROUPS.items():
        yield title, [_field(name, values[name]) for name in names if name in values]
    known = {name for names in GROUPS.values() for name in names}
    if more := [_field(name, value) for name, value in values.items() if name not in known]:
        yield "More", more


def changed_in(form: FormMultiDict | Mapping[str, str], before: Mapping[str, Any]) -> dict[str, Any]:
    """The settings that a form has otherwise than they are in force.

    >>> changed_in({"window": "60", "learn_late": "no"}, {"window": 600.0, "learn_late": False})
    {'window': 60.0}
    """
    found = {}
    for name, value in before.items():
        text = form.get(name)
        if text is None or not isinstance(text, str) or text == text_of(value):
            continue
        if len(text) > LONGEST:
            raise RequestError(f"{name}: at most {LONGEST} characters, found {len(text)}")
        after = read(name, text.strip(), value)
        if after != value:
            found[name] = after
    return found


def text_of(value: Any) -> str:
    """A setting as the text of its field.

    >>> text_of(None), text_of(True), text_of(600.0), text_of({"click": 1})
    ('', 'yes', '600', '{"click": 1}')
    """
    if value is None or isinstance(value, bool):
        return {None: "", True: "yes", False: "no"}[value]
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return value if isinstance(value, str) else json.dumps(value)


def read(name: str, text: str, former: Any) -> Any:
    """A setting from the text of its field: what it can be is checked where settings are made."""
    if name in CHOICES and CHOICES[name] == ("no", "yes"):
        return text == "yes"
    if name in CHOICES:
        return text
    if not text:
        return None
    if name == "policy":
        return text
    found = _parsed(name, text)
    return float(found) if isinstance(former, float) and type(found) is int else found


def _field(name: str, value: Any) -> Field:
    label, words = WORDS.get(name, (name, ""))
    plain = value is None or isinstance(value, int | float)
    kind: Kind = "choice" if name in CHOICES else "number" if plain and name not in JSON else "json"
    text = text_of(value)
    if kind == "json" and name != "policy" and value is not None:
        text = json.dumps(value, indent=1) if len(text) > 60 else text
    return Field(name, label, words, kind, text, CHOICES.get(name, ()))


JSON = ("policy", "actions", "grades", "fair", "promise")


def _parsed(name: str, text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise RequestError(f"{name}: expected a number or JSON, found {text[:50]!r}") from error


def _with(service: ServiceFacade, ranker: str, changes: Any) -> RankerSettings:
    if not isinstance(changes, dict):
        raise RequestError(f"expected changes by the names of settings, found {str(changes)[:50]!r}")
    return service.settings_from({**service.settings(ranker).to_json(), **changes})


def _confirmed(
    service: ServiceFacade, ranker: str, rules: RankerSettings, relearn: bool, confirm: str
) -> SettingsPreview:
    seen = service.preview(ranker, rules, relearn=relearn)
    check_confirmed(seen, confirm)
    return seen


def _whole(value: object) -> int:
    text = str(value)
    if not (text.isascii() and text.isdigit()) or len(text) > 18:
        raise RequestError(f"a version is a number, found {text[:20]!r}")
    return int(text)
