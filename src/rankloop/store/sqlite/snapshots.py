"""Snapshots in SQLite: what two of them have in common is stored once.

Most of a large state is the same in the next snapshot: a replay memory of which few slots were written. So an
array of more than 64 kB is cut into blocks of whole rows, and a block is stored once under its digest,
however many snapshots refer to it. Blocks that no snapshot refers to are deleted with the last one that did.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec
import numpy as np

from rankloop.store.base import SnapshotDamaged
from rankloop.store.codec import KINDS, pack, unpack
from rankloop.store.records import Snapshot
from rankloop.types import Array, DataError

BLOCK = 2**16  # bytes, about: blocks are whole rows


class Shared(NamedTuple):
    """A large array as a snapshot refers to it."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    digests: list[str]  # of its blocks, in order


class Layout(NamedTuple):
    """Which arrays a snapshot has, in order, and which of them are in blocks."""

    names: list[str]
    shared: list[Shared]


def keep(connection: sqlite3.Connection, snapshot: Snapshot) -> None:
    """Write a snapshot, in place of an earlier one of the same entry."""
    drop(connection, snapshot.ranker, [snapshot.seq])
    large = {name: value for name, value in snapshot.arrays.items() if value.nbytes > BLOCK}
    small = pack({name: value for name, value in snapshot.arrays.items() if name not in large})
    key = (snapshot.ranker, snapshot.seq)
    shared = [_share(connection, key, name, value) for name, value in large.items()]
    body, layout = json.dumps(snapshot.body), _encoded(Layout(list(snapshot.arrays), shared))
    connection.execute(
        "INSERT INTO snapshots (ranker, seq, at, body, arrays, layout, digest) VALUES (?, ?, ?, ?, ?, ?, ?)",
        (*key, snapshot.at, body, small, layout, _digest(body.encode(), small, layout.encode())),
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
            "DELETE FROM blocks WHERE id = ?"
            " AND NOT EXISTS (SELECT 1 FROM snapshot_blocks WHERE block = blocks.id)",
            blocks,
        )


def kept(connection: sqlite3.Connection, ranker: str) -> list[tuple[int, float]]:
    """Number and time of every snapshot, in order; also of those that are damaged."""
    return connection.execute(
        "SELECT seq, at FROM snapshots WHERE ranker = ? ORDER BY seq", (ranker,)
    ).fetchall()


def _share(connection: sqlite3.Connection, key: tuple[str, int], name: str, value: Array) -> Shared:
    """Store the blocks of an array that are not there yet, and refer to all of them."""
    if value.dtype.kind not in KINDS:
        raise DataError(f"{name!r}: only numbers and booleans are stored, found {value.dtype}")
    plain = np.asarray(value, dtype=value.dtype.newbyteorder("<"), order="C")
    digests = []
    for block in _blocks(plain):
        digest = _digest(block)
        run = connection.execute
        run("INSERT INTO blocks (digest, data) VALUES (?, ?) ON CONFLICT DO NOTHING", (digest, block))
        run(
            "INSERT OR IGNORE INTO snapshot_blocks SELECT ?, ?, id FROM blocks WHERE digest = ?",
            (*key, digest),
        )
        digests.append(digest.hex())
    return Shared(name, plain.dtype.str, plain.shape, digests)


def _blocks(plain: Array) -> Iterator[bytes]:
    """The bytes of an array, cut between rows into blocks of about the same size."""
    rows = max(BLOCK * len(plain) // plain.nbytes, 1)
    return (plain[start : start + rows].tobytes() for start in range(0, len(plain), rows))


def _contents(connection: sqlite3.Connection, ranker: str, seq: int) -> tuple[Any, Mapping[str, Array]]:
    """What a snapshot holds, checked against its digests."""
    body, small, layout, digest = connection.execute(
        "SELECT body, arrays, layout, digest FROM snapshots WHERE ranker = ? AND seq = ?", (ranker, seq)
    ).fetchone()
    if layout is None:  # of an earlier release: nothing was shared, and there was no digest
        return json.loads(body), unpack(small)
    if _digest(body.encode(), small, layout.encode()) != digest:
        raise DataError("its bytes are not those that were written")
    names, shared = msgspec.json.decode(layout, type=Layout)
    arrays = unpack(small) | {each.name: _joined(connection, each) for each in shared}
    return json.loads(body), {name: arrays[name] for name in names}


def _joined(connection: sqlite3.Connection, shared: Shared) -> Array:
    """An array from its blocks."""
    parts = []
    for digest in map(bytes.fromhex, shared.digests):
        row = connection.execute("SELECT data FROM blocks WHERE digest = ?", (digest,)).fetchone()
        if row is None or _digest(row[0]) != digest:
            raise DataError(f"a block of {shared.name!r} is {'missing' if row is None else 'not as written'}")
        parts.append(row[0])
    return np.frombuffer(bytearray().join(parts), np.dtype(shared.dtype)).reshape(shared.shape)


def _encoded(layout: Layout) -> str:
    return msgspec.json.encode(layout).decode()


def _digest(*parts: bytes) -> bytes:
    found = hashlib.blake2b(digest_size=20)
    for part in parts:
        found.update(len(part).to_bytes(8, "little"))
        found.update(part)
    return found.digest()
