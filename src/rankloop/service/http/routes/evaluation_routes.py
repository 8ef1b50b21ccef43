"""What-if route: what another policy, or another ranker, would have got from the same visitors."""

from __future__ import annotations

from functools import partial
from typing import Annotated

from litestar import post
from litestar.exceptions import HTTPException
from litestar.params import JSONBody
from msgspec import Meta, Struct

from rankloop.errors import DataError
from rankloop.evaluation import NoSupport
from rankloop.service.http.app_context import InjectedContext
from rankloop.service.http.route_decorators import needs
from rankloop.service.reports.policy_evaluation import WhatIf
from rankloop.service.service_facade import ServiceFacade

SECONDS = 60.0  # a whole log is read, and half of it learned
Fraction = Annotated[float, Meta(gt=0, lt=1)]


class WhatIfBody(Struct, forbid_unknown_fields=True, kw_only=True):
    """Who is asked about: a policy, which learns from the first part of the log, or another ranker."""

    ranker: Annotated[str, Meta(description="whose visitors")] = "default"
    policy: Annotated[str | None, Meta(description="as in `PDGD(learning_rate=0.1)`")] = None
    other: Annotated[str, Meta(description="or another ranker, as it is now")] = ""
    depth: Annotated[int, Meta(ge=1, le=100, description="clicks on so many of the first results")] = 1
    share: Annotated[Fraction, Meta(description="of the lists, that the policy learns from")] = 0.5
    explore: Annotated[bool, Meta(description="as it would draw lists, not as it would score them")] = False
    level: Annotated[Fraction, Meta(description="with which probability an interval holds")] = 0.95


@post("/v1/what-if", status_code=200, guards=[needs("admin")], summary="What would another have got?")
async def what_if(data: JSONBody[WhatIfBody], context: InjectedContext) -> WhatIf:
    """Clicks per list on the first results, as it was and would have been; 409 if the log cannot tell."""
    return await context.admin_workers.run(partial(answered, context.service, data), seconds=SECONDS)


def answered(service: ServiceFacade, asked: WhatIfBody) -> WhatIf:
    """The answer, or the reason why the log has none."""
    policy = None if asked.policy is None else service.settings_from({"policy": asked.policy}).policy
    try:
        return service.what_if(
            asked.ranker,
            policy,
            other=asked.other,
            depth=asked.depth,
            share=asked.share,
            explore=asked.explore,
            level=asked.level,
        )
    except (NoSupport, DataError) as error:
        raise HTTPException(status_code=409, detail=f"no answer: {error}") from error
