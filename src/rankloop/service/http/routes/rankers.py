"""Ranker routes: which there are, their settings, and their mode."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any

from litestar import get, post, put
from litestar.params import FromPath, FromQuery, JSONBody, QueryParameter
from msgspec import Struct

from rankloop.service.http.auth import needs
from rankloop.service.http.context import AppContext, InjectedContext
from rankloop.service.http.schemas import ModeBody, RankerBody
from rankloop.service.operations.status import RankerHealth
from rankloop.service.settings import Mode

ADMIN = [needs("admin")]


class Rung(Struct):
    """The rung of the ladder a ranker stands on."""

    ranker: str
    mode: Mode


class Rules(Struct):
    """A ranker's settings, with every default, and their version."""

    ranker: str
    version: int
    settings: dict[str, Any]


@get("/v1/rankers", guards=ADMIN, summary="All rankers, in numbers")
async def rankers(context: InjectedContext) -> dict[str, RankerHealth]:
    """How each ranker is."""
    return dict(context.service.health().rankers)


@post("/v1/rankers", status_code=200, guards=ADMIN, summary="Begin a ranker")
async def create(data: JSONBody[RankerBody], context: InjectedContext) -> Rules:
    """Begin a ranker; nothing happens if it is there with the same settings."""
    rules = context.service.settings_from(data.settings)
    job = partial(context.service.create, data.name, rules, mode=data.mode)
    await context.ask(job)
    return _rules(context, data.name)


@get("/v1/rankers/{ranker:str}/settings", guards=ADMIN, summary="A ranker's settings")
async def settings(ranker: FromPath[str], context: InjectedContext) -> Rules:
    """The rules in force."""
    return _rules(context, ranker)


@put("/v1/rankers/{ranker:str}/settings", guards=ADMIN, summary="Change a ranker's settings")
async def configure(
    ranker: FromPath[str],
    data: JSONBody[dict[str, Any]],
    context: InjectedContext,
    relearn: Annotated[
        bool, QueryParameter(description="learn the log again as if these had always held: a warm start")
    ] = False,
) -> Rules:
    """Put these settings into force; what is left out has its default, not its former value."""
    context.service.ranker(ranker)
    rules = context.service.settings_from(data)
    job = partial(context.service.configure, ranker, rules, relearn=relearn)
    await context.ask(job)
    return _rules(context, ranker)


@get("/v1/mode", guards=ADMIN, summary="A ranker's mode")
async def mode(context: InjectedContext, ranker: FromQuery[str] = "default") -> Rung:
    """The rung it stands on: explore, exploit, frozen, passthrough, or shadow beside them."""
    return Rung(ranker, context.service.mode(ranker))


@put("/v1/mode", guards=ADMIN, summary="Step up or down")
async def set_mode(data: JSONBody[ModeBody], context: InjectedContext) -> Rung:
    """Change the mode; it is in force with this answer."""
    job = partial(context.service.set_mode, data.ranker, data.mode, reason=data.reason)
    await context.ask(job)
    return Rung(data.ranker, context.service.mode(data.ranker))


def _rules(context: AppContext, ranker: str) -> Rules:
    in_force = context.service.ranker(ranker).view.in_force
    return Rules(ranker, in_force.settings, in_force.rules.to_json())
