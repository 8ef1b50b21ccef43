"""Ranker routes: which there are, their settings, and their mode."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Annotated, Any

from litestar import Response, get, patch, post, put
from litestar.params import FromPath, JSONBody, QueryParameter
from msgspec import Struct

from rankloop.service.core.ranker_settings import BaseRankerSettings, Mode
from rankloop.service.core.settings_change import SettingsPreview, check_confirmed
from rankloop.service.http.app_context import AppContext, InjectedContext
from rankloop.service.http.rank_body import ModeBody, RankerBody
from rankloop.service.http.route_decorators import AnyRequest, key_of, needs
from rankloop.service.http.routes.job_routes import IdempotencyKey
from rankloop.service.operations.jobs import JobReport
from rankloop.service.reports.health import RankerHealth

ADMIN = [needs("admin")]


class RankerMode(Struct):
    """The mode of a ranker."""

    ranker: str
    mode: Mode


class Rules(Struct):
    """A ranker's settings, with every default, and their version."""

    ranker: str
    version: int
    settings: dict[str, Any]
    job: JobReport | None = None  # that puts others into force, or has


@get("/v1/rankers", guards=ADMIN, summary="All rankers, in numbers")
async def rankers(context: InjectedContext) -> dict[str, RankerHealth]:
    """How each ranker is."""
    return dict(context.service.health().rankers)


@post("/v1/rankers", status_code=200, guards=ADMIN, summary="Begin a ranker")
async def create(data: JSONBody[RankerBody], context: InjectedContext, request: AnyRequest) -> Rules:
    """Begin a ranker; nothing happens if it is there with the same settings."""
    settings = context.service.settings_from(data.settings)
    said = {"by": key_of(request), "reason": data.reason}
    job = partial(context.service.create, data.name, settings, mode=data.mode, **said)
    await context.ask(job)
    return _rules(context, data.name)


@get("/v1/rankers/{ranker:str}/settings", guards=ADMIN, summary="A ranker's settings")
async def settings(ranker: FromPath[str], context: InjectedContext) -> Rules:
    """The rules in force."""
    return _rules(context, ranker)


Relearn = Annotated[
    bool, QueryParameter(description="learn the log again as if these had always held: a warm start")
]
Preview = Annotated[bool, QueryParameter(description="only say what would change, and what would be lost")]
Version = Annotated[
    int | None, QueryParameter(description="of the settings you have seen; 409 if others are in force")
]
Confirm = Annotated[
    str, QueryParameter(description="of the preview: a change that drops what was learned must be confirmed")
]
Why = Annotated[str, QueryParameter(max_length=2000, description="why")]


@patch("/v1/rankers/{ranker:str}/settings", guards=ADMIN, summary="Change some of a ranker's settings")
async def change(
    ranker: FromPath[str],
    data: JSONBody[dict[str, Any]],
    context: InjectedContext,
    request: AnyRequest,
    relearn: Relearn = False,
    preview: Preview = False,
    version: Version = None,
    confirm: Confirm = "",
    reason: Why = "",
    key: IdempotencyKey = "",
) -> Response[Rules | SettingsPreview]:
    """Change what is named, as a JSON merge patch (RFC 7396); null brings a default back, all else stays.

    If that would drop what was learned, or change the policy, the answer is 409 with a preview: send the same
    again with its `confirm`. To relearn is a job: 202 if it is under way, and the settings in force are still
    the former ones.
    """
    settings = context.service.patched(ranker, data)
    found = await context.ask(partial(_confirmed, context, ranker, settings, relearn, preview, confirm))
    if preview:
        return Response(found)
    said = {"by": key_of(request), "reason": reason}
    return await _changed(context, found, settings, version, key, said)


def _confirmed(
    context: AppContext, ranker: str, settings: BaseRankerSettings, relearn: bool, only: bool, confirm: str
) -> SettingsPreview:
    """What would change; refused if it must be confirmed and was not, unless a preview is asked for."""
    found = context.service.preview(ranker, settings, relearn=relearn)
    if not only:
        check_confirmed(found, confirm)
    return found


async def _changed(
    context: AppContext,
    found: SettingsPreview,
    settings: BaseRankerSettings,
    version: int | None,
    key: str,
    said: Mapping[str, str],
) -> Response[Rules | SettingsPreview]:
    service, seen = context.service, found.version if version is None else version
    by, reason = said["by"], said["reason"]
    if found.relearn:
        ask = partial(service.adopt, found.ranker, settings, version=seen, key=key, by=by, reason=reason)
        report = await context.ask(ask)
        return Response(_rules(context, found.ranker, report), status_code=200 if report.ended else 202)
    await context.ask(partial(service.configure, found.ranker, settings, version=seen, by=by, reason=reason))
    return Response(_rules(context, found.ranker))


@put("/v1/mode", guards=ADMIN, summary="Change a ranker's mode")
async def set_mode(data: JSONBody[ModeBody], context: InjectedContext, request: AnyRequest) -> RankerMode:
    """Change the mode; it is in force with this answer."""
    said = {"by": key_of(request), "reason": data.reason}
    job = partial(context.service.set_mode, data.ranker, data.mode, **said)
    await context.ask(job)
    return RankerMode(data.ranker, context.service.mode(data.ranker))


def _rules(context: AppContext, ranker: str, job: JobReport | None = None) -> Rules:
    configuration = context.service.ranker(ranker).view.configuration
    return Rules(ranker, configuration.settings_version, configuration.settings.to_json(), job)
