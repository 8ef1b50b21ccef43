"""Sums that SQLite keeps by triggers, in the transaction of every entry that comes or goes.

Whoever inserts or deletes, the sums are those of a recount: what a row adds when it comes, it takes with it.
`TABLES` is a step of the schema: once it is released, a change is another step.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from typing import Any

from rankloop.service.store.sums import LARGE, ONE, PAIR, SMALL, numbered

LIST_SUMS = ("lists", "clicked", "reciprocal", "fallbacks", "explored", "cost", "pairs", "settled")
EVENT_SUMS = ("events", "one_based", "zero_based", "misplaced", "ahead", "behind")
SHIFTS = f"(SELECT {SMALL} AS shift UNION ALL SELECT {LARGE})"
COUNTED = "verdict IN ('accepted', 'late') AND position IS NOT NULL AND list_seq IS NOT NULL"
FIRST_CLICK = """(SELECT min(position) FROM events WHERE list_seq = impressions.seq
    AND verdict IN ('accepted', 'late'))"""
CLICKS = """(SELECT group_concat(DISTINCT position) FROM events WHERE list_seq = impressions.seq
    AND verdict IN ('accepted', 'late'))"""
OTHER_CLICK = """(SELECT min(position) FROM events WHERE list_seq = {row}.list_seq
    AND verdict IN ('accepted', 'late') AND seq != {row}.seq) AS other"""


def looks(position: str) -> str:
    """1 / position in whole units; 0 where there is none."""
    return f"ifnull(({ONE} + {position} / 2) / max({position}, 1), 0)"


def of_list(row: str) -> str:
    """What a list adds but for its clicks."""
    return f"""{row}.fallback != '', {row}.explored, CAST({row}.cost * {PAIR} + 0.5 AS INTEGER),
        CASE WHEN {row}.settled IS NULL THEN 0 ELSE {row}.pairs END, ifnull({row}.settled, 0)"""


def of_event(row: str) -> str:
    """What an event adds."""
    return f"""ifnull({row}.ordinal = {row}.position, 0), ifnull({row}.ordinal = {row}.position - 1, 0),
        ifnull({row}.ordinal NOT IN ({row}.position - 1, {row}.position), 0),
        ifnull({row}.occurred_at - {row}.at > 60, 0), ifnull({row}.at - {row}.occurred_at > 3600, 0)"""


def _added(columns: Sequence[str], sign: str = "+") -> str:
    sets = ", ".join(f"{name} = {name} {sign} excluded.{name}" for name in columns)
    return f"WHERE true ON CONFLICT DO UPDATE SET {sets}"


def _list_goes() -> str:
    first = FIRST_CLICK.replace("impressions.seq", "OLD.seq")
    return f"""CREATE TRIGGER lists_go BEFORE DELETE ON impressions BEGIN
        INSERT INTO list_sums SELECT OLD.ranker, shift, OLD.seq >> shift, 1, first IS NOT NULL,
            {looks("first")}, {of_list("OLD")}
            FROM {SHIFTS}, (SELECT {first} AS first) {_added(LIST_SUMS, "-")};
        DELETE FROM list_sums WHERE ranker = OLD.ranker AND lists = 0
            AND (shift, bucket) IN (VALUES ({SMALL}, OLD.seq >> {SMALL}), ({LARGE}, OLD.seq >> {LARGE}));
    END"""


def _click(name: str, when: str, row: str, sign: str) -> str:
    """A counted event is, or is no more, the first click of its list."""
    return f"""CREATE TRIGGER {name} {when} ON events
        WHEN {" AND ".join(f"{row}.{each}" for each in COUNTED.split(" AND "))} BEGIN
        INSERT INTO list_sums SELECT impressions.ranker, shift, impressions.seq >> shift, 0, other IS NULL,
            {looks(f"{row}.position")} - {looks("other")}, 0, 0, 0, 0, 0
            FROM {SHIFTS}, (SELECT {OTHER_CLICK.format(row=row)}), impressions
            WHERE impressions.seq = {row}.list_seq AND (other IS NULL OR {row}.position < other)
            {_added(LIST_SUMS, sign).removeprefix("WHERE true ")};
    END"""


TABLES = (
    f"""CREATE TABLE list_sums (
        ranker TEXT NOT NULL, shift INTEGER NOT NULL, bucket INTEGER NOT NULL,
        {", ".join(f"{name} INTEGER NOT NULL" for name in LIST_SUMS)}, PRIMARY KEY (ranker, shift, bucket)
    ) STRICT, WITHOUT ROWID""",
    f"""CREATE TABLE event_sums (
        shift INTEGER NOT NULL, bucket INTEGER NOT NULL, ranker TEXT NOT NULL, verdict TEXT NOT NULL,
        {", ".join(f"{name} INTEGER NOT NULL" for name in EVENT_SUMS)},
        PRIMARY KEY (shift, bucket, ranker, verdict)
    ) STRICT, WITHOUT ROWID""",
    f"""INSERT INTO list_sums SELECT ranker, shift, seq >> shift, count(*), count(first),
        sum({looks("first")}), sum(failed), sum(explored), sum(paid), sum(told), sum(sure)
        FROM (SELECT ranker, seq, {FIRST_CLICK} AS first, fallback != '' AS failed, explored,
            CAST(cost * {PAIR} + 0.5 AS INTEGER) AS paid,
            CASE WHEN settled IS NULL THEN 0 ELSE pairs END AS told, ifnull(settled, 0) AS sure
            FROM impressions), {SHIFTS} GROUP BY 1, 2, 3""",
    f"""INSERT INTO event_sums SELECT shift, seq >> shift, ranker, verdict, count(*),
        {", ".join(f"sum({each})" for each in EVENT_SUMS[1:])}
        FROM (SELECT seq, ranker, verdict, ifnull(ordinal = position, 0) AS one_based,
            ifnull(ordinal = position - 1, 0) AS zero_based,
            ifnull(ordinal NOT IN (position - 1, position), 0) AS misplaced,
            ifnull(occurred_at - at > 60, 0) AS ahead, ifnull(at - occurred_at > 3600, 0) AS behind
            FROM events), {SHIFTS} GROUP BY 1, 2, 3, 4""",
    f"""CREATE TRIGGER lists_come AFTER INSERT ON impressions BEGIN
        INSERT INTO list_sums SELECT NEW.ranker, shift, NEW.seq >> shift, 1, 0, 0, {of_list("NEW")}
            FROM {SHIFTS} {_added(LIST_SUMS)};
    END""",
    f"""CREATE TRIGGER events_come AFTER INSERT ON events BEGIN
        INSERT INTO event_sums SELECT shift, NEW.seq >> shift, NEW.ranker, NEW.verdict, 1, {of_event("NEW")}
            FROM {SHIFTS} {_added(EVENT_SUMS)};
    END""",
    f"""CREATE TRIGGER events_go BEFORE DELETE ON events BEGIN
        INSERT INTO event_sums SELECT shift, OLD.seq >> shift, OLD.ranker, OLD.verdict, 1, {of_event("OLD")}
            FROM {SHIFTS} {_added(EVENT_SUMS, "-")};
        DELETE FROM event_sums WHERE ranker = OLD.ranker AND verdict = OLD.verdict AND events = 0
            AND (shift, bucket) IN (VALUES ({SMALL}, OLD.seq >> {SMALL}), ({LARGE}, OLD.seq >> {LARGE}));
    END""",
    _list_goes(),
    _click("clicks_come", "AFTER INSERT", "NEW", "+"),
    _click("clicks_go", "BEFORE DELETE", "OLD", "-"),
)  # a step of the schema


def summed(connection: sqlite3.Connection, ranker: str, bounds: Sequence[int]) -> dict[int, list[int]]:
    """The sums of the lists between neighbouring bounds, by number; empty stretches are left out."""
    names = ", ".join(LIST_SUMS)
    rows = connection.execute(
        f"""WITH pieces (number, shift, low, high) AS (SELECT value->>0, value->>1, value->>2, value->>3
            FROM json_each(:pieces))
        SELECT number, {", ".join(f"sum({name})" for name in LIST_SUMS)} FROM (
            SELECT number, {names} FROM pieces CROSS JOIN list_sums
            ON list_sums.ranker = :ranker AND list_sums.shift = pieces.shift
                AND bucket >= low AND bucket < high
            WHERE pieces.shift > 0
            UNION ALL
            SELECT number, 1, first IS NOT NULL, {looks("first")}, failed, explored, paid, told, sure FROM (
                SELECT number, {FIRST_CLICK} AS first, fallback != '' AS failed, explored,
                    CAST(cost * {PAIR} + 0.5 AS INTEGER) AS paid,
                    CASE WHEN settled IS NULL THEN 0 ELSE pairs END AS told, ifnull(settled, 0) AS sure
                FROM pieces CROSS JOIN impressions ON seq >= low AND seq < high AND +ranker = :ranker
                WHERE pieces.shift = 0))
        GROUP BY number ORDER BY number""",
        {"ranker": ranker, "pieces": _pieces(bounds)},
    )
    return {number: sums for number, *sums in rows}


def events_summed(
    connection: sqlite3.Connection, ranker: str | None, first: int, past: int
) -> list[tuple[Any, ...]]:
    """Sums over the events of a stretch by verdict."""
    columns = ", ".join(f"sum({name})" for name in EVENT_SUMS)
    return connection.execute(
        f"""WITH pieces (number, shift, low, high) AS (SELECT value->>0, value->>1, value->>2, value->>3
            FROM json_each(:pieces))
        SELECT verdict, {columns} FROM (
            SELECT verdict, {", ".join(EVENT_SUMS)} FROM pieces CROSS JOIN event_sums
            ON event_sums.shift = pieces.shift AND bucket >= low AND bucket < high
            WHERE pieces.shift > 0 AND (:ranker IS NULL OR ranker = :ranker)
            UNION ALL
            SELECT verdict, 1, {of_event("events")} FROM pieces CROSS JOIN events
            ON seq >= low AND seq < high AND (:ranker IS NULL OR +ranker = :ranker) WHERE pieces.shift = 0)
        GROUP BY verdict ORDER BY verdict""",
        {"ranker": ranker, "pieces": _pieces((first, past))},
    ).fetchall()


def _pieces(bounds: Sequence[int]) -> str:
    return json.dumps([(number, *piece) for number, piece in numbered(bounds)])
