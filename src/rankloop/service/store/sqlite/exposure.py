"""Exposure in SQLite: accounts that are kept as sums, and statistics over the lists."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping
from typing import Any

from rankloop.service.store.exposure import exposure_sum, sums_of
from rankloop.service.store.log_records import ExposureSum, ExposureTally, GroupTally

ADD = """INSERT INTO exposures VALUES (?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET lists = lists + excluded.lists, candidates = candidates + excluded.candidates,
    granted = granted + excluded.granted, due = due + excluded.due, lapsed = lapsed + excluded.lapsed"""
PART = "json_extract(exposure, '$.{}[' || part.key || ']')"
SUMMED = ("candidates", "granted", "due", "lapsed")
PARTS = ", ".join(f"sum({PART.format(name)})" for name in SUMMED)
COUNTED = "ranker = :ranker AND at >= :since AND at < :until AND exposure IS NOT NULL"
STEP = "CAST((at - :since) / :step AS INTEGER)"


def add(connection: sqlite3.Connection, records: Iterable[object]) -> None:
    """Add what entries of the log have in the accounts."""
    sums = sums_of(records)
    if sums:
        connection.executemany(ADD, [(*key, *each) for key, each in sums.items()])


def subtract(connection: sqlite3.Connection, lists: str, values: Mapping[str, object]) -> None:
    """Take lists that are about to be deleted out of the accounts; `lists` is the FROM that selects them."""
    gone = connection.execute(
        f"""SELECT ranker, json_extract(exposure, '$.account'), part.value, -count(*),
            -sum({PART.format("candidates")}), -sum({PART.format("granted")}), -sum({PART.format("due")}),
            -sum({PART.format("lapsed")})
        FROM (SELECT ranker, exposure {lists} AND exposure IS NOT NULL), json_each(exposure, '$.groups') part
        GROUP BY 1, 2, 3""",
        values,
    ).fetchall()
    connection.executemany(ADD, gone)
    connection.execute("DELETE FROM exposures WHERE lists = 0")


def read_exposures(connection: sqlite3.Connection, ranker: str) -> list[ExposureSum]:
    """The accounts of a ranker, as this connection sees the file."""
    columns = "account, name, lists, candidates, granted, due, lapsed"
    rows = connection.execute(f"SELECT {columns} FROM exposures WHERE ranker = ? ORDER BY 1, 2", (ranker,))
    return [exposure_sum(*row) for row in rows]


def exposure(
    connection: sqlite3.Connection, ranker: str, *, since: float, until: float, step: float
) -> list[ExposureTally]:
    """Exposure in steps of time; steps without a list that was counted are left out."""
    values = {"ranker": ranker, "since": since, "until": until, "step": step}
    found = _tallies(connection, STEP, f"FROM impressions WHERE {COUNTED}", values)
    return [ExposureTally(start=since + number * step, **sums) for number, sums in sorted(found.items())]


def exposure_in_parts(
    connection: sqlite3.Connection,
    ranker: str,
    *,
    account: int,
    since: float,
    until: float,
    parts: int,
    least: int,
) -> list[ExposureTally]:
    """Exposure that counts for one account, in up to so many parts of equally many lists."""
    values = {"ranker": ranker, "since": since, "until": until, "account": account}
    mine = f"FROM impressions WHERE {COUNTED} AND json_extract(exposure, '$.account') = :account"
    (lists,) = connection.execute(f"SELECT count(*) {mine}", values).fetchone()
    values["parts"] = max(min(parts, lists // least), 1)
    numbered = f"FROM (SELECT at, seq, exposure, ntile(:parts) OVER (ORDER BY at, seq) AS number {mine})"
    starts = dict(connection.execute(f"SELECT number, min(at) {numbered} GROUP BY 1", values).fetchall())
    found = _tallies(connection, "number", numbered, values)
    return [ExposureTally(start=starts[number], **sums) for number, sums in sorted(found.items())]


def _tallies(
    connection: sqlite3.Connection, key: str, lists: str, values: Mapping[str, object]
) -> dict[Any, dict[str, Any]]:
    """Sums over lists by a key, and for each group within."""
    names = ("lists", "held", "outside", "turned", "undone")
    totals = connection.execute(
        f"""SELECT {key}, count(*), count(json_extract(exposure, '$.within')),
            sum(json_extract(exposure, '$.within') IS 0), sum(json_extract(exposure, '$.turned')),
            sum(json_extract(exposure, '$.undone'))
        {lists} GROUP BY 1""",
        values,
    )
    found: dict[Any, dict[str, Any]] = {row[0]: dict(zip(names, row[1:], strict=True)) for row in totals}
    groups: dict[tuple[Any, str], dict[str, int]] = {}
    given = connection.execute(
        f"""SELECT which, part.value, count(*), {PARTS}
        FROM (SELECT {key} AS which, exposure {lists}), json_each(exposure, '$.groups') part GROUP BY 1, 2""",
        values,
    )
    for which, name, *sums in given:
        groups[which, name] = dict(zip(("lists", *SUMMED), sums, strict=True))
    shown = connection.execute(
        f"""SELECT which, json_extract(exposure, '$.groups[' || slot.value || ']'), count(*),
            sum(EXISTS (SELECT 1 FROM events WHERE list_seq = list.seq AND position = slot.key + 1
                AND verdict IN ('accepted', 'late')))
        FROM (SELECT seq, {key} AS which, exposure {lists}) list, json_each(exposure, '$.shown') slot
        GROUP BY 1, 2""",
        values,
    )
    for which, name, results, clicks in shown:
        groups[which, name] |= {"results": results, "clicks": clicks}
    for which, sums in found.items():
        mine = sorted((name, each) for (owner, name), each in groups.items() if owner == which)
        sums["groups"] = [GroupTally(group=name, **each) for name, each in mine]
    return found
