"""Grades of lists in SQLite."""

from __future__ import annotations

import sqlite3

from rankloop.service.store.grades import GradeScale
from rankloop.service.store.log_records import GradeTally


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
