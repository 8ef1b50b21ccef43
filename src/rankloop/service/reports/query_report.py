"""Report on one query: its lists and clicks, its order now beside the caller's, and what is not settled."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rankloop.policies import Policy
from rankloop.policy import KnowsCertainOrders, KnowsDeviations
from rankloop.service.core.lists.order_certainty import SETTLED, Grade, grade_of, sureness
from rankloop.service.core.model import asker_of
from rankloop.service.core.ranker import Ranker
from rankloop.service.reports.clicks_needed import ClicksNeeded, clicks_needed, two_digits
from rankloop.service.service_errors import HistoryError
from rankloop.service.store import Impression, ListFilter, ListSummary, Store
from rankloop.types import BoolArray, FloatArray, IntArray, Query

LISTS = 1000  # of a query that are counted, the newest
LATELY = 2000  # lists among which the most frequent queries are counted
PAIRS = 12  # of neighbours that are told of


@dataclass(frozen=True, slots=True)
class QueryResult:
    """A candidate of a query, where it would stand now."""

    object_id: str
    title: str  # what the caller calls it; empty: nothing was said
    position: int  # by what was learned
    own_position: int  # in the caller's order
    score: float
    shown: int  # times, in the lists that were counted
    clicks: int  # lists of these in which it was clicked


@dataclass(frozen=True, slots=True)
class UnsettledPair:
    """Two neighbours whose order is not settled."""

    above: str
    below: str
    probability: float  # that they stand right
    grade: Grade
    open: bool | None  # the policy may try it either way; None: it has no such criterion
    needs: ClicksNeeded | None  # None: the policy cannot tell
    titles: tuple[str, str] = ("", "")  # of the upper and of the lower; empty: nothing was said


@dataclass(frozen=True, slots=True)
class QueryReport:
    """What is known of a query: from its newest lists, and by the model in use."""

    ranker: str
    user_query: str
    lists: int  # that were counted: the newest of them, if there are more
    more: bool  # there are
    clicked: int  # of them
    ctr: float | None
    mrr: float | None  # mean over clicked lists of 1 / rank of the first click
    last_at: float
    last_query_id: str
    model: int
    results: tuple[QueryResult, ...]  # as they would stand now, without trying anything out
    moved: int  # of them, how many stand elsewhere than in the caller's order
    pairs: int  # among these results
    settled: int | None  # of them; None: the policy cannot tell
    unsettled: tuple[UnsettledPair, ...]  # of neighbours, those that need the fewest clicks first
    needed: int | None  # clicks until all neighbours are settled, if each pair takes its median


@dataclass(frozen=True, slots=True)
class QueryLine:
    """A query in a line: how often it was asked of late, and how much of it is settled."""

    user_query: str
    lists: int
    clicked: int
    settled: float | None  # share of the pairs of its results
    next: UnsettledPair | None  # the neighbours that need the fewest clicks
    needed: int | None


def query_report(ranker: Ranker, store: Store, user_query: str) -> QueryReport:
    """The report on one query, by its exact text."""
    found = store.statistics.find_lists(ranker.name, ListFilter(query=user_query), last=LISTS + 1)
    if not found:
        raise HistoryError(f"no list of the newest for the query {user_query!r}: is it spelled like that?")
    counted = found[:LISTS]
    last = store.find_impression(counted[0].query_id)
    if last is None:
        raise HistoryError(f"the last list for the query {user_query!r} was just discarded")
    return _reported(ranker, user_query, counted, last, more=len(found) > LISTS)


def frequent_queries(ranker: Ranker, store: Store, *, most: int = 10) -> list[QueryLine]:
    """The queries that were asked most of late, with what is not settled in them."""
    lately = store.statistics.find_lists(ranker.name, ListFilter(within=LATELY), last=LATELY)
    counts = Counter(each.user_query for each in lately)
    lines = []
    for name, _ in sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))[:most]:
        mine = [each for each in lately if each.user_query == name]
        last = store.find_impression(mine[0].query_id)
        if last is not None:
            lines.append(_line(_reported(ranker, name, mine, last, more=False)))
    return lines


def _line(found: QueryReport) -> QueryLine:
    share = None if found.settled is None or not found.pairs else found.settled / found.pairs
    first = found.unsettled[0] if found.unsettled else None
    return QueryLine(found.user_query, found.lists, found.clicked, share, first, found.needed)


def _reported(
    ranker: Ranker, user_query: str, counted: Sequence[ListSummary], last: Impression, *, more: bool
) -> QueryReport:
    model = ranker.view.model
    policy, query = model.asked(
        last.query_id, last.features, last.object_ids, last.groups, asker_of(last.user, last.context)
    )
    scores = policy.score(query).astype(np.float64)
    rows = np.argsort(-scores, kind="stable")[: last.k]
    results = _results(last, rows, scores, counted)
    told = sureness(policy, query, rows)
    unsettled, needed = _unsettled(policy, query, rows, results, told)
    firsts = [each.first_click for each in counted if each.first_click is not None]
    pairs = len(rows) * (len(rows) - 1) // 2
    return QueryReport(
        ranker=ranker.name,
        user_query=user_query,
        lists=len(counted),
        more=more,
        clicked=len(firsts),
        ctr=len(firsts) / len(counted),
        mrr=sum(1 / first for first in firsts) / len(firsts) if firsts else None,
        last_at=last.at,
        last_query_id=last.query_id,
        model=model.version,
        results=tuple(results),
        moved=sum(each.position != each.own_position for each in results),
        pairs=pairs,
        settled=None if told is None else int((np.triu(told, 1) >= SETTLED).sum()),
        unsettled=tuple(unsettled[:PAIRS]),
        needed=needed,
    )


def _results(
    last: Impression, rows: IntArray, scores: FloatArray, counted: Sequence[ListSummary]
) -> list[QueryResult]:
    shown = Counter(name for each in counted for name in each.shown)
    clicks = Counter(each.shown[position - 1] for each in counted for position in each.clicks)
    titles = {
        name: title
        for each in reversed(counted)  # the newest last: its titles hold
        for name, title in zip(each.shown, each.titles, strict=False)
        if title
    }
    return [
        QueryResult(
            object_id=(name := last.object_ids[row]),
            title=titles.get(name, ""),
            position=position,
            own_position=row + 1,
            score=float(scores[row]),
            shown=shown[name],
            clicks=clicks[name],
        )
        for position, row in enumerate(rows.tolist(), start=1)
    ]


def _unsettled(
    policy: Policy, query: Query, rows: IntArray, results: Sequence[QueryResult], told: FloatArray | None
) -> tuple[list[UnsettledPair], int | None]:
    """Neighbours that are not settled, the fewest clicks first, and what all need together."""
    if told is None or len(rows) < 2:
        return [], None
    scores = policy.score(query)[rows].astype(np.float64)
    spreads = policy.order_deviations(query, rows) if isinstance(policy, KnowsDeviations) else None
    certain = _certain(policy, query, rows)
    found = []
    for upper in range(len(rows) - 1):
        lower, sure = upper + 1, float(told[upper, upper + 1])
        if sure >= SETTLED:
            continue
        gap = float(scores[upper] - scores[lower])
        needs = None if spreads is None else clicks_needed(gap, float(spreads[upper, lower]))
        tried = None if certain is None else not (certain[upper, lower] or certain[lower, upper])
        above, below = results[upper], results[lower]
        titles = above.title, below.title
        found.append(
            UnsettledPair(above.object_id, below.object_id, sure, grade_of(sure), tried, needs, titles)
        )
    known = [each.needs.median for each in found if each.needs is not None]
    found.sort(key=lambda each: float("inf") if each.needs is None else each.needs.median)
    return found, two_digits(sum(known)) if len(known) == len(found) else None


def _certain(policy: Policy, query: Query, rows: IntArray) -> BoolArray | None:
    if not isinstance(policy, KnowsCertainOrders):
        return None
    certain: BoolArray = policy.certain_orders(query)[np.ix_(rows, rows)]
    return certain
