"""Statistics in PostgreSQL for the pages, from sums that are kept: what happened, and what events said."""

from __future__ import annotations

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
from rankloop.service.store.postgres.postgres_connections import Connection
from rankloop.service.store.postgres.sums import CLICKS, FIRST_CLICK, events_summed, summed
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

NEXT_LIST = "SELECT seq FROM impressions WHERE ranker = %s AND at >= %s ORDER BY at, seq LIMIT 1"
NEXT_EVENT = "SELECT seq FROM events WHERE at >= %s ORDER BY at, seq LIMIT 1"
BEYOND = 2**62  # every entry
NUMBERS = ("one_based", "zero_based", "misplaced", "ahead", "behind")
SHOWN = "FROM impressions WHERE ranker = %(ranker)s AND at >= %(since)s AND at < %(until)s"
LOWER = 'lower(user_query COLLATE "und-x-icu")'  # the column's own collation knows ASCII alone


def traffic(connection: Connection, ranker: str, *, since: float, until: float, step: float) -> list[Traffic]:
    """Lists and clicks in steps of time; steps without a list are left out."""
    starts = edges(since, until, step)
    bounds = [_next(connection, NEXT_LIST, ranker, start) for start in starts]
    found = summed(connection, ranker, bounds)
    return [traffic_of(starts[number], sums) for number, sums in found.items()]


def in_parts(
    connection: Connection, ranker: str, *, since: float, until: float, parts: int, least: int
) -> list[Traffic]:
    """Lists and clicks in up to so many parts of equally many lists, `least` or more if there are."""

    def counts(shift: int, low: int, high: int) -> list[tuple[int, int]]:
        where = "ranker = %s AND shift = %s AND bucket >= %s AND bucket < %s ORDER BY bucket"
        query = f"SELECT bucket, lists FROM list_sums WHERE {where}"
        found = connection.execute(query, (ranker, shift, low, high), binary=True)
        return [(bucket, lists) for bucket, lists in found]

    def numbers(low: int, high: int) -> list[int]:
        query = "SELECT seq FROM impressions WHERE seq >= %s AND seq < %s AND ranker = %s ORDER BY seq"
        return [seq for (seq,) in connection.execute(query, (low, high, ranker), binary=True)]

    first, past = (_next(connection, NEXT_LIST, ranker, moment) for moment in (since, until))
    bounds = found_by_rank(first, past, lambda lists: part_ends(lists, parts, least), counts, numbers)
    found = summed(connection, ranker, bounds)
    firsts = [bounds[number] for number in found]
    query = "SELECT seq, at FROM impressions WHERE seq = ANY(%s)"
    at = {int(seq): float(moment) for seq, moment in connection.execute(query, (firsts,), binary=True)}
    return [traffic_of(at[seq], sums) for seq, sums in zip(firsts, found.values(), strict=True)]


def summaries(connection: Connection, ranker: str, wanted: ListFilter, *, last: int) -> list[ListSummary]:
    """The last lists of those that are wanted, the newest first, with what was clicked in them."""
    conditions = {
        f"{LOWER} LIKE %(text)s ESCAPE '!'": bool(wanted.text),
        "user_query = %(query)s": wanted.query is not None,
        f"{FIRST_CLICK} IS {'NOT' if wanted.clicked else ''} NULL": wanted.clicked is not None,
        "mode = %(mode)s": bool(wanted.mode),
        f"fallback {'!=' if wanted.fallback else '='} ''": wanted.fallback is not None,
    }
    where = " AND ".join(each for each, asked in conditions.items() if asked) or "true"
    rows = connection.execute(
        f"""SELECT {", ".join(SUMMARY_COLUMNS)}, {CLICKS} FROM (
            SELECT * FROM impressions WHERE ranker = %(ranker)s AND seq < %(before)s
            ORDER BY seq DESC LIMIT %(within)s) AS impressions
        WHERE {where} ORDER BY seq DESC LIMIT %(last)s""",
        {
            "ranker": ranker,
            "before": BEYOND if wanted.before is None else wanted.before,
            "within": wanted.within,
            "text": like(wanted.text),
            "query": wanted.query,
            "mode": wanted.mode,
            "last": last,
        },
        binary=True,
    )
    return [summary_from(row) for row in rows]


