"""Compression of payloads with shared dictionaries, in which nothing is of one visitor alone.

Lists show the same products again and again. A dictionary holds the rows of the commonest candidates, the
commonest last, where they are cheapest to point at. It is never changed, and each payload names the one it
was made with: a dictionary matters for size alone. It has only values on which lists of two visitors agree,
so that no deletion has to write one again.
"""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from operator import itemgetter
from typing import TypeAlias

import numpy as np

from rankloop.errors import DataError
from rankloop.service.store.array_codec import pack, unpack
from rankloop.service.store.log_records import Impression
from rankloop.service.store.payload_codec import (
    DECODER,
    ENCODER,
    ListPayload,
    StoredCandidate,
    encode_payload,
)
from rankloop.types import Array, IntArray

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

SIZE = 112 * 1024  # bytes of a dictionary
OPTIONS: dict[int, int] = {  # with a checksum: a list that is damaged is refused
    zstd.CompressionParameter.compression_level: 3,
    zstd.CompressionParameter.checksum_flag: 1,
}
SAMPLE = 1000  # lists that a dictionary is built from
WORSE = 4 / 3  # how much more bytes call for another dictionary
NONE = 0  # the number of no dictionary
Seen: TypeAlias = tuple[StoredCandidate, int]  # a candidate, and who saw it


class PayloadCompressor:
    """Compressor with the newest dictionary; `find` gives the content of any by its number.

    >>> compressor = PayloadCompressor(find={7: b"red shoes, blue shoes"}.__getitem__)
    >>> compressor.use(7, ratio=0.5)
    >>> number, data = compressor.compress(b"blue shoes")
    >>> number, compressor.decompress(number, data)
    (7, b'blue shoes')
    """

    def __init__(self, find: Callable[[int], bytes]) -> None:
        self._find = find
        self._dictionaries: dict[int, zstd.ZstdDict | None] = {NONE: None}
        self._wait = SAMPLE  # lists until the next attempt
        self._lists = self._raw = self._packed = 0  # since it began to count: lists, bytes before and after
        self._found = 0.0  # the ratio of the last thousand lists
        self.use(NONE, ratio=1.0)

    def use(self, number: int, *, ratio: float) -> None:
        """Compress with a dictionary from now on; `ratio` is what it made of lists it had not seen."""
        self._used = number, zstd.ZstdCompressor(options=OPTIONS, zstd_dict=self._load(number))
        self._ratio = ratio
        self._begin_to_count()

    @property
    def number(self) -> int:
        """The number of the dictionary in use."""
        return self._used[0]

    def add(self, number: int, content: bytes) -> None:
        """Make a dictionary known, so that it need not be found."""
        self._dictionaries[number] = zstd.ZstdDict(content, is_raw=True)

    def compress(self, payload: bytes) -> tuple[int, bytes]:
        """Compress a payload; the number of the dictionary, and the bytes."""
        number, compressor = self._used  # at once: another thread may exchange both
        data = compressor.compress(payload, zstd.ZstdCompressor.FLUSH_FRAME)
        self._lists += 1
        self._raw += len(payload)
        self._packed += len(data)
        if self._lists % SAMPLE == 0:
            self._found = self._packed / max(self._raw, 1)
            self._raw = self._packed = 0
        return number, data

    def decompress(self, number: int, data: bytes) -> bytes:
        """Give a payload back."""
        try:
            return zstd.decompress(data, self._load(number))
        except zstd.ZstdError as error:
            raise DataError(f"these bytes hold no list: {error}") from error

    def is_dictionary_due(self) -> bool:
        """Whether enough lists were written without a dictionary, or with one that now does a third worse."""
        is_worse = self.number == NONE or self._found > WORSE * self._ratio
        return self._lists >= self._wait and is_worse

    def make_dictionary(self, lists: Sequence[Impression]) -> tuple[bytes, float] | None:
        """Make a dictionary, and its ratio; None unless lists without it take a third more bytes.

        The ratio is that of every other list with a dictionary from the rest. After an attempt in vain, the
        next one waits for twice as many lists.
        """
        self._begin_to_count()
        payloads = [encode_payload(each) for each in lists[1::2]]
        trial = build_dictionary(lists[::2])
        ratio = measure_ratio(zstd.ZstdDict(trial, is_raw=True), payloads) if trial else 1.0
        if WORSE * ratio > measure_ratio(self._load(self.number), payloads):
            self._wait *= 2
            return None
        self._wait = SAMPLE
        return build_dictionary(lists), ratio

    def _begin_to_count(self) -> None:
        self._lists = self._raw = self._packed = 0
        self._found = 0.0

    def _load(self, number: int) -> zstd.ZstdDict | None:
        if number not in self._dictionaries:
            self.add(number, self._find(number))
        return self._dictionaries[number]


def measure_ratio(dictionary: zstd.ZstdDict | None, payloads: Sequence[bytes]) -> float:
    """Measure the bytes after compression over those before."""
    compressor = zstd.ZstdCompressor(options=OPTIONS, zstd_dict=dictionary)
    packed = sum(len(compressor.compress(each, zstd.ZstdCompressor.FLUSH_FRAME)) for each in payloads)
    return packed / max(sum(map(len, payloads)), 1)


