"""Snapshots in SQLite: what two of them have in common is stored once.

A block (see `rankloop.service.store.snapshot_blocks`) is stored under its digest, however many
snapshots refer to it. Blocks that no snapshot refers to are deleted with the last one that did.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from rankloop.errors import DataError
from rankloop.service.store.log_records import Snapshot
from rankloop.service.store.snapshot_blocks import cut, joined
from rankloop.service.store.store import SnapshotDamaged
from rankloop.types import Array


def keep(connection: sqlite3.Connection, snapshot: Snapshot) -> None:
    """Write a snapshot, in place of an earlier one of the same entry."""
    drop(connection, snapshot.ranker, [snapshot.seq])
    key, written, run = (snapshot.ranker, snapshot.seq), cut(snapshot), connection.execute
    for digest, block in written.blocks.items():
        run("INSERT INTO blocks (digest, data) VALUES (?, ?) ON CONFLICT DO NOTHING", (digest, block))
        run("INSERT INTO snapshot_blocks VALUES (?, '', ?, ?)", (*key, digest))
    run(
        "INSERT INTO snapshots (ranker, digest, seq, at, body, arrays, layout, checksum)"
        " VALUES (?, '', ?, ?, ?, ?, ?, ?)",
        (*key, snapshot.at, written.body, written.small, written.layout, written.digest),
    )


def read(connection: sqlite3.Connection, ranker: str, *, until: int, before: float) -> Snapshot | None:
    """The latest snapshot with `seq <= until` and `at <= before`; `SnapshotDamaged` if it is."""
    row = connection.execute(
        "SELECT seq, at FROM snapshots WHERE ranker = ? AND seq <= ? AND at <= ? ORDER BY seq DESC LIMIT 1",
        (ranker, until, before),
    ).fetchone()
    if row is None:
        return None
    seq, at = row
    try:
        body, arrays = _contents(connection, ranker, seq)
    except sqlite3.OperationalError:  # the file is in trouble, not the snapshot
        raise
    except (sqlite3.DatabaseError, DataError, msgspec.MsgspecError, ValueError, TypeError) as error:
        raise SnapshotDamaged(f"the snapshot of {ranker!r} at entry {seq} is damaged: {error}") from error
    return Snapshot(seq=seq, at=at, ranker=ranker, body=body, arrays=arrays)


def drop(connection: sqlite3.Connection, ranker: str, seqs: Sequence[int]) -> None:
    """Delete snapshots, and the blocks that nobody else refers to."""
    for seq in seqs:
        key = (ranker, seq)
        query = "SELECT block FROM snapshot_blocks WHERE ranker = ? AND seq = ?"
        blocks = connection.execute(query, key).fetchall()
        connection.execute("DELETE FROM snapshots WHERE ranker = ? AND seq = ?", key)
        connection.execute("DELETE FROM snapshot_blocks WHERE ranker = ? AND seq = ?", key)
        connection.executemany(
            "DELETE FROM blocks WHERE digest = ?"
            " AND NOT EXISTS (SELECT 1 FROM snapshot_blocks WHERE block = blocks.digest)",
            blocks,
        )


def kept(connection: sqlite3.Connection, ranker: str) -> list[tuple[int, float]]:
    """Number and time of every snapshot, in order; also of those that are damaged."""
    return connection.execute(
        "SELECT seq, at FROM snapshots WHERE ranker = ? ORDER BY seq", (ranker,)
    ).fetchall()


def _contents(connection: sqlite3.Connection, ranker: str, seq: int) -> tuple[Any, Mapping[str, Array]]:
    """What a snapshot holds, checked against its digests."""
    body, small, layout, checksum = connection.execute(
        "SELECT body, arrays, layout, checksum FROM snapshots WHERE ranker = ? AND seq = ?", (ranker, seq)
    ).fetchone()

    def block(digest: bytes) -> bytes | None:
        row = connection.execute("SELECT data FROM blocks WHERE digest = ?", (digest,)).fetchone()
        return None if row is None else row[0]

    return joined(body, small, layout, checksum, block)
