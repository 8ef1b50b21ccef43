"""Statistics by SQL, for the pages: what happened, and how events were understood."""

from __future__ import annotations

import sqlite3

from rankloop.store.grades import GradeScale
from rankloop.store.records import EventTally, GradeTally, Traffic

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
