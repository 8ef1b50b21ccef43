"""Blocks of a snapshot: a large array cut between rows, so that what two snapshots have in common is one.

Most of a large state is the same in the next snapshot: a replay memory of which few slots were written. So an
array of more than 64 kB is cut into blocks of whole rows, and a store keeps a block once, under its digest.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import msgspec
import numpy as np

from rankloop.errors import DataError
from rankloop.service.store.array_codec import KINDS, pack, unpack
from rankloop.service.store.log_records import Snapshot
from rankloop.types import Array

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


class Written(NamedTuple):
    """A snapshot as it is stored: a row, and the blocks it refers to, by digest."""

    body: str
    small: bytes
    layout: str
    checksum: bytes
    blocks: dict[str, bytes]


def cut(snapshot: Snapshot) -> Written:
    """A snapshot as a row and blocks.

    >>> state = {"memory": np.zeros((40, 1000))}
    >>> found = cut(Snapshot(seq=1, at=0.0, ranker="shop", body={}, arrays=state))
    >>> len(found.blocks)  # all five are equal
    1
    >>> joined(found.body, found.small, found.layout, found.checksum, found.blocks.get)[1]["memory"].shape
    (40, 1000)
    """
    large = {name: value for name, value in snapshot.arrays.items() if value.nbytes > BLOCK}
    small = pack({name: value for name, value in snapshot.arrays.items() if name not in large})
    blocks: dict[str, bytes] = {}
    shared = [_share(name, value, blocks) for name, value in large.items()]
    body = json.dumps(snapshot.body)
    layout = msgspec.json.encode(Layout(list(snapshot.arrays), shared)).decode()
    return Written(body, small, layout, _digest(body.encode(), small, layout.encode()), blocks)


def joined(
    body: str, small: bytes, layout: str, checksum: bytes, block: Callable[[str], bytes | None]
) -> tuple[Any, Mapping[str, Array]]:
    """What a snapshot holds, checked by its digests; `block` finds a block by its own."""
    if _digest(body.encode(), small, layout.encode()) != checksum:
        raise DataError("its bytes are not those that were written")
    names, shared = msgspec.json.decode(layout, type=Layout)
    arrays = unpack(small) | {each.name: _joined(each, block) for each in shared}
    return json.loads(body), {name: arrays[name] for name in names}


def _share(name: str, value: Array, blocks: dict[str, bytes]) -> Shared:
    """Put the blocks of an array to the others, and refer to all of them."""
    if value.dtype.kind not in KINDS:
        raise DataError(f"{name!r}: only numbers and booleans are stored, found {value.dtype}")
    plain = np.asarray(value, dtype=value.dtype.newbyteorder("<"), order="C")
    cuts = [(_digest(block).hex(), block) for block in _blocks(plain)]
    blocks.update(cuts)
    return Shared(name, plain.dtype.str, plain.shape, [digest for digest, _ in cuts])


def _blocks(plain: Array) -> Iterator[bytes]:
    """The bytes of an array, cut between rows into blocks of about the same size."""
    rows = max(BLOCK * len(plain) // plain.nbytes, 1)
    return (plain[start : start + rows].tobytes() for start in range(0, len(plain), rows))


def _joined(shared: Shared, block: Callable[[str], bytes | None]) -> Array:
    """An array from its blocks."""
    parts = []
    for digest in shared.digests:
        data = block(digest)
        if data is None or _digest(data).hex() != digest:
            found = "missing" if data is None else "not as written"
            raise DataError(f"a block of {shared.name!r} is {found}")
        parts.append(data)
    return np.frombuffer(bytearray().join(parts), np.dtype(shared.dtype)).reshape(shared.shape)


def _digest(*parts: bytes) -> bytes:
    found = hashlib.blake2b(digest_size=20)
    for part in parts:
        found.update(len(part).to_bytes(8, "little"))
        found.update(part)
    return found.digest()
