"""Columns of the log's tables, shared by every store that is a database: a record as a row, and back.

A field that is stored as it is takes its name here, and its column in each schema.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from operator import attrgetter
from typing import Any

import msgspec

from rankloop.service.store.impression_parts import PartCodec
from rankloop.service.store.log_records import (
    Event,
    Impression,
    ImpressionHead,
    ListSummary,
)
from rankloop.service.store.payload_codec import decode_payload, encode_payload
from rankloop.service.store.payload_dictionary import PayloadCompressor

IMPRESSION_COLUMNS = (
    *("seq", "at", "ranker", "query_id", "user_query", "client_id", "session_id"),
    *("model", "settings", "mode", "policy", "seed", "k", "teaches", "fallback", "digest"),
    *("pairs", "settled", "explored", "cost", "user_id"),
)
LIST_COLUMNS = (*IMPRESSION_COLUMNS, "shown", "titles", "parts")
HEAD_COLUMNS = ("seq", "at", "ranker", "query_id", "client_id", "session_id", "shown", "teaches", "parts")
PAYLOAD_COLUMNS = ("seq", "dictionary", "payload")
EVENT_COLUMNS = tuple(Event.__dataclass_fields__)
WHOLE_COLUMNS = (
    *IMPRESSION_COLUMNS,
    "titles",
    "parts",
    *PAYLOAD_COLUMNS[1:],
)  # of a list and its payload
SUMMARY_COLUMNS = (
    *("seq", "at", "query_id", "user_query", "client_id", "session_id", "model", "mode", "fallback"),
    *("pairs", "settled", "explored", "shown", "titles", "parts"),
)
_impression_values = attrgetter(*IMPRESSION_COLUMNS[2:-1], "user")  # without seq and at, which the log gives
_event_values = attrgetter(*EVENT_COLUMNS[2:])


def list_row(shown: Impression, seq: int, at: float, codec: PartCodec) -> tuple[Any, ...]:
    """A list in the order of `LIST_COLUMNS`."""
    names = texts(shown.shown), texts(shown.titles) if shown.titles else None
    return (seq, at, *_impression_values(shown), *names, codec.encode(shown.parts))


def payload_row(shown: Impression, seq: int, compressor: PayloadCompressor) -> tuple[Any, ...]:
    """What a list holds, in the order of `PAYLOAD_COLUMNS`."""
    return seq, *compressor.compress(encode_payload(shown))


def event_row(event: Event, seq: int, at: float) -> tuple[Any, ...]:
    """An event in the order of `EVENT_COLUMNS`."""
    return (seq, at, *_event_values(event))


def impression_from(row: Sequence[Any], codec: PartCodec, compressor: PayloadCompressor) -> Impression:
    """A list from a row of `WHOLE_COLUMNS`."""
    *plain, titles, parts, dictionary, payload = row
    known = dict(zip(IMPRESSION_COLUMNS, plain, strict=True))
    known |= decode_payload(compressor.decompress(dictionary, payload))
    return Impression(
        user=known.pop("user_id"),
        **known | {"teaches": bool(known["teaches"])},
        titles=texts_from(titles) if titles else (),
        parts=codec.decode(parts),
    )


def event_from(row: Sequence[Any]) -> Event:
    """An event from a row of `EVENT_COLUMNS`."""
    return Event(**dict(zip(EVENT_COLUMNS, row, strict=True)))


def summary_from(row: Sequence[Any], codec: PartCodec, clicks: Collection[int]) -> ListSummary:
    """A list in a line, from a row of `SUMMARY_COLUMNS` and the positions of clicks."""
    *plain, shown, titles, parts = row
    known: dict[str, Any] = dict(zip(SUMMARY_COLUMNS, plain, strict=False))
    return ListSummary(
        **known,
        shown=tuple(texts_from(shown)),
        titles=tuple(texts_from(titles)) if titles else (),
        parts=codec.decode(parts),
        clicks=tuple(sorted(clicks)),
    )


def head_from(row: Sequence[Any], codec: PartCodec) -> ImpressionHead:
    """The head of a list, from a row of `HEAD_COLUMNS`."""
    *plain, shown, teaches, parts = row
    known: dict[str, Any] = dict(zip(HEAD_COLUMNS, plain, strict=False))
    return ImpressionHead(**known, shown=texts_from(shown), teaches=bool(teaches), parts=codec.decode(parts))


def texts(values: Sequence[str]) -> str:
    """Many short texts as one, in JSON: for every list, so that it must be quick.

    >>> texts_from(texts(["a", "b"]))
    ['a', 'b']
    """
    return msgspec.json.encode(values).decode()


def texts_from(stored: str) -> list[str]:
    """What was put together."""
    return msgspec.json.decode(stored, type=list[str])
