"""Sums that PostgreSQL keeps, in the transaction of every entry that comes or goes.

What comes is added by the transaction, many entries at once. What goes is subtracted by triggers that see all
rows a statement deletes, whoever deletes; and before a partition is dropped, by the same statements. So the
sums are those of a recount.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rankloop.service.store.postgres.postgres_connections import Connection
from rankloop.service.store.sums import LARGE, ONE, PAIR, SMALL, numbered

LIST_SUMS = ("lists", "clicked", "reciprocal", "fallbacks", "explored", "cost", "pairs", "settled")
EVENT_SUMS = ("events", "one_based", "zero_based", "misplaced", "ahead", "behind")
SHIFTS = f"unnest(ARRAY[{SMALL}, {LARGE}]) AS shift"
COUNTED = "verdict IN ('accepted', 'late') AND position IS NOT NULL AND list_seq IS NOT NULL"
FIRST_CLICK = """(SELECT min(position) FROM events WHERE list_seq = impressions.seq
    AND events.seq > impressions.seq AND verdict IN ('accepted', 'late'))"""
CLICKS = """(SELECT string_agg(DISTINCT position::text, ',') FROM events WHERE list_seq = impressions.seq
    AND events.seq > impressions.seq AND verdict IN ('accepted', 'late'))"""
EVENT_CONDITIONS = (
    *("ordinal = position", "ordinal = position - 1", "ordinal NOT IN (position - 1, position)"),
    *("occurred_at - at > 60", "at - occurred_at > 3600"),
)


def looks(position: str) -> str:
    """1 / position in whole units; 0 where there is none."""
    return f"coalesce(({ONE} + {position} / 2) / greatest({position}, 1), 0)"


LIST_PARTS = f"""count(*), count(position), coalesce(sum({looks("position")}), 0)::bigint,
    count(*) FILTER (WHERE fallback != ''), coalesce(sum(explored), 0)::bigint,
    coalesce(sum(trunc(cost * {PAIR} + 0.5)), 0)::bigint,
    coalesce(sum(pairs) FILTER (WHERE settled IS NOT NULL), 0)::bigint,
    coalesce(sum(settled), 0)::bigint"""
EVENT_PARTS = ", ".join(["count(*)", *(f"count(*) FILTER (WHERE {each})" for each in EVENT_CONDITIONS)])


def _added(table: str, key: str, columns: Sequence[str], sign: str) -> str:
    sets = ", ".join(f"{name} = {table}.{name} {sign} excluded.{name}" for name in columns)
    return f"ON CONFLICT ({key}) DO UPDATE SET {sets}"


def _lists(source: str, sign: str) -> str:
    """Add, or take away, the lists of a table with their first clicks."""
    added = _added("list_sums", "ranker, shift, bucket", LIST_SUMS, sign)
    return f"""INSERT INTO list_sums SELECT ranker, shift, seq >> shift, {LIST_PARTS}
        FROM (SELECT *, {FIRST_CLICK} AS position FROM {source}) lists, {SHIFTS} GROUP BY 1, 2, 3 {added}"""


def _events(source: str, sign: str) -> str:
    """Add, or take away, the events of a table."""
    added = _added("event_sums", "shift, bucket, ranker, verdict", EVENT_SUMS, sign)
    return f"""INSERT INTO event_sums SELECT shift, seq >> shift, ranker, verdict, {EVENT_PARTS}
        FROM {source}, {SHIFTS} GROUP BY 1, 2, 3, 4 {added}"""


def _clicks(source: str, others: str, sign: str) -> str:
    """Add, or take away, the first clicks of lists that these events are, beside the `others` there are."""
    added = _added("list_sums", "ranker, shift, bucket", LIST_SUMS, sign)
    return f"""INSERT INTO list_sums SELECT impressions.ranker, shift, impressions.seq >> shift, 0,
            count(*) FILTER (WHERE other IS NULL), sum({looks("mine.position")} - {looks("other")})::bigint,
            0, 0, 0, 0, 0
        FROM (SELECT list_seq, min(position) AS position FROM {source} WHERE {COUNTED} GROUP BY 1) mine
        JOIN impressions ON impressions.seq = mine.list_seq
        CROSS JOIN LATERAL (SELECT min(position) AS other FROM events WHERE list_seq = mine.list_seq
            AND seq > mine.list_seq AND verdict IN ('accepted', 'late') AND {others}) rest, {SHIFTS}
        WHERE other IS NULL OR mine.position < other GROUP BY 1, 2, 3 {added}"""


LISTS_GO = _lists("{gone} AS impressions", "-")
EVENTS_GO = (_events("{gone} AS gone", "-"), _clicks("{gone} AS gone", "true", "-"))
EMPTY = ("DELETE FROM list_sums WHERE lists = 0", "DELETE FROM event_sums WHERE events = 0")


def _function(name: str, statements: Sequence[str]) -> str:
    body = "; ".join(each.format(gone="gone") for each in (*statements, *EMPTY))
    return f"""CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN {body}; RETURN NULL; END $$"""


def _trigger(name: str, table: str) -> str:
    return f"""CREATE TRIGGER {name} AFTER DELETE ON {table} REFERENCING OLD TABLE AS gone
        FOR EACH STATEMENT EXECUTE FUNCTION {name}()"""


TABLES = (
    f"""CREATE TABLE list_sums (
        ranker text COLLATE "C" NOT NULL, shift integer NOT NULL, bucket bigint NOT NULL,
        {", ".join(f"{name} bigint NOT NULL" for name in LIST_SUMS)}, PRIMARY KEY (ranker, shift, bucket)
    )""",
    f"""CREATE TABLE event_sums (
        shift integer NOT NULL, bucket bigint NOT NULL, ranker text COLLATE "C" NOT NULL,
        verdict text COLLATE "C" NOT NULL, {", ".join(f"{name} bigint NOT NULL" for name in EVENT_SUMS)},
        PRIMARY KEY (shift, bucket, ranker, verdict)
    )""",
    _lists("impressions", "+"),
    _events("events", "+"),
    _function("lists_go", (LISTS_GO,)),
    _function("events_go", EVENTS_GO),
    _trigger("lists_go", "impressions"),
    _trigger("events_go", "events"),
)  # a step of the schema: once it is released, a change is another step


def add_lists(connection: Connection, first: int, last: int) -> None:
    """Count lists that were just inserted."""
    fresh = f"(SELECT * FROM impressions WHERE seq BETWEEN {first} AND {last}) impressions"
    connection.execute(_lists(fresh, "+").encode())


def add_events(connection: Connection, first: int, last: int) -> None:
    """Count events that were just inserted, and the first clicks among them."""
    fresh = f"(SELECT * FROM events WHERE seq BETWEEN {first} AND {last}) fresh"
    connection.execute(
        f"WITH tallied AS ({_events(fresh, '+')}) {_clicks(fresh, f'seq < {first}', '+')}".encode()
    )


def drop_lists(connection: Connection, table: str) -> None:
    """Take away the lists of a table that was a partition."""
    connection.execute(LISTS_GO.format(gone=table).encode())


def drop_events(connection: Connection, table: str) -> None:
    """Take away the events of a table that was a partition, and what is empty by then."""
    for statement in (*EVENTS_GO, *EMPTY):
        connection.execute(statement.format(gone=table).encode())


def summed(connection: Connection, ranker: str, bounds: Sequence[int]) -> dict[int, list[int]]:
    """The sums of the lists between neighbouring bounds, by number; empty stretches are left out."""
    rows = connection.execute(
        f"""WITH pieces AS MATERIALIZED ({PIECES})
        SELECT number, {", ".join(f"sum({name})::bigint" for name in LIST_SUMS)} FROM (
            SELECT number, {", ".join(LIST_SUMS)} FROM pieces JOIN list_sums
            ON list_sums.ranker = %(ranker)s AND list_sums.shift = pieces.shift
                AND bucket >= low AND bucket < high
            UNION ALL
            SELECT number, {LIST_PARTS} FROM (
                SELECT number, impressions.*, {FIRST_CLICK} AS position FROM pieces
                JOIN impressions ON seq >= low AND seq < high AND ranker = %(ranker)s WHERE shift = 0) lists
            GROUP BY number) parts (number, {", ".join(LIST_SUMS)})
        GROUP BY number HAVING sum(lists) > 0 ORDER BY number""",
        {"ranker": ranker, **_pieces(bounds)},
        binary=True,
    )
    return {number: sums for number, *sums in rows}


def events_summed(connection: Connection, ranker: str | None, first: int, past: int) -> list[tuple[Any, ...]]:
    """Sums over the events of a stretch by verdict."""
    whose = "" if ranker is None else "AND ranker = %(ranker)s"
    return connection.execute(
        f"""WITH pieces AS MATERIALIZED ({PIECES})
        SELECT verdict, {", ".join(f"sum({name})::bigint" for name in EVENT_SUMS)} FROM (
            SELECT verdict, {", ".join(EVENT_SUMS)} FROM pieces JOIN event_sums
            ON event_sums.shift = pieces.shift AND bucket >= low AND bucket < high {whose}
            UNION ALL
            SELECT verdict, {EVENT_PARTS} FROM pieces JOIN events
            ON seq >= low AND seq < high {whose} WHERE shift = 0 GROUP BY verdict
        ) parts (verdict, {", ".join(EVENT_SUMS)})
        GROUP BY verdict ORDER BY verdict""",
        {"ranker": ranker, **_pieces((first, past))},
        binary=True,
    ).fetchall()


PIECES = """SELECT * FROM unnest(%(number)s::bigint[], %(shift)s::integer[], %(low)s::bigint[],
    %(high)s::bigint[]) AS piece (number, shift, low, high)"""


def _pieces(bounds: Sequence[int]) -> dict[str, list[int]]:
    rows = [(number, *piece) for number, piece in numbered(bounds)]
    return {
        name: [row[index] for row in rows] for index, name in enumerate(("number", "shift", "low", "high"))
    }
