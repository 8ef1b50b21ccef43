"""Statistics for the pages, from sums that are kept: what happened, and how events were understood."""

from __future__ import annotations

import sqlite3

from rankloop.service.store.grades import GradeScale
from rankloop.service.store.impression_codec import SUMMARY_COLUMNS, summary_from
from rankloop.service.store.log_records import (
    SQUATTED,
    EventTally,
    GradeTally,
    ListFilter,
    ListSummary,
    SourceTally,
    Traffic,
)
from rankloop.service.store.sqlite.sums import CLICKS, FIRST_CLICK, events_summed, summed
from rankloop.service.store.sums import (
    LATEST,
    TRACED,
    edges,
    found_by_rank,
    like,
    part_ends,
    sources_of,
    traffic_of,
)

NEXT_LIST = "SELECT seq FROM impressions WHERE ranker = ? AND at >= ? ORDER BY at, seq LIMIT 1"
NEXT_EVENT = "SELECT seq FROM events WHERE at >= ? ORDER BY at, seq LIMIT 1"
BEYOND = 2**62  # every entry
NUMBERS = ("one_based", "zero_based", "misplaced", "ahead", "behind")


def traffic(
    connection: sqlite3.Connection, ranker: str, *, since: float, until: float, step: float
) -> list[Traffic]:
    """Lists and clicks in steps of time; steps without a list are left out."""
    starts = edges(since, until, step)
    bounds = [_next(connection, NEXT_LIST, ranker, start) for start in starts]
    found = summed(connection, ranker, bounds)
    return [traffic_of(starts[number], sums) for number, sums in found.items()]


def in_parts(
    connection: sqlite3.Connection, ranker: str, *, since: float, until: float, parts: int, least: int
) -> list[Traffic]:
    """Lists and clicks in up to so many parts of equally many lists, `least` or more if there are."""

    def counts(shift: int, low: int, high: int) -> list[tuple[int, int]]:
        where = "ranker = ? AND shift = ? AND bucket >= ? AND bucket < ? ORDER BY bucket"
        query = f"SELECT bucket, lists FROM list_sums WHERE {where}"
        return connection.execute(query, (ranker, shift, low, high)).fetchall()

    def numbers(low: int, high: int) -> list[int]:
        query = "SELECT seq FROM impressions WHERE seq >= ? AND seq < ? AND +ranker = ? ORDER BY seq"
        return [seq for (seq,) in connection.execute(query, (low, high, ranker))]

    first, past = (_next(connection, NEXT_LIST, ranker, moment) for moment in (since, until))
    bounds = found_by_rank(first, past, lambda lists: part_ends(lists, parts, least), counts, numbers)
    found = summed(connection, ranker, bounds)
    starts = [connection.execute("SELECT at FROM impressions WHERE seq = ?", (bounds[n],)) for n in found]
    return [traffic_of(row.fetchone()[0], sums) for row, sums in zip(starts, found.values(), strict=True)]


def summaries(
    connection: sqlite3.Connection, ranker: str, wanted: ListFilter, *, last: int
) -> list[ListSummary]:
    """The last lists of those that are wanted, the newest first, with what was clicked in them."""
    conditions = {
        "fold_case(user_query) LIKE :text ESCAPE '!'": bool(wanted.text),
        "user_query = :query": wanted.query is not None,
        f"{FIRST_CLICK} IS {'NOT' if wanted.clicked else ''} NULL": wanted.clicked is not None,
        "mode = :mode": bool(wanted.mode),
        f"fallback {'!=' if wanted.fallback else '='} ''": wanted.fallback is not None,
    }
    where = " AND ".join(each for each, asked in conditions.items() if asked) or "1"
    connection.create_function("fold_case", 1, str.lower, deterministic=True)  # SQLite's own knows ASCII only
    rows = connection.execute(
        f"""SELECT {", ".join(SUMMARY_COLUMNS)}, {CLICKS} FROM (
            SELECT * FROM impressions WHERE ranker = :ranker AND seq < :before AND at <= :at
            ORDER BY at DESC, seq DESC LIMIT :within) AS impressions
        WHERE {where} ORDER BY at DESC, seq DESC LIMIT :last""",
        {
            "ranker": ranker,
            "before": BEYOND if wanted.before is None else wanted.before,
            "at": _time_before(connection, wanted.before),
            "within": wanted.within,
            "text": like(wanted.text),
            "query": wanted.query,
            "mode": wanted.mode,
            "last": last,
        },
    )
    return [summary_from(row) for row in rows]


