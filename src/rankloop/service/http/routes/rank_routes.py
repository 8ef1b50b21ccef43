"""Ranking route: candidates in, a ranked list out."""

from __future__ import annotations

from typing import cast

from litestar import MediaType, Response, post
from litestar.params import JSONBody, SkipValidation

from rankloop.service.core.lists.rank_request import RankRequest
from rankloop.service.core.lists.rank_response import RankResponse
from rankloop.service.http.app_context import AppContext
from rankloop.service.http.http_errors import AnyRequest
from rankloop.service.http.rank_body import RankBody
from rankloop.service.http.route_decorators import asks_first

PATH = "/v1/rank"


@post(PATH, status_code=200, before_request=asks_first("rank"), summary="Rank candidates")
async def rank(data: JSONBody[SkipValidation[RankBody]], request: AnyRequest) -> Response[RankResponse]:
    """A ranked list and the query_id under which its events are to be sent.

    If it cannot be made in time, it is the caller's own order, and `provenance.fallback` says why.
    """
    context: AppContext = request.app.state.context
    body = await context.rank_executor.run(cast(RankRequest, data))  # the decoder makes one of every body
    return Response(body, media_type=MediaType.JSON)  # type: ignore[arg-type]
