"""Exposure in PostgreSQL: accounts that are kept as sums, and statistics over the lists."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from rankloop.service.store.exposure import exposure_sum, sums_of
from rankloop.service.store.log_records import ExposureSum, ExposureTally, GroupTally
from rankloop.service.store.postgres.postgres_connections import Connection

NAMES = ("lists", "candidates", "granted", "due", "lapsed")
ADD = f"""INSERT INTO exposures VALUES (%s, %s, %s, %s, %s, %s, %s, %s)
    ON CONFLICT (ranker, account, name) DO UPDATE
    SET {", ".join(f"{name} = exposures.{name} + excluded.{name}" for name in NAMES)}"""
GROUPS = "LATERAL jsonb_array_elements_text(exposure::jsonb->'groups') WITH ORDINALITY part (name, number)"
SLOTS = "LATERAL jsonb_array_elements_text(exposure::jsonb->'shown') WITH ORDINALITY slot (code, position)"
SUMMED = NAMES[1:]
PARTS = ", ".join(
    f"sum((exposure::jsonb->'{name}'->>(number - 1)::integer)::bigint)::bigint" for name in SUMMED
)
ACCOUNT = "(exposure::jsonb->>'account')::bigint"
COUNTED = "ranker = %(ranker)s AND at >= %(since)s AND at < %(until)s AND exposure IS NOT NULL"
STEP = "floor((at - %(since)s) / %(step)s)::bigint"


def add(connection: Connection, records: Iterable[object]) -> None:
    """Add what entries of the log have in the accounts."""
    sums = sums_of(records)
    if sums:
        with connection.cursor() as cursor:
            cursor.executemany(ADD, [(*key, *each) for key, each in sums.items()])


def subtract(connection: Connection, lists: str, values: Mapping[str, object]) -> None:
    """Take lists that are about to be deleted out of the accounts; `lists` is the FROM that selects them."""
    gone = connection.execute(
        f"""SELECT ranker, {ACCOUNT}, name, count(*), {PARTS}
        FROM (SELECT ranker, exposure {lists} AND exposure IS NOT NULL) old, {GROUPS} GROUP BY 1, 2, 3""",
        values,
        binary=True,
    ).fetchall()
    with connection.cursor() as cursor:
        cursor.executemany(ADD, [(*row[:3], *(-each for each in row[3:])) for row in gone])
    connection.execute("DELETE FROM exposures WHERE lists = 0")


def read_exposures(connection: Connection, ranker: str) -> list[ExposureSum]:
    """The accounts of a ranker, as this connection sees the database."""
    rows = connection.execute(
        f"SELECT account, name, {', '.join(NAMES)} FROM exposures WHERE ranker = %s ORDER BY 1, 2",
        (ranker,),
        binary=True,
    )
    return [exposure_sum(*row) for row in rows]


def exposure(
    connection: Connection, ranker: str, *, since: float, until: float, step: float
) -> list[ExposureTally]:
    """Exposure in steps of time; steps without a list that was counted are left out."""
    values = {"ranker": ranker, "since": since, "until": until, "step": step}
    found = _tallies(connection, STEP, f"FROM impressions WHERE {COUNTED}", values)
    return [ExposureTally(start=since + number * step, **sums) for number, sums in sorted(found.items())]


def exposure_in_parts(
    connection: Connection,
    ranker: str,
    *,
    account: int,
    since: float,
    until: float,
    parts: int,
    least: int,
) -> list[ExposureTally]:
    """Exposure that counts for one account, in up to so many parts of equally many lists."""
    values: dict[str, Any] = {"ranker": ranker, "since": since, "until": until, "account": account}
    mine = f"FROM impressions WHERE {COUNTED} AND {ACCOUNT} = %(account)s"
    ((lists,),) = connection.execute(f"SELECT count(*) {mine}", values, binary=True)
    values["parts"] = max(min(parts, lists // least), 1)
    tile = "ntile(%(parts)s::integer) OVER (ORDER BY at, seq) AS number"
    numbered = f"FROM (SELECT at, seq, exposure, {tile} {mine}) mine"
    rows = connection.execute(f"SELECT number, min(at) {numbered} GROUP BY 1", values, binary=True)
    starts = {number: start for number, start in rows}  # noqa: C416
    found = _tallies(connection, "mine.number", numbered, values)
    return [ExposureTally(start=starts[number], **sums) for number, sums in sorted(found.items())]


def _tallies(
    connection: Connection, key: str, lists: str, values: Mapping[str, object]
) -> dict[Any, dict[str, Any]]:
    """Sums over lists by a key, and for each group within."""
    names = ("lists", "held", "outside", "turned", "undone")
    totals = connection.execute(
        f"""SELECT {key}, count(*), count(exposure::jsonb->>'within'),
            count(*) FILTER (WHERE exposure::jsonb->>'within' = 'false'),
            sum((exposure::jsonb->>'turned')::bigint)::bigint,
            sum((exposure::jsonb->>'undone')::bigint)::bigint
        {lists} GROUP BY 1""",
        values,
        binary=True,
    )
    found: dict[Any, dict[str, Any]] = {row[0]: dict(zip(names, row[1:], strict=True)) for row in totals}
    groups: dict[tuple[Any, str], dict[str, int]] = {}
    given = connection.execute(
        f"""SELECT which, name, count(*), {PARTS}
        FROM (SELECT {key} AS which, exposure {lists}) list, {GROUPS} GROUP BY 1, 2""",
        values,
        binary=True,
    )
    for which, name, *numbers in given:
        groups[which, name] = dict(zip(NAMES, numbers, strict=True))
    shown = connection.execute(
        f"""SELECT which, exposure::jsonb->'groups'->>code::integer, count(*),
            count(*) FILTER (WHERE EXISTS (SELECT 1 FROM events WHERE list_seq = list.seq
                AND events.seq > list.seq AND events.position = slot.position
                AND verdict IN ('accepted', 'late')))
        FROM (SELECT seq, {key} AS which, exposure {lists}) list, {SLOTS} GROUP BY 1, 2""",
        values,
        binary=True,
    )
    for which, name, results, clicks in shown:
        groups[which, name] |= {"results": results, "clicks": clicks}
    for which, sums in found.items():
        mine = sorted((name, each) for (owner, name), each in groups.items() if owner == which)
        sums["groups"] = [GroupTally(group=name, **each) for name, each in mine]
    return found
