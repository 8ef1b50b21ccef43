"""Recommendation routes: a list with its reasons, the reasons of a past list, and an interview."""

from __future__ import annotations

from functools import partial

from litestar import MediaType, Response, get, post
from litestar.params import FromPath, JSONBody

from rankloop.recommend import Interview
from rankloop.service.extensions.recommend.recommend_request import RecommendRequest
from rankloop.service.extensions.recommend.recommend_response import (
    PastReasons,
    Recommendation,
    RecommenderInfo,
)
from rankloop.service.http.app_context import InjectedContext
from rankloop.service.http.rank_body import InterviewBody, RecommendBody
from rankloop.service.http.route_decorators import needs

RANK, ADMIN = [needs("rank")], [needs("admin")]


@post("/v1/recommend", status_code=200, guards=RANK, summary="Recommend items, with reasons")
async def recommend(data: JSONBody[RecommendBody], context: InjectedContext) -> Response[Recommendation]:
    """A list of what someone may like best, why, and the query_id under which its events are to be sent.

    The recommender chooses candidates, which the ranker puts in order. If that cannot be done in time, these
    are the most popular items, and `provenance.fallback` says why.
    """
    request = RecommendRequest(
        ranker=data.ranker,
        user=data.user,
        items=data.items,
        answers=data.answers,
        k=data.k,
        n_candidates=data.n_candidates,
        exclude=data.exclude,
        user_query=data.user_query,
        client_id=data.client_id,
        session_id=data.session_id,
        query_id=data.query_id,
    )
    body = await context.recommend_executor.run(request)
    return Response(body, media_type=MediaType.JSON)  # type: ignore[arg-type]


@get("/v1/reasons/{query_id:str}", guards=RANK, summary="Why the items of a past list were recommended")
async def reasons(query_id: FromPath[str], context: InjectedContext) -> PastReasons:
    """The reasons of a list, made again by the recommender that chose it; refused if that is another now."""
    return await context.ask(partial(context.service.reasons, query_id))


@post("/v1/interview", status_code=200, guards=RANK, summary="Ask a newcomer the next question")
async def interview(data: JSONBody[InterviewBody], context: InjectedContext) -> Interview:
    """The answers so far in, the next question out; nothing is kept between two of them."""
    return await context.ask(partial(context.service.interview, data.ranker, data.answers))


@get("/v1/recommenders", guards=ADMIN, summary="The recommenders there are")
async def recommenders(context: InjectedContext) -> list[RecommenderInfo]:
    """Which recommender feeds which ranker, and what it can do."""
    return context.service.recommenders()
