"""Recommend page: what someone would be recommended, and why; nobody is shown it, and nothing is logged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated

from litestar import Response, get
from litestar.params import FromQuery, QueryParameter

from rankloop.errors import RequestError
from rankloop.recommend import Interview
from rankloop.service import Recommendation, RecommenderInfo, RecommendRequest
from rankloop.service.extensions.recommend.reason_bars import ReasonBar, reason_bars
from rankloop.service.http.app_context import InjectedContext
from rankloop.service.pages.shell import InjectedPages
from rankloop.service.pages.sign_in import AnyRequest
from rankloop.service.service_facade import ServiceFacade

SHOWN = 10
Text = Annotated[str, QueryParameter(max_length=2000)]
Answers = Annotated[list[str] | None, QueryParameter(max_items=100, description="much:feature:fit")]


@dataclass(frozen=True, slots=True)
class Tried:
    """What would be recommended, or why nothing can be."""

    found: Recommendation | None
    bars: Sequence[ReasonBar]
    interview: Interview | None
    trouble: str


@get("/recommend")
async def recommend(
    request: AnyRequest,
    pages: InjectedPages,
    context: InjectedContext,
    ranker: FromQuery[str] = "",
    user: Text = "",
    items: Text = "",
    answer: Answers = None,
) -> Response[str]:
    """The list someone would get, with its reasons."""
    known = {each.ranker: each for each in context.service.recommenders()}
    info = known.get(ranker) or next(iter(known.values()), None)
    said = dict(_answer(each) for each in answer or [])
    own = tuple(name.strip() for name in items.split(",") if name.strip())
    job = partial(_try, context.service, info, user.strip(), own, said) if info else None
    return pages.show(
        request,
        "recommend.html",
        section="/recommend",
        info=info,
        rankers=list(known),
        user=user,
        items=items,
        answers=[f"{each}:{question}" for question, each in said.items()],
        tried=await context.ask(job) if job else None,
    )


def _answer(text: str) -> tuple[str, str]:
    """A question and its answer, which come as `much:feature:fit`.

    >>> _answer("much:feature:fit")
    ('feature:fit', 'much')
    """
    answer, _, question = text.partition(":")
    return question, answer


def _try(
    service: ServiceFacade,
    info: RecommenderInfo,
    user: str,
    items: Sequence[str],
    answers: Mapping[str, str],
) -> Tried:
    try:
        asked = service.interview(info.ranker, answers) if info.interviews else None
        wanted = RecommendRequest(ranker=info.ranker, user=user, items=items, answers=answers, k=SHOWN)
        found = service.prepare_recommendation(wanted).response  # never published: nobody sees it
    except RequestError as error:
        return Tried(None, [], None, str(error))
    return Tried(found, reason_bars(found.reasons), asked, "")
