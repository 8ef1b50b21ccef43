"""Statistics by SQL in PostgreSQL, for the pages: what happened, and how events were understood."""

from __future__ import annotations

from typing import Any

from rankloop.store.grades import GradeScale
from rankloop.store.postgres.connections import Connection
from rankloop.store.records import EventTally, GradeTally, Traffic

SUMS = """count(*), count(position), coalesce(sum(1.0::float8 / position), 0),
    count(*) FILTER (WHERE fallback != ''), coalesce(sum(explored), 0)::bigint, coalesce(sum(cost), 0),
    coalesce(sum(pairs) FILTER (WHERE settled IS NOT NULL), 0)::bigint, coalesce(sum(settled), 0)::bigint"""
FIRST_CLICK = """(SELECT min(position) FROM events WHERE list_seq = impressions.seq
    AND events.seq > impressions.seq AND verdict IN ('accepted', 'late')) AS position"""
NAMES = ("lists", "clicked", "reciprocal", "fallbacks", "explored", "cost", "pairs", "settled")
SHOWN = "FROM impressions WHERE ranker = %(ranker)s AND at >= %(since)s AND at < %(until)s"


def traffic(connection: Connection, ranker: str, *, since: float, until: float, step: float) -> list[Traffic]:
    """Lists and clicks in steps of time; steps without a list are left out."""
    rows = connection.execute(
        f"""SELECT number, {SUMS} FROM (
            SELECT *, floor((at - %(since)s) / %(step)s)::bigint AS number, {FIRST_CLICK} {SHOWN}) lists
        GROUP BY number ORDER BY number""",
        {"ranker": ranker, "since": since, "until": until, "step": step},
        binary=True,
    )
    return [Traffic(start=since + number * step, **_named(sums)) for number, *sums in rows]


def in_parts(
    connection: Connection, ranker: str, *, since: float, until: float, parts: int, least: int
) -> list[Traffic]:
    """Lists and clicks in up to so many parts of equally many lists, `least` or more if there are."""
    values = {"ranker": ranker, "since": since, "until": until}
    ((lists,),) = connection.execute(f"SELECT count(*) {SHOWN}", values, binary=True)
    rows = connection.execute(
        f"""SELECT min(at), {SUMS} FROM (
            SELECT *, ntile(%(parts)s::integer) OVER (ORDER BY at, seq) AS number, {FIRST_CLICK} {SHOWN}
        ) lists
        GROUP BY number ORDER BY number""",
        {**values, "parts": max(min(parts, lists // least), 1)},
        binary=True,
    )
    return [Traffic(start=start, **_named(sums)) for start, *sums in rows]


def recent(connection: Connection, ranker: str, *, lists: int, after: int, before: float) -> Traffic:
    """The last lists that were shown after entry `after` and before a time, as one sum."""
    (sums,) = connection.execute(
        f"""SELECT {SUMS} FROM (
            SELECT *, {FIRST_CLICK} FROM impressions
            WHERE ranker = %(ranker)s AND seq > %(after)s AND at < %(before)s
            ORDER BY at DESC, seq DESC LIMIT %(lists)s) lists""",
        {"ranker": ranker, "lists": lists, "after": after, "before": before},
        binary=True,
    )
    return Traffic(**_named(sums))


def tally(connection: Connection, ranker: str | None, *, since: float, until: float) -> EventTally:
    """How the events that arrived in a stretch of time were understood."""
    values = {"ranker": ranker, "since": since, "until": until}
    whose = "" if ranker is None else "AND ranker = %(ranker)s"
    where = f"FROM events WHERE at >= %(since)s AND at < %(until)s {whose}"
    verdicts = connection.execute(f"SELECT verdict, count(*) {where} GROUP BY verdict", values, binary=True)
    conditions = (
        *("ordinal = position", "ordinal = position - 1", "ordinal NOT IN (position - 1, position)"),
        *("occurred_at - at > 60", "at - occurred_at > 3600"),
    )
    counts = ", ".join(f"count(*) FILTER (WHERE {each})" for each in conditions)
    (numbers,) = connection.execute(f"SELECT {counts} {where}", values, binary=True)
    busiest = connection.execute(
        f"SELECT client_id, count(*) {where} AND client_id != '' GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 5",
        values,
        binary=True,
    )
    names = ("one_based", "zero_based", "misplaced", "ahead", "behind")
    return EventTally(
        verdicts={name: count for name, count in verdicts},  # noqa: C416
        busiest=[(client, count) for client, count in busiest],
        **dict(zip(names, numbers, strict=True)),
    )


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


def _named(sums: Any) -> dict[str, Any]:
    return dict(zip(NAMES, sums, strict=True))
