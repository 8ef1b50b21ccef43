"""Statistics by SQL, for the pages: what happened, and how events were understood."""

from __future__ import annotations

import sqlite3

from rankloop.store.records import EventTally, Traffic

SUMS = """count(*), count(position), ifnull(sum(1.0 / position), 0), ifnull(sum(fallback != ''), 0),
    ifnull(sum(explored), 0), ifnull(sum(cost), 0),
    ifnull(sum(CASE WHEN settled IS NOT NULL THEN pairs END), 0), ifnull(sum(settled), 0)"""
FIRST_CLICK = """(SELECT min(position) FROM events WHERE list_seq = impressions.seq
    AND verdict IN ('accepted', 'late')) AS position"""
NAMES = ("lists", "clicked", "reciprocal", "fallbacks", "explored", "cost", "pairs", "settled")


def traffic(
    connection: sqlite3.Connection, ranker: str, *, since: float, until: float, step: float
) -> list[Traffic]:
    """Lists and clicks in steps of time; steps without a list are left out."""
    rows = connection.execute(
        f"""SELECT number, {SUMS} FROM (
            SELECT *, CAST((at - :since) / :step AS INTEGER) AS number, {FIRST_CLICK} FROM impressions
            WHERE ranker = :ranker AND at >= :since AND at < :until)
        GROUP BY number ORDER BY number""",
        {"ranker": ranker, "since": since, "until": until, "step": step},
    )
    return [
        Traffic(start=since + number * step, **dict(zip(NAMES, sums, strict=True))) for number, *sums in rows
    ]


def in_parts(
    connection: sqlite3.Connection, ranker: str, *, since: float, until: float, parts: int, least: int
) -> list[Traffic]:
    """Lists and clicks in up to so many parts of equally many lists, `least` or more if there are."""
    values = {"ranker": ranker, "since": since, "until": until}
    where = "FROM impressions WHERE ranker = :ranker AND at >= :since AND at < :until"
    (lists,) = connection.execute(f"SELECT count(*) {where}", values).fetchone()
    rows = connection.execute(
        f"""SELECT min(at), {SUMS} FROM (
            SELECT *, ntile(:parts) OVER (ORDER BY at, seq) AS number, {FIRST_CLICK} {where})
        GROUP BY number ORDER BY number""",
        {**values, "parts": max(min(parts, lists // least), 1)},
    )
    return [Traffic(start=start, **dict(zip(NAMES, sums, strict=True))) for start, *sums in rows]


def recent(connection: sqlite3.Connection, ranker: str, *, lists: int, after: int, before: float) -> Traffic:
    """The last lists that were shown after entry `after` and before a time, as one sum."""
    sums = connection.execute(
        f"""SELECT {SUMS} FROM (
            SELECT *, {FIRST_CLICK} FROM impressions
            WHERE ranker = :ranker AND seq > :after AND at < :before
            ORDER BY at DESC, seq DESC LIMIT :lists)""",
        {"ranker": ranker, "lists": lists, "after": after, "before": before},
    ).fetchone()
    return Traffic(**dict(zip(NAMES, sums, strict=True)))


def tally(connection: sqlite3.Connection, ranker: str | None, *, since: float, until: float) -> EventTally:
    """How the events that arrived in a stretch of time were understood."""
    values = {"ranker": ranker, "since": since, "until": until}
    where = "FROM events WHERE at >= :since AND at < :until AND (:ranker IS NULL OR ranker = :ranker)"
    verdicts = connection.execute(f"SELECT verdict, count(*) {where} GROUP BY verdict", values).fetchall()
    numbers = connection.execute(
        f"""SELECT ifnull(sum(ordinal = position), 0), ifnull(sum(ordinal = position - 1), 0),
            ifnull(sum(ordinal NOT IN (position - 1, position)), 0), ifnull(sum(occurred_at - at > 60), 0),
            ifnull(sum(at - occurred_at > 3600), 0) {where}""",
        values,
    ).fetchone()
    busiest = connection.execute(
        f"SELECT client_id, count(*) {where} AND client_id != '' GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 5",
        values,
    ).fetchall()
    names = ("one_based", "zero_based", "misplaced", "ahead", "behind")
    return EventTally(verdicts=dict(verdicts), busiest=busiest, **dict(zip(names, numbers, strict=True)))