def tally(connection: Connection, ranker: str | None, *, since: float, until: float) -> EventTally:
    """How the events that arrived in a stretch of time were understood."""
    first, past = (_next(connection, NEXT_EVENT, moment) for moment in (since, until))
    rows = events_summed(connection, ranker, first, past)
    clients = connection.execute(
        f"""SELECT client_id, count(*) FROM (
            SELECT client_id FROM events WHERE seq >= %(first)s AND seq < %(past)s
                {"" if ranker is None else "AND ranker = %(ranker)s"} ORDER BY seq DESC LIMIT {LATEST}) latest
        GROUP BY 1 ORDER BY 2 DESC, 1""",
        {"ranker": ranker, "first": first, "past": past},
        binary=True,
    ).fetchall()
    return EventTally(
        verdicts={verdict: events for verdict, events, *_ in rows},
        busiest=[(client, events) for client, events in clients if client][:5],
        latest=sum(events for _, events in clients),
        **{name: sum(row[index] for row in rows) for index, name in enumerate(NUMBERS, start=2)},
    )


def sources(connection: Connection, *, since: float, until: float) -> SourceTally:
    """Where the last events of a stretch of time came from."""
    first, past = (_next(connection, NEXT_EVENT, moment) for moment in (since, until))
    rows = connection.execute(
        f"""SELECT source, trunc((at - %(since)s) / 60)::bigint, count(*),
            count(*) FILTER (WHERE verdict = 'held'),
            count(*) FILTER (WHERE verdict = 'duplicate' AND detail = %(squatted)s)
        FROM (SELECT source, at, verdict, detail FROM events WHERE seq >= %(first)s AND seq < %(past)s
            ORDER BY seq DESC LIMIT {TRACED}) latest
        GROUP BY 1, 2""",
        {"since": since, "first": first, "past": past, "squatted": SQUATTED},
        binary=True,
    )
    return sources_of(rows)


def grades(
    connection: Connection, ranker: str, *, since: float, until: float, scale: GradeScale
) -> GradeTally:
    """How the lists that were shown in a stretch of time were graded."""
    values = {"ranker": ranker, "since": since, "until": until, "highest": scale.highest}
    ((lists,),) = connection.execute(f"SELECT count(*) {SHOWN}", values, binary=True)
    rows = connection.execute(
        f"""WITH shown AS (SELECT seq {SHOWN}),
        weights (action, weight) AS (SELECT * FROM unnest(%(actions)s::text[], %(weights)s::float8[])),
        last AS (
            SELECT DISTINCT ON (list_seq, position, action)
                list_seq, position, weight * coalesce(value, 1.0) AS part
            FROM events JOIN weights USING (action)
            WHERE verdict IN ('accepted', 'late') AND list_seq IN (SELECT seq FROM shown)
                AND position IS NOT NULL
            ORDER BY list_seq, position, action, seq DESC),
        totals AS (
            SELECT sum(part) AS total, row_number() OVER (PARTITION BY list_seq) = 1 AS first
            FROM last GROUP BY list_seq, position)
        SELECT floor(least(greatest(total, 0.0), %(highest)s) * %(steps)s / %(highest)s + 0.5)::integer,
            count(*) FILTER (WHERE first), count(*), count(*) FILTER (WHERE total > %(highest)s)
        FROM totals GROUP BY 1""",
        {
            **values,
            "actions": list(scale.weights),
            "weights": list(scale.weights.values()),
            "steps": scale.steps,
        },
        binary=True,
    ).fetchall()
    counts = {step: results for step, _, results, _ in rows}
    return GradeTally(
        lists=lists,
        rated=sum(row[1] for row in rows),
        results=sum(counts.values()),
        capped=sum(row[3] for row in rows),
        histogram=[counts.get(step, 0) for step in range(scale.steps + 1)],
    )


def _next(connection: Connection, query: str, *values: object) -> int:
    """The first entry from a moment on; a number beyond every entry, if there is none."""
    row = connection.execute(query, values, binary=True).fetchone()
    return BEYOND if row is None else int(row[0])
