"""Trial routes: begin a live comparison, look at it whenever you like, and stop it."""

from __future__ import annotations

from functools import partial
from typing import Annotated

from litestar import get, post
from litestar.params import FromPath, JSONBody
from msgspec import Meta, Struct

from rankloop.service.extensions.trial.report import TrialReport
from rankloop.service.extensions.trial.trial_state import TrialSettings
from rankloop.service.http.app_context import InjectedContext
from rankloop.service.http.route_decorators import AnyRequest, key_of, needs

ADMIN = [needs("admin")]
Reason = Annotated[str, Meta(min_length=1, max_length=200)]


class TrialBody(TrialSettings, frozen=True, kw_only=True, omit_defaults=True):
    """What to compare a ranker with; with neither ranker nor policy, the caller's own order."""

    reason: Annotated[str, Meta(max_length=2000, description="why; it stays in the decision log")] = ""


class StopBody(Struct, forbid_unknown_fields=True):
    """Why a trial is stopped."""

    reason: Reason = "it was stopped"


@post("/v1/rankers/{ranker:str}/trials", status_code=200, guards=ADMIN, summary="Begin a trial")
async def start(
    ranker: FromPath[str], data: JSONBody[TrialBody], context: InjectedContext, request: AnyRequest
) -> TrialReport:
    """Compare the ranker with something else, from the next list on."""
    chosen = {name: getattr(data, name) for name in TrialSettings.__struct_fields__}
    said = {"by": key_of(request), "reason": data.reason}
    job = partial(context.service.start_trial, ranker, TrialSettings(**chosen), **said)
    number = await context.ask(job)
    return await context.ask(partial(context.service.find_trial, ranker, number))


@get("/v1/rankers/{ranker:str}/trials", guards=ADMIN, summary="The trials of a ranker")
async def trials(ranker: FromPath[str], context: InjectedContext) -> list[TrialReport]:
    """What has come of them so far, the newest first."""
    return await context.ask(partial(context.service.trials, ranker))


@get("/v1/rankers/{ranker:str}/trials/{trial:int}", guards=ADMIN, summary="What a trial says")
async def trial(ranker: FromPath[str], trial: FromPath[int], context: InjectedContext) -> TrialReport:
    """The verdict as of now, with its interval."""
    return await context.ask(partial(context.service.find_trial, ranker, trial))


@post(
    "/v1/rankers/{ranker:str}/trials/{trial:int}/stop",
    status_code=200,
    guards=ADMIN,
    summary="Stop a trial",
)
async def stop(
    ranker: FromPath[str],
    trial: FromPath[int],
    data: JSONBody[StopBody],
    context: InjectedContext,
    request: AnyRequest,
) -> TrialReport:
    """End it, whenever you like; the report of what it has shown."""
    said = {"by": key_of(request), "reason": data.reason}
    return await context.ask(partial(context.service.stop_trial, ranker, trial, **said))
