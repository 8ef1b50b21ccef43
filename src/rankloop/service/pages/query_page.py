"""Query page: one past list, what was settled, what was open, and why one result stands above another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import isnan
from typing import Annotated

from litestar import Response, get
from litestar.params import FromPath, QueryParameter

from rankloop.errors import RankloopError
from rankloop.service import Audit, Explanation
from rankloop.service.extensions.recommend.reason_bars import ReasonBar, reason_bars
from rankloop.service.http.app_context import InjectedContext
from rankloop.service.pages.shell import InjectedPages
from rankloop.service.pages.sign_in import AnyRequest
from rankloop.service.reports.pair_explanation import OWN_ORDER
from rankloop.service.reports.settled_pairs import SettledPairs
from rankloop.service.service_facade import ServiceFacade
from rankloop.service.store import Impression

DRAWN = 20  # results in the picture
FEATURES = 12  # in an explanation
HALF = 100.0  # units of a bar's way to either side
Id = Annotated[str, QueryParameter(max_length=200)]


@dataclass(frozen=True, slots=True)
class Bar:
    """What a feature contributed: to the right for the upper result, to the left for the lower."""

    feature: str
    value: float
    x: float
    width: float


@dataclass(frozen=True, slots=True)
class Looked:
    """All that the page says."""

    audit: Audit
    picture: SettledPairs
    why: Explanation | None
    reasons: Sequence[ReasonBar]  # of a recommended list
    without_reasons: str  # why there are none


@get("/query/{query_id:str}")
async def query(
    request: AnyRequest,
    pages: InjectedPages,
    context: InjectedContext,
    query_id: FromPath[str],
    a: Id = "",
    b: Id = "",
) -> Response[str]:
    """The picture of one list."""
    looked = await context.ask(partial(_look, context.service, query_id, a, b))
    picture, why, shown = looked.picture, looked.why, looked.audit.impression
    return pages.show(
        request,
        "query.html",
        section="/query",
        ranker=shown.ranker,
        shown=shown,
        groups=[shown.groups[row] for row in shown.order]
        if "fair" in shown.parts and any(shown.groups)
        else [],
        events=looked.audit.events,
        picture=picture,
        names=picture.shown[:DRAWN],
        block_of={name: number for number, block in enumerate(picture.blocks, start=1) for name in block},
        why=why,
        bars=bars(why.contributions) if why else [],
        reasons=looked.reasons[:DRAWN],
        without_reasons=looked.without_reasons,
        titles=dict(zip(shown.shown, shown.titles, strict=False))
        | {each.object_id: each.title for each in looked.reasons},
        values=values_of(shown, context.service.columns(shown.ranker)),
        own_order=OWN_ORDER,
        tries=shown.mode == "explore" and not shown.fallback,
    )


def values_of(shown: Impression, columns: Sequence[str]) -> dict[str, dict[str, float]]:
    """The features of every candidate by name, as they were sent; what is missing is left out."""
    rows = shown.features.tolist()
    return {
        object_id: {name: value for name, value in zip(columns, row, strict=False) if not isnan(value)}
        for object_id, row in zip(shown.object_ids, rows, strict=True)
    }


def bars(contributions: Mapping[str, float]) -> list[Bar]:
    """The contributions as bars around a middle line, the largest first.

    >>> [(bar.feature, bar.x, bar.width) for bar in bars({"price": 2.0, "age": -1.0})]
    [('price', 100.0, 100.0), ('age', 50.0, 50.0)]
    """
    parts = list(contributions.items())[:FEATURES]
    longest = max((abs(value) for _, value in parts), default=1.0)
    lengths = [HALF * abs(value) / longest for _, value in parts]
    return [
        Bar(name, value, HALF if value > 0 else HALF - length, length)
        for (name, value), length in zip(parts, lengths, strict=True)
    ]


def _look(service: ServiceFacade, query_id: str, a: str, b: str) -> Looked:
    audit, picture = service.audit(query_id), service.settled(query_id)
    if not (a and b):
        a, b = _first_pair(picture)
    why = service.explain(query_id, a, b) if a and b else None
    return Looked(audit, picture, why, *_reasons(service, audit))


def _reasons(service: ServiceFacade, audit: Audit) -> tuple[Sequence[ReasonBar], str]:
    """Why the results were recommended; or nothing, and what to do about it if they were."""
    if "recommend" not in audit.impression.parts:
        return [], ""
    try:
        return reason_bars(service.reasons(audit.impression.query_id).reasons), ""
    except RankloopError as error:
        return [], str(error)


def _first_pair(picture: SettledPairs) -> tuple[str, str]:
    return (picture.shown[0], picture.shown[1]) if len(picture.shown) > 1 else ("", "")
