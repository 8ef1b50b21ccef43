"""Codec for payloads: what a list held, as one msgpack record.

A payload is a head, then the id, feature row and group of each candidate. A row stands next to its id, so
that a compressor that has seen the candidate finds all of it in one piece.
"""

from __future__ import annotations

from itertools import repeat
from typing import Any

import msgspec
import numpy as np

from rankloop.errors import DataError
from rankloop.service.store.array_codec import pack, unpack
from rankloop.service.store.log_records import Impression
from rankloop.types import Array, BoolArray, FloatArray, IntArray


class StoredCandidate(msgspec.Struct, array_like=True, frozen=True):
    """A candidate: its id, its row of features, and its group unless the list has none."""

    object_id: str
    row: bytes
    group: str | None = None


class ListPayload(msgspec.Struct, array_like=True, frozen=True, tag=1):
    """What a list held; its next form is another struct with `tag=2`."""

    arrays: bytes  # packed: all arrays but the features
    dtype: str  # of the features
    width: int  # how many features a row has
    candidates: list[StoredCandidate]


ENCODER = msgspec.msgpack.Encoder()
DECODER = msgspec.msgpack.Decoder(ListPayload)
FLOATS = (2, 4, 8)  # bytes of a feature


def encode_payload(shown: Impression) -> bytes:
    """Encode what a list held."""
    dtype = shown.features.dtype
    if dtype.kind != "f" or dtype.itemsize not in FLOATS:
        raise DataError(f"features must be numbers of 16, 32 or 64 bits, found {dtype}")
    little = np.asarray(shown.features, dtype=dtype.newbyteorder("<"), order="C")
    values, columns = drop_missing_columns(little)
    arrays: dict[str, Array] = {"order": shown.order, "pinned_at": shown.pinned_at}
    arrays |= {"context": shown.context, "columns": columns}
    arrays |= {f"evidence.{name}": value for name, value in shown.evidence.items()}
    payload = ListPayload(pack(arrays), values.dtype.str, values.shape[1], _candidates(shown, values))
    return ENCODER.encode(payload)


def decode_payload(data: bytes) -> dict[str, Any]:
    """Decode what a list held, to the bit, as fields of its impression; arrays own their memory."""
    try:
        found = DECODER.decode(data)
        arrays = unpack(found.arrays)
        ids = [each.object_id for each in found.candidates]
        rows = b"".join([each.row for each in found.candidates])
        values = np.frombuffer(rows, found.dtype).reshape(len(ids), found.width)
        features = restore_missing_columns(values, arrays.pop("columns"))
        own = {name: arrays.pop(name) for name in ("pinned_at", "order", "context")}
        groups = [each.group for each in found.candidates if each.group is not None]
        evidence = {name.removeprefix("evidence."): value for name, value in arrays.items()}
        return {"object_ids": ids, "groups": groups, "features": features, "evidence": evidence, **own}
    except (ValueError, TypeError, LookupError) as error:  # msgspec's are a ValueError
        raise DataError(f"these bytes hold no list: {error}") from error


def drop_missing_columns(features: FloatArray) -> tuple[FloatArray, IntArray]:
    """Leave out the columns in which no candidate has a value; which are left, and the width at the end.

    What a list costs does not depend on how many features other lists have. Nothing missing: no columns.

    >>> values, columns = drop_missing_columns(np.array([[np.nan, 1.0, np.nan]]))
    >>> values.tolist(), columns.tolist(), restore_missing_columns(values, columns).tolist()
    ([[1.0]], [1, 3], [[nan, 1.0, nan]])
    """
    if not features.size or not np.isnan(features.min()):  # as a rule: nothing is missing
        return features, NO_COLUMNS
    bits = f"u{features.itemsize}"  # every bit counts: not each NaN is as NumPy makes it
    there: BoolArray = (features.view(bits) != np.array(np.nan, features.dtype).view(bits)).any(axis=0)
    if there.all():
        return features, NO_COLUMNS
    return features[:, there], np.append(np.flatnonzero(there), features.shape[1])


def restore_missing_columns(values: FloatArray, columns: IntArray) -> FloatArray:
    """Put the values into their columns; the others say nothing."""
    if not columns.size:
        return values.copy()
    table = np.full((len(values), int(columns[-1])), np.nan, dtype=values.dtype)
    table[:, columns[:-1]] = values
    return table


NO_COLUMNS: IntArray = np.zeros(0, dtype=np.int64)


def _candidates(shown: Impression, values: FloatArray) -> list[StoredCandidate]:
    count, width = len(shown.object_ids), values.shape[1] * values.itemsize
    if len(values) != count or len(shown.groups) not in (0, count):
        raise DataError(
            f"a list needs a row of features and a group for each candidate, or no groups: "
            f"found {len(values)} rows and {len(shown.groups)} groups for {count} candidates"
        )
    data = values.tobytes()
    rows = (
        [data[start : start + width] for start in range(0, width * count, width)] if width else [b""] * count
    )
    return list(map(StoredCandidate, shown.object_ids, rows, shown.groups or repeat(None)))
