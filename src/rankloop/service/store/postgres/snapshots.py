"""Snapshots in PostgreSQL: what two of them have in common is stored once.

A block (see `rankloop.service.store.snapshot_blocks`) is stored under its digest, however many
snapshots refer to it. Blocks that no snapshot refers to are deleted with the last one that did.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import psycopg

from rankloop.errors import DataError
from rankloop.service.store.log_records import Snapshot
from rankloop.service.store.postgres.postgres_connections import Connection
from rankloop.service.store.postgres.removals import SNAPSHOTS, count_change
from rankloop.service.store.snapshot_blocks import cut, joined
from rankloop.service.store.store import SnapshotDamaged


def keep(connection: Connection, snapshot: Snapshot) -> None:
    """Write a snapshot, in place of an earlier one of the same entry."""
    drop(connection, snapshot.ranker, [snapshot.seq])
    key, written = (snapshot.ranker, snapshot.seq), cut(snapshot)
    with connection.cursor() as cursor:
        cursor.executemany(
            "INSERT INTO blocks (digest, data) VALUES (%s, %s) ON CONFLICT (digest) DO NOTHING",
            list(written.blocks.items()),
        )
        cursor.executemany(
            "INSERT INTO snapshot_blocks VALUES (%s, '', %s, %s)",
            [(*key, digest) for digest in written.blocks],
        )
    connection.execute(
        "INSERT INTO snapshots (ranker, digest, seq, at, body, arrays, layout, checksum)"
        " VALUES (%s, '', %s, %s, %s, %s, %s, %s)",
        (*key, snapshot.at, written.body, written.small, written.layout, written.digest),
    )


def read(connection: Connection, ranker: str, *, until: int, before: float) -> Snapshot | None:
    """The latest snapshot with `seq <= until` and `at <= before`; `SnapshotDamaged` if it is."""
    row = connection.execute(
        "SELECT seq, at, body, arrays, layout, checksum FROM snapshots"
        " WHERE ranker = %s AND seq <= %s AND at <= %s ORDER BY seq DESC LIMIT 1",
        (ranker, until, before),
        binary=True,
    ).fetchone()
    if row is None:
        return None
    seq, at, body, small, layout, checksum = row
    try:
        blocks = _blocks(connection, ranker, seq)
        contents, arrays = joined(body, small, layout, checksum, blocks.get)
    except (psycopg.InternalError, DataError, msgspec.MsgspecError, ValueError, TypeError) as error:
        raise SnapshotDamaged(f"the snapshot of {ranker!r} at entry {seq} is damaged: {error}") from error
    return Snapshot(seq=seq, at=at, ranker=ranker, body=contents, arrays=arrays)


def drop(connection: Connection, ranker: str, seqs: Sequence[int]) -> None:
    """Delete snapshots, and the blocks that nobody else refers to."""
    if not seqs:
        return
    values = (ranker, list(seqs))
    if connection.execute("DELETE FROM snapshots WHERE ranker = %s AND seq = ANY(%s)", values).rowcount:
        count_change(connection, SNAPSHOTS)
    gone = connection.execute(
        "DELETE FROM snapshot_blocks WHERE ranker = %s AND seq = ANY(%s) RETURNING block", values
    ).fetchall()
    connection.execute(
        "DELETE FROM blocks WHERE digest = ANY(%s)"
        " AND NOT EXISTS (SELECT 1 FROM snapshot_blocks WHERE block = blocks.digest)",
        ([block for (block,) in gone],),
    )


def kept(connection: Connection, ranker: str) -> list[tuple[int, float]]:
    """Number and time of every snapshot, in order; also of those that are damaged."""
    rows = connection.execute(
        "SELECT seq, at FROM snapshots WHERE ranker = %s ORDER BY seq", (ranker,), binary=True
    )
    return [(seq, at) for seq, at in rows]


def _blocks(connection: Connection, ranker: str, seq: int) -> dict[bytes, bytes]:
    rows = connection.execute(
        "SELECT block, data FROM blocks JOIN snapshot_blocks ON block = blocks.digest"
        " WHERE ranker = %s AND seq = %s",
        (ranker, seq),
        binary=True,
    )
    return {digest: data for digest, data in rows}  # noqa: C416
