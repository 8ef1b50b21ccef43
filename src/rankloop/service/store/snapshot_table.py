"""Snapshots in a database: what two of them have in common is stored once.

A block (see `rankloop.service.store.snapshot_blocks`) is stored under its digest, however many snapshots
refer to it. Blocks that no snapshot refers to are deleted with the last one that did.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from rankloop.errors import DataError
from rankloop.service.store.log_records import Snapshot
from rankloop.service.store.snapshot_blocks import cut, joined
from rankloop.service.store.snapshot_thinning import protected_by, superfluous
from rankloop.service.store.sql.dialect import Values
from rankloop.service.store.sql.log_reader import LAST_SEQ, LogReader
from rankloop.service.store.sql.reader_connections import Run
from rankloop.service.store.store import SnapshotDamaged

ONE = "ranker = :ranker AND digest = :digest AND seq = :seq"
DAMAGES = (DataError, msgspec.MsgspecError, ValueError, TypeError)


class SnapshotTable(LogReader):
    """Snapshots by ranker, digest and entry; the digest of a ranker's own state is empty."""

    def load_latest(
        self, ranker: str, digest: str = "", *, until: int | None = None, before: float | None = None
    ) -> Snapshot | None:
        """Return the latest snapshot with `seq <= until` and `at <= before`; `SnapshotDamaged` if it is."""
        values = {
            "ranker": ranker,
            "digest": digest,
            "until": LAST_SEQ if until is None else until,
            "before": float("inf") if before is None else before,
        }

        def look(run: Run) -> Snapshot | None:
            rows = run(
                """SELECT seq, at FROM snapshots WHERE ranker = :ranker AND digest = :digest
                AND seq <= :until AND at <= :before ORDER BY seq DESC LIMIT 1""",
                values,
            )
            return self._load(run, ranker, digest, *rows[0]) if rows else None

        return self.source.read(look)

    def list_snapshots(self, ranker: str, digest: str = "") -> list[tuple[int, float]]:
        """Return number and time of every snapshot, in order; also of those that are damaged."""
        rows = self.source.run(
            "SELECT seq, at FROM snapshots WHERE ranker = :ranker AND digest = :digest ORDER BY seq",
            {"ranker": ranker, "digest": digest},
        )
        return [(seq, at) for seq, at in rows]

    def save_snapshot(self, snapshot: Snapshot) -> None:
        """Keep a snapshot, in place of an earlier one of the same entry, and thin those there are.

        Of the older ones ever fewer stay, by the rule of `rankloop.service.store.snapshot_thinning`; always
        those where the log begins: the base that a `retain` decision names, and the next after it.
        """
        ranker, digest = snapshot.ranker, snapshot.digest
        self._drop(ranker, digest, [snapshot.seq])
        written = cut(snapshot)
        key = {"ranker": ranker, "digest": digest, "seq": snapshot.seq}
        self._write_blocks(key, written.blocks)
        self.source.run(
            """INSERT INTO snapshots (ranker, digest, seq, at, body, arrays, layout, checksum)
            VALUES (:ranker, :digest, :seq, :at, :body, :small, :layout, :checksum)""",
            {
                **key,
                "at": snapshot.at,
                "body": written.body,
                "small": written.small,
                "layout": written.layout,
                "checksum": written.checksum,
            },
        )
        kept = [seq for seq, _ in self.list_snapshots(ranker, digest)]
        decided = () if digest else self.read_decisions(ranker, kinds=("retain",))
        self._drop(ranker, digest, superfluous(kept, protected=protected_by(decided, kept)))

    def delete_snapshots(
        self, ranker: str, digest: str | None = None, *, since: int = 0, before: int = LAST_SEQ
    ) -> None:
        """Delete the snapshots of entries from one on, and before another; without a digest, all of them."""
        rows = self.source.run(
            """SELECT digest, seq FROM snapshots
            WHERE ranker = :ranker AND seq >= :since AND seq < :before""",
            {"ranker": ranker, "since": since, "before": before},
        )
        for name in sorted({name for name, _ in rows if digest in (None, name)}):
            self._drop(ranker, name, [seq for each, seq in rows if each == name])

    def _load(self, run: Run, ranker: str, digest: str, seq: int, at: float) -> Snapshot:
        key = {"ranker": ranker, "digest": digest, "seq": seq}
        try:
            ((body, small, layout, checksum),) = run(
                f"SELECT body, arrays, layout, checksum FROM snapshots WHERE {ONE}", key
            )
            blocks: dict[str, bytes] = dict(
                run(
                    f"""SELECT block, data FROM blocks JOIN
                (SELECT block FROM snapshot_blocks WHERE {ONE}) AS mine ON block = blocks.digest""",
                    key,
                )
            )
            contents, arrays = joined(body, small, layout, checksum, blocks.get)
        except Exception as error:
            if not isinstance(error, DAMAGES) and not self.source.dialect.is_damage(error):
                raise  # the database is in trouble, not the snapshot
            raise SnapshotDamaged(f"the snapshot of {ranker!r} at entry {seq} is damaged: {error}") from error
        return Snapshot(seq=seq, at=at, ranker=ranker, digest=digest, body=contents, arrays=arrays)

    def _write_blocks(self, key: Values, blocks: Mapping[str, bytes]) -> None:
        """Write the blocks that are not there yet, and let the snapshot refer to all of them."""
        names, among = {"names": list(blocks)}, self.source.dialect.among("names")
        there = {
            name for (name,) in self.source.run(f"SELECT digest FROM blocks WHERE digest {among}", names)
        }
        for name in blocks.keys() - there:
            self.source.run("INSERT INTO blocks VALUES (:name, :data)", {"name": name, "data": blocks[name]})
        self.source.run(
            f"""INSERT INTO snapshot_blocks
            SELECT CAST(:ranker AS text), CAST(:digest AS text), CAST(:seq AS bigint), digest FROM blocks
            WHERE digest {among}""",
            {**key, **names},
        )

    def _drop(self, ranker: str, digest: str, seqs: Sequence[int]) -> None:
        """Delete snapshots, and the blocks that no other refers to."""
        for seq in seqs:
            key = {"ranker": ranker, "digest": digest, "seq": seq}
            blocks = self.source.run(f"SELECT block FROM snapshot_blocks WHERE {ONE}", key)
            self.source.run(f"DELETE FROM snapshots WHERE {ONE}", key)
            self.source.run(f"DELETE FROM snapshot_blocks WHERE {ONE}", key)
            self.source.run(
                f"""DELETE FROM blocks WHERE digest {self.source.dialect.among("names")}
                AND NOT EXISTS (SELECT 1 FROM snapshot_blocks WHERE block = blocks.digest)""",
                {"names": [name for (name,) in blocks]},
            )
