"""Grades of lists in PostgreSQL."""

from __future__ import annotations

from rankloop.service.store.grades import GradeScale
from rankloop.service.store.log_records import GradeTally
from rankloop.service.store.postgres.postgres_connections import Connection

SHOWN = "FROM impressions WHERE ranker = %(ranker)s AND at >= %(since)s AND at < %(until)s"


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
