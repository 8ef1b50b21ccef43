"""The wheel: rankers, their settings, and their mode."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from functools import partial
from typing import Annotated, Any

import numpy as np
from litestar import get, post, put
from litestar.params import FromPath, FromQuery, JSONBody, QueryParameter
from msgspec import Struct

from rankloop.policies import Policy
from rankloop.service.features import check_text
from rankloop.service.health import RankerHealth
from rankloop.service.http.bodies import ModeBody, RankerBody
from rankloop.service.http.face import Face, GivenFace
from rankloop.service.http.guard import needs
from rankloop.service.settings import Mode, RankerSettings
from rankloop.spelling import Catalogue
from rankloop.types import Feedback, Query, RankloopError, SettingError

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
async def rankers(face: GivenFace) -> dict[str, RankerHealth]:
    """How each ranker is."""
    return dict(face.service.health().rankers)


@post("/v1/rankers", status_code=200, guards=ADMIN, summary="Begin a ranker")
async def create(data: JSONBody[RankerBody], face: GivenFace) -> Rules:
    """Begin a ranker; nothing happens if it is there with the same settings."""
    rules = usable(data.settings, face.known)
    job = partial(face.service.create, data.name, rules, mode=data.mode)
    await face.asking.run(job, seconds=face.settings.patience)
    return _rules(face, data.name)


@get("/v1/rankers/{ranker:str}/settings", guards=ADMIN, summary="A ranker's settings")
async def settings(ranker: FromPath[str], face: GivenFace) -> Rules:
    """The rules in force."""
    return _rules(face, ranker)


@put("/v1/rankers/{ranker:str}/settings", guards=ADMIN, summary="Change a ranker's settings")
async def configure(
    ranker: FromPath[str],
    data: JSONBody[dict[str, Any]],
    face: GivenFace,
    learn_again: Annotated[
        bool, QueryParameter(description="fold the log anew as if these had always held: a warm start")
    ] = False,
) -> Rules:
    """Put these settings into force; what is left out has its default, not its former value."""
    face.service.ranker(ranker)
    rules = usable(data, face.known)
    job = partial(face.service.configure, ranker, rules, learn_again=learn_again)
    await face.asking.run(job, seconds=face.settings.patience)
    return _rules(face, ranker)


@get("/v1/mode", guards=ADMIN, summary="A ranker's mode")
async def mode(face: GivenFace, ranker: FromQuery[str] = "default") -> Rung:
    """The rung it stands on: explore, exploit, frozen, passthrough, or shadow beside them."""
    return Rung(ranker, face.service.mode(ranker))


@put("/v1/mode", guards=ADMIN, summary="Step up or down")
async def set_mode(data: JSONBody[ModeBody], face: GivenFace) -> Rung:
    """Change the mode; it is in force with this answer."""
    job = partial(face.service.set_mode, data.ranker, data.mode, reason=data.reason)
    await face.asking.run(job, seconds=face.settings.patience)
    return Rung(data.ranker, face.service.mode(data.ranker))


def usable(data: Mapping[str, Any], known: Catalogue) -> RankerSettings:
    """Settings under which a policy can rank and learn; tried on a small list before anything is changed.

    >>> from rankloop.spelling import catalogue
    >>> usable({"window": 60}, catalogue()).window
    60
    >>> usable({"policy": {"name": "mgd", "settings": {"interleaving": 5}}}, catalogue())
    Traceback (most recent call last):
    ...
    rankloop.types.SettingError: policy 'mgd' does not work with these settings: AttributeError: ...
    """
    policy = data.get("policy", {"name": "pairrank"})
    if not isinstance(policy, Mapping):
        raise SettingError(f'a policy is {{"name": ..., "settings": {{...}}}}, found {repr(policy)[:50]}')
    for action in data.get("actions") or ():
        check_text("an action", action)
    try:
        rules = RankerSettings.from_json(data, known)
        _try_out(rules.policy)
    except RankloopError:
        raise
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"[:200]
        raise SettingError(
            f"policy {policy.get('name')!r} does not work with these settings: {reason}"
        ) from error
    return rules


def _try_out(policy: Policy) -> None:
    """Rank and learn once, on a copy."""
    pupil = copy.deepcopy(policy)
    query = Query("trial", np.array([[0.0, 1.0], [1.0, 0.0], [0.5, 0.5]]))
    ranking = pupil.rank(query, k=2, rng=np.random.default_rng(0))
    pupil.learn(Feedback(ranking, np.array([False, True])))
    pupil.score(query)


def _rules(face: Face, ranker: str) -> Rules:
    view = face.service.ranker(ranker).view
    return Rules(ranker, view.settings, view.rules.to_json())