def _time_before(connection: sqlite3.Connection, before: int | None) -> float:
    """The time of the last list before an entry: where to begin to look."""
    query = "SELECT at FROM impressions WHERE seq < ? ORDER BY seq DESC LIMIT 1"
    row = connection.execute(query, (BEYOND if before is None else before,)).fetchone()
    return 0.0 if row is None else float(row[0])


def tally(connection: sqlite3.Connection, ranker: str | None, *, since: float, until: float) -> EventTally:
    """How the events that arrived in a stretch of time were understood."""
    first, past = (_next(connection, NEXT_EVENT, moment) for moment in (since, until))
    rows = events_summed(connection, ranker, first, past)
    clients = connection.execute(
        f"""SELECT client_id, count(*) FROM (
            SELECT client_id FROM events WHERE seq >= :first AND seq < :past
                {"" if ranker is None else "AND ranker = :ranker"} ORDER BY seq DESC LIMIT {LATEST})
        GROUP BY 1 ORDER BY 2 DESC, 1""",
        {"ranker": ranker, "first": first, "past": past},
    ).fetchall()
    return EventTally(
        verdicts={verdict: events for verdict, events, *_ in rows},
        busiest=[(client, events) for client, events in clients if client][:5],
        latest=sum(events for _, events in clients),
        **{name: sum(row[index] for row in rows) for index, name in enumerate(NUMBERS, start=2)},
    )


def _next(connection: sqlite3.Connection, query: str, *values: object) -> int:
    """The first entry from a moment on; a number beyond every entry, if there is none."""
    row = connection.execute(query, values).fetchone()
    return BEYOND if row is None else int(row[0])


def sources(connection: sqlite3.Connection, *, since: float, until: float) -> SourceTally:
    """Where the last events of a stretch of time came from."""
    first, past = (_next(connection, NEXT_EVENT, moment) for moment in (since, until))
    rows = connection.execute(
        f"""SELECT source, CAST((at - :since) / 60 AS INTEGER), count(*), sum(verdict = 'held'),
            sum(verdict = 'duplicate' AND detail = :squatted)
        FROM (SELECT source, at, verdict, detail FROM events WHERE seq >= :first AND seq < :past
            ORDER BY seq DESC LIMIT {TRACED})
        GROUP BY 1, 2""",
        {"since": since, "first": first, "past": past, "squatted": SQUATTED},
    )
    return sources_of(rows)


def grades(
    connection: sqlite3.Connection, ranker: str, *, since: float, until: float, scale: GradeScale
) -> GradeTally:
    """How the lists that were shown in a stretch of time were graded."""
    values = {"ranker": ranker, "since": since, "until": until, "highest": scale.highest}
    shown = "FROM impressions WHERE ranker = :ranker AND at >= :since AND at < :until"
    (lists,) = connection.execute(f"SELECT count(*) {shown}", values).fetchone()
    actions = {f"action{number}": action for number, action in enumerate(scale.weights)}
    weights = {f"weight{number}": weight for number, weight in enumerate(scale.weights.values())}
    pairs = ", ".join(f"(:{action}, :{weight})" for action, weight in zip(actions, weights, strict=True))
    # beside max(seq), SQLite takes the other columns from the row that has it: the last one of each action
    rows = connection.execute(
        f"""WITH weights (action, weight) AS (VALUES {pairs}),
        last AS (
            SELECT list_seq, position, weight * ifnull(value, 1.0) AS part, max(seq)
            FROM events JOIN weights USING (action)
            WHERE verdict IN ('accepted', 'late') AND list_seq IN (SELECT seq {shown})
                AND position IS NOT NULL
            GROUP BY list_seq, position, action),
        totals AS (
            SELECT sum(part) AS total, row_number() OVER (PARTITION BY list_seq) = 1 AS first
            FROM last GROUP BY list_seq, position)
        SELECT CAST(min(max(total, 0.0), :highest) * :steps / :highest + 0.5 AS INTEGER), sum(first),
            count(*), sum(total > :highest) FROM totals GROUP BY 1""",
        {**values, **actions, **weights, "steps": scale.steps},
    ).fetchall()
    counts = {step: results for step, _, results, _ in rows}
    return GradeTally(
        lists=lists,
        rated=sum(row[1] for row in rows),
        results=sum(counts.values()),
        capped=sum(row[3] for row in rows),
        histogram=[counts.get(step, 0) for step in range(scale.steps + 1)],
    )
