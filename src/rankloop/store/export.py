"""Export and import of a log: JSON lines to read, Parquet to analyse; both come back to the bit."""

from __future__ import annotations

import heapq
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields
from itertools import islice
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import polars as pl

from rankloop.store.base import Store, Transaction, write
from rankloop.store.codec import pack, unpack
from rankloop.store.records import Decision, Event, Impression, Snapshot
from rankloop.types import Array, DataError

Record: TypeAlias = Impression | Event | Decision | Snapshot
Row: TypeAlias = dict[str, Any]

KINDS: Mapping[str, type[Record]] = {
    "impression": Impression,
    "event": Event,
    "decision": Decision,
    "snapshot": Snapshot,
}
OWN_ARRAYS = ("features", "pinned_at", "order")
PART = 2000  # rows in a Parquet file: lists are large
BATCH = 200  # records in a transaction


def export_jsonl(store: Store, path: Path) -> int:
    """Write a whole log, one entry a line; how many."""
    count = 0
    with path.open("w", encoding="utf-8") as file:
        for record in _records(store):
            row = _row(record)
            row["arrays"] = {name: _listed(value) for name, value in row["arrays"].items()}
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
            count += 1
    return count


def import_jsonl(path: Path, store: Store) -> int:
    """Read a log into an empty store; how many entries."""
    with path.open(encoding="utf-8") as file:
        return _import((_line(number, line) for number, line in enumerate(file, start=1)), store)


def export_parquet(store: Store, folder: Path) -> int:
    """Write a whole log as tables, `<kind>-<number>.parquet`; how many entries."""
    folder.mkdir(parents=True, exist_ok=True)
    count = 0
    for kind in KINDS:
        rows = (_columns(_row(record)) for record in _records(store, kind))
        for number in range(2**62):
            part = list(islice(rows, PART))
            if not part:
                break
            frame = pl.DataFrame(part, infer_schema_length=None)
            frame.write_parquet(folder / f"{kind}-{number:05}.parquet")
            count += len(part)
    return count


def import_parquet(folder: Path, store: Store) -> int:
    """Read tables into an empty store; how many entries."""
    if not list(folder.glob("decision-*.parquet")):
        raise DataError(f"{folder} holds no log: expected tables such as decision-00000.parquet")
    return _import(heapq.merge(*(_tables(folder, kind) for kind in KINDS), key=_log_order), store)


def _records(store: Store, kind: str = "") -> Iterator[Record]:
    """Everything in a store, or all of one kind, in order."""
    rankers = store.rankers()
    streams: dict[str, list[Iterable[Record]]] = {
        "impression": [store.impressions(ranker) for ranker in rankers],
        "event": [store.events(None)],
        "decision": [store.decisions(ranker) for ranker in rankers],
        "snapshot": [_snapshots(store, ranker) for ranker in rankers],
    }
    chosen = [stream for name, found in streams.items() if kind in ("", name) for stream in found]
    return heapq.merge(*chosen, key=lambda each: (each.seq, isinstance(each, Snapshot)))


def _snapshots(store: Store, ranker: str) -> Iterator[Snapshot]:
    for seq, _ in store.snapshots(ranker):
        found = store.snapshot(ranker, until=seq)
        if found is not None:
            yield found


def _row(record: Record) -> Row:
    """Plain values, and all arrays under one name."""
    kind = next(name for name, each in KINDS.items() if isinstance(record, each))
    row = {"entry": kind} | {each.name: getattr(record, each.name) for each in fields(record)}
    arrays: dict[str, Array] = dict(row.pop("arrays", {}))
    arrays |= {name: row.pop(name) for name in OWN_ARRAYS if name in row}
    arrays |= {f"evidence.{name}": value for name, value in row.pop("evidence", {}).items()}
    for name in ("digest", "object_ids", "groups", "body"):
        if name in row:
            row[name] = row[name].hex() if name == "digest" else _plain(row[name])
    return row | {"arrays": arrays}


def _record(row: Row) -> Record:
    kind, arrays = row.pop("entry"), row.pop("arrays")
    if kind == "snapshot":
        return Snapshot(arrays=arrays, **row)
    if kind != "impression":
        return KINDS[kind](**row)
    row["digest"] = bytes.fromhex(row["digest"])
    own = {name: arrays.pop(name) for name in OWN_ARRAYS}
    evidence = {name.removeprefix("evidence."): value for name, value in arrays.items()}
    return Impression(evidence=evidence, **own, **row)


def _import(rows: Iterable[Row], store: Store) -> int:
    rest, count = iter(rows), 0
    while batch := [_record(row) for row in islice(rest, BATCH)]:
        write(store, lambda transaction, records=batch: _enter(transaction, records))  # type: ignore[misc]
        count += len(batch)
    return count


def _enter(transaction: Transaction, records: Iterable[Record]) -> None:
    for record in records:
        if isinstance(record, Snapshot):
            transaction.keep(record)
        else:
            transaction.append(record)


def _plain(value: Any) -> Any:
    return dict(value) if isinstance(value, Mapping) else list(value)


# JSON lines


def _listed(value: Array) -> Row:
    """An array to read: NaN, which JSON has not, is null."""
    flat = value.ravel().tolist()
    values = [None if isinstance(each, float) and each != each else each for each in flat]  # noqa: PLR0124
    return {"dtype": value.dtype.str, "shape": list(value.shape), "values": values}


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


# Parquet


def _columns(row: Row) -> Row:
    body = {"body": json.dumps(row["body"])} if "body" in row else {}
    return row | body | {"arrays": pack(row["arrays"])}


def _tables(folder: Path, kind: str) -> Iterator[Row]:
    for path in sorted(folder.glob(f"{kind}-*.parquet")):
        for row in pl.read_parquet(path).iter_rows(named=True):
            body = {"body": json.loads(row["body"])} if "body" in row else {}
            yield row | body | {"arrays": unpack(row["arrays"])}


def _log_order(row: Row) -> tuple[int, bool]:
    return row["seq"], row["entry"] == "snapshot"