def build_dictionary(lists: Sequence[Impression], *, size: int = SIZE) -> bytes:
    """Build a dictionary from what lists of two visitors have in common; empty if that is nothing."""
    forms: defaultdict[tuple[str, int, bytes, bool], list[Seen]] = defaultdict(list)
    outlines: defaultdict[bytes, set[int]] = defaultdict(set)
    for visitor, shown in zip(find_visitors(lists), lists, strict=True):
        payload = DECODER.decode(encode_payload(shown))
        columns = unpack(payload.arrays)["columns"].tobytes()
        forms[payload.dtype, payload.width, columns, bool(shown.groups)] += [
            (each, visitor) for each in payload.candidates
        ]
        outlines[_outline(payload)].add(visitor)
    rows = [row for form, seen in forms.items() for row in _common_rows(seen, f"u{form[0][2:]}", form[1])]
    rows.sort(key=itemgetter(0))
    heads = [outline for outline, visitors in outlines.items() if len(visitors) > 1]
    return b"".join([*(row for _, row in rows), *heads])[-size:]


def find_visitors(lists: Sequence[Impression]) -> list[int]:
    """Number the visitors of lists: who shares a client, session or user id is one; so are all without ids.

    >>> from types import SimpleNamespace as List
    >>> ids = [("c1", "", ""), ("c1", "s1", ""), ("", "s1", ""), ("c2", "", ""), ("", "", "")]
    >>> find_visitors([List(client_id=c, session_id=s, user=u) for c, s, u in ids])
    [0, 0, 0, 3, 4]
    """
    parents = list(range(len(lists)))

    def find_root(number: int) -> int:
        while parents[number] != number:
            number = parents[number] = parents[parents[number]]
        return number

    first: dict[tuple[str, str], int] = {}
    for number, shown in enumerate(lists):
        ids = {"client": shown.client_id, "session": shown.session_id, "user": shown.user}
        for pair in [(kind, name) for kind, name in ids.items() if name] or [("", "")]:
            one, other = sorted((find_root(number), find_root(first.setdefault(pair, number))))
            parents[other] = one
    return [find_root(number) for number in range(len(lists))]


def find_agreed_values(places: IntArray, visitors: IntArray, values: Array, size: int) -> Array:
    """Find the value that most visitors agree on at each place; 0 where no two do.

    >>> places, visitors = np.array([0, 0, 0, 1, 1]), np.array([1, 2, 3, 1, 1])
    >>> find_agreed_values(places, visitors, np.array([7, 7, 9, 4, 4]), 2).tolist()
    [7, 0]
    """
    order = np.lexsort((visitors, values, places))
    places, visitors, values = places[order], visitors[order], values[order]
    is_new = np.append(True, (places[1:] != places[:-1]) | (values[1:] != values[:-1]))
    is_first = is_new | np.append(True, visitors[1:] != visitors[:-1])  # of its visitor
    starts = np.flatnonzero(is_new)
    votes = np.add.reduceat(is_first.astype(np.int64), starts)
    places, values, votes = (each[votes > 1] for each in (places[starts], values[starts], votes))
    best = np.lexsort((votes, places))
    found = np.zeros(size, dtype=values.dtype)
    found[places[best]] = values[best]  # of several, the last one stays
    return found


def _common_rows(seen: Sequence[Seen], bits: str, width: int) -> Iterator[tuple[int, bytes]]:
    """Yield each candidate that two visitors saw, with what they agree on, and how often it was shown."""
    known = Counter(name for name, _ in {(each.object_id, visitor) for each, visitor in seen})
    numbers = {name: number for number, name in enumerate(name for name in known if known[name] > 1)}
    kept = [(numbers[each.object_id], visitor, each) for each, visitor in seen if each.object_id in numbers]
    if not kept:
        return
    places, visitors = (np.array([each[index] for each in kept]) for index in (0, 1))
    values = np.frombuffer(b"".join([each.row for *_, each in kept]), bits).reshape(len(kept), width)
    agreed = [find_agreed_values(places, visitors, column, len(numbers)) for column in values.T]
    rows = np.stack(agreed, axis=1) if agreed else np.zeros((len(numbers), 0))
    names = {"": 0}  # of groups: 0 where no two visitors agree
    codes = np.array([names.setdefault(each.group or "", len(names)) for *_, each in kept])
    found, groups = find_agreed_values(places, visitors, codes, len(numbers)), list(names)
    for name, row, code, times in zip(numbers, rows, found, np.bincount(places), strict=True):
        group = None if kept[0][2].group is None else groups[code]
        yield int(times), ENCODER.encode(StoredCandidate(name, row.tobytes(), group))


def _outline(payload: ListPayload) -> bytes:
    """Encode the head of a payload without its values."""
    arrays = unpack(payload.arrays)
    empty = pack(
        {name: value if name == "columns" else np.zeros_like(value) for name, value in arrays.items()}
    )
    return ENCODER.encode(ListPayload(empty, payload.dtype, payload.width, []))
