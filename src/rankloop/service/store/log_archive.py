"""Archive of a log: JSON lines that people can read, and that come back to the bit."""

from __future__ import annotations

import heapq
import json
import logging
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields
from itertools import islice, takewhile
from pathlib import Path
from typing import Any, TypeAlias

import msgspec
import numpy as np

from rankloop.errors import DataError
from rankloop.service.store.impression_parts import PartCodec
from rankloop.service.store.log_records import (
    SERVICE,
    Decision,
    Event,
    Impression,
    Snapshot,
)
from rankloop.service.store.store import SnapshotDamaged, Store, Transaction, write
from rankloop.types import Array

Record: TypeAlias = Impression | Event | Decision | Snapshot
Row: TypeAlias = dict[str, Any]

KINDS: Mapping[str, type[Record]] = {
    "impression": Impression,
    "event": Event,
    "decision": Decision,
    "snapshot": Snapshot,
}
OWN_ARRAYS = ("features", "pinned_at", "order", "context")
LOGGER = logging.getLogger("rankloop.store")
BATCH = 200  # records in a transaction


def export_log(store: Store, path: Path, *, until: int | None = None) -> int:
    """Write a whole log, or all of it up to an entry, one entry a line; how many."""
    count = 0
    with path.open("w", encoding="utf-8") as file:
        for record in takewhile(lambda each: until is None or each.seq <= until, _records(store)):
            row = _row(record)
            row["arrays"] = {name: _listed(value) for name, value in row["arrays"].items()}
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
            count += 1
    return count


def import_log(path: Path, store: Store) -> int:
    """Read a log into an empty store; how many entries."""
    count = _import(_lines(path, snapshots=False), store) + _import(_lines(path, snapshots=True), store)
    while write(store, lambda transaction: transaction.sum_buckets()):
        pass
    return count


def _records(store: Store) -> Iterator[Record]:
    """Everything in a store, in order; a snapshot comes after the entry that it ends with."""
    rankers = store.list_rankers()
    streams: list[Iterable[Record]] = [
        *(store.read_impressions(ranker) for ranker in rankers),
        store.read_events(None),
        *(store.read_decisions(ranker) for ranker in (SERVICE, *rankers)),
        *(_snapshots(store, ranker) for ranker in rankers),
    ]
    return heapq.merge(*streams, key=lambda each: (each.seq, isinstance(each, Snapshot)))


def _snapshots(store: Store, ranker: str) -> Iterator[Snapshot]:
    for seq, _ in store.list_snapshots(ranker):
        try:
            found = store.load_latest(ranker, until=seq)
        except SnapshotDamaged as error:  # a short cut, never the truth
            LOGGER.warning("%s; it is left out", error)
            continue
        if found is not None:
            yield found


def _row(record: Record) -> Row:
    """Plain values, and all arrays under one name."""
    kind = next(name for name, each in KINDS.items() if isinstance(record, each))
    row = {"entry": kind} | {each.name: getattr(record, each.name) for each in fields(record)}
    arrays: dict[str, Array] = dict(row.pop("arrays", {}))
    arrays |= {name: row.pop(name) for name in OWN_ARRAYS if name in row}
    arrays |= {f"evidence.{name}": value for name, value in row.pop("evidence", {}).items()}
    for name in ("digest", "object_ids", "groups", "titles", "body"):
        if name in row and not isinstance(row[name], str):
            row[name] = row[name].hex() if isinstance(row[name], bytes) else _plain(row[name])
    if "parts" in row:
        row["parts"] = msgspec.msgpack.decode(msgspec.msgpack.encode(row["parts"]))
    return row | {"arrays": arrays}


def _record(row: Row, codec: PartCodec) -> Record:
    try:
        return _made(codec, **row)
    except (TypeError, KeyError, ValueError) as error:  # msgspec's are a ValueError
        raise DataError(f"entry {row.get('seq')} is not of this release, or damaged: {error}") from error


def _made(codec: PartCodec, *, entry: str, arrays: dict[str, Array], **row: Any) -> Record:
    if entry == "snapshot":
        return Snapshot(arrays=arrays, **row)
    if entry != "impression":
        return KINDS[entry](**row)
    row["digest"] = bytes.fromhex(row["digest"])
    row["parts"] = codec.decode(codec.encode(row["parts"]))
    own: Row = {name: arrays.pop(name) for name in OWN_ARRAYS}
    evidence = {name.removeprefix("evidence."): value for name, value in arrays.items()}
    return Impression(evidence=evidence, **own, **row)


def _import(rows: Iterable[Row], store: Store) -> int:
    """Read entries, or snapshots: these last, when it is known which of them must not be thinned."""
    rest, count = iter(rows), 0
    while batch := [_record(row, store.parts) for row in islice(rest, BATCH)]:
        write(store, lambda transaction, records=batch: _enter(transaction, records))  # type: ignore[misc]
        count += len(batch)
    return count


def _enter(transaction: Transaction, records: Iterable[Record]) -> None:
    for record in records:
        if isinstance(record, Snapshot):
            transaction.save_snapshot(record)
        else:
            transaction.append(record)


def _plain(value: Any) -> Any:
    return dict(value) if isinstance(value, Mapping) else list(value)


def _listed(value: Array) -> Row:
    """An array to read: NaN, which JSON has not, is null."""
    flat = value.ravel().tolist()
    values = [None if isinstance(each, float) and each != each else each for each in flat]  # noqa: PLR0124
    return {"dtype": value.dtype.str, "shape": list(value.shape), "values": values}


def _lines(path: Path, *, snapshots: bool) -> Iterator[Row]:
    """The snapshots, or everything else."""
    with path.open(encoding="utf-8") as file:
        for number, line in enumerate(file, start=1):
            row = _line(number, line)
            if (row["entry"] == "snapshot") is snapshots:
                yield row


def _line(number: int, line: str) -> Row:
    try:
        row: Row = json.loads(line)
        row["arrays"] = {
            name: np.array(each["values"], dtype=each["dtype"]).reshape(each["shape"])
            for name, each in row["arrays"].items()
        }
        if row["entry"] not in KINDS:
            raise ValueError(f"no entry is of the kind {row['entry']!r}")
    except (ValueError, KeyError, TypeError) as error:
        raise DataError(f"line {number} is no entry of a log: {error}") from error
    return row
