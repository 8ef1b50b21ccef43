"""Codec for named arrays: a JSON header and raw bytes; nothing is pickled, nothing is guessed."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod

import msgspec
import numpy as np

from rankloop.errors import DataError
from rankloop.types import Array

KINDS = "biuf"  # booleans, whole numbers, floating point: what can be stored without pickle


def pack(arrays: Mapping[str, Array]) -> bytes:
    """A header in JSON, a line end, and the arrays' bytes one after the other.

    >>> unpack(pack({"seed": np.array(7), "scores": np.array([0.5, 1.0])}))["scores"].tolist()
    [0.5, 1.0]
    """
    header, parts = [], []
    for name, value in arrays.items():
        if value.dtype.kind not in KINDS:
            raise DataError(f"{name!r}: only numbers and booleans are stored, found {value.dtype}")
        plain = np.asarray(value, dtype=value.dtype.newbyteorder("<"), order="C")
        header.append((name, plain.dtype.str, plain.shape))
        parts.append(plain.tobytes())
    return b"".join((msgspec.json.encode(header), b"\n", *parts))


def unpack(data: bytes) -> dict[str, Array]:
    """The arrays that were packed, to the bit; they own their memory."""
    end = data.find(b"\n")
    try:
        header = msgspec.json.decode(data[: max(end, 0)])
        arrays, start = {}, end + 1
        for name, dtype, shape in header:
            kind = np.dtype(dtype)
            if kind.kind not in KINDS:
                raise ValueError(f"an array of {kind}")
            count = prod(shape)
            arrays[name] = np.frombuffer(data, kind, count, start).reshape(shape).copy()
            start += count * kind.itemsize
        if start != len(data):
            raise ValueError(f"{len(data) - start} bytes too many")
    except (ValueError, TypeError, msgspec.DecodeError) as error:
        raise DataError(f"these bytes hold no packed arrays: {error}") from error
    return arrays
