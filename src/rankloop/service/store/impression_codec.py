"""Columns of the log's tables, shared by every store that is a database: a record as a row, and back.

A field that is stored as it is takes its name here, and its column in each schema.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from operator import attrgetter
from typing import Any, TypeVar

import msgspec

from rankloop.service.store.log_records import (
    Assignment,
    Event,
    Exposure,
    Impression,
    ListEntry,
    ListSummary,
    Promised,
    Recommended,
    TrialList,
)
from rankloop.service.store.payload_codec import decode_payload, encode_payload
from rankloop.service.store.payload_dictionary import PayloadCompressor

IMPRESSION_COLUMNS = (
    *("seq", "at", "ranker", "query_id", "user_query", "client_id", "session_id"),
    *("model", "settings", "mode", "policy", "seed", "k", "teaches", "fallback", "digest"),
    *("pairs", "settled", "explored", "cost", "user_id"),
)
LIST_COLUMNS = (*IMPRESSION_COLUMNS, "shown", "titles", "exposure", "assignment", "promised")
ENTRY_COLUMNS = ("seq", "at", "ranker", "query_id", "teaches", "promised")
PAYLOAD_COLUMNS = ("seq", "dictionary", "payload", "recommended")
EVENT_COLUMNS = tuple(Event.__dataclass_fields__)
WHOLE_COLUMNS = (
    *IMPRESSION_COLUMNS,
    "titles",
    "exposure",
    "assignment",
    "promised",
    *PAYLOAD_COLUMNS[1:],
)  # of a list and its payload
SUMMARY_COLUMNS = (
    *("seq", "at", "query_id", "user_query", "client_id", "session_id", "model", "mode", "fallback"),
    *("pairs", "settled", "explored", "shown", "titles", "exposure"),
)
TRIAL_COLUMNS = ("seq", "at", "query_id", "client_id", "session_id", "shown", "assignment")

Part = TypeVar("Part", Assignment, Exposure, Promised, Recommended)
_impression_values = attrgetter(*IMPRESSION_COLUMNS[2:-1], "user")  # without seq and at, which the log gives
_event_values = attrgetter(*EVENT_COLUMNS[2:])


def list_row(shown: Impression, seq: int, at: float) -> tuple[Any, ...]:
    """A list in the order of `LIST_COLUMNS`."""
    names = texts(shown.shown), texts(shown.titles) if shown.titles else None
    parts = map(part_text, (shown.exposure, shown.assignment, shown.promised))
    return (seq, at, *_impression_values(shown), *names, *parts)


def payload_row(shown: Impression, seq: int, compressor: PayloadCompressor) -> tuple[Any, ...]:
    """What a list holds, in the order of `PAYLOAD_COLUMNS`."""
    return seq, *compressor.compress(encode_payload(shown)), part_text(shown.recommended)


def event_row(event: Event, seq: int, at: float) -> tuple[Any, ...]:
    """An event in the order of `EVENT_COLUMNS`."""
    return (seq, at, *_event_values(event))


def impression_from(row: Sequence[Any], compressor: PayloadCompressor) -> Impression:
    """A list from a row of `WHOLE_COLUMNS`."""
    *plain, titles, exposure, assignment, promised, dictionary, payload, recommended = row
    known = dict(zip(IMPRESSION_COLUMNS, plain, strict=True))
    known |= decode_payload(compressor.decompress(dictionary, payload))
    return Impression(
        user=known.pop("user_id"),
        **known | {"teaches": bool(known["teaches"])},
        titles=texts_from(titles) if titles else (),
        exposure=part_from(exposure, Exposure),
        assignment=part_from(assignment, Assignment),
        promised=part_from(promised, Promised),
        recommended=part_from(recommended, Recommended),
    )


def event_from(row: Sequence[Any]) -> Event:
    """An event from a row of `EVENT_COLUMNS`."""
    return Event(**dict(zip(EVENT_COLUMNS, row, strict=True)))


def trial_list_from(row: Sequence[Any]) -> TrialList:
    """A list of a trial from a row of `TRIAL_COLUMNS`."""
    *plain, shown, assignment = row
    known: dict[str, Any] = dict(zip(TRIAL_COLUMNS, plain, strict=False))
    decoded = msgspec.json.decode(assignment, type=Assignment)
    return TrialList(**known, shown=tuple(texts_from(shown)), assignment=decoded)


def summary_from(row: Sequence[Any], clicks: Collection[int]) -> ListSummary:
    """A list in a line, from a row of `SUMMARY_COLUMNS` and the positions of clicks."""
    *plain, shown, titles, exposure = row
    known: dict[str, Any] = dict(zip(SUMMARY_COLUMNS, plain, strict=False))
    return ListSummary(
        **known,
        shown=tuple(texts_from(shown)),
        titles=tuple(texts_from(titles)) if titles else (),
        exposure=part_from(exposure, Exposure),
        clicks=tuple(sorted(clicks)),
    )


def list_entry_from(row: Sequence[Any]) -> ListEntry:
    """What a fold needs of a list, from a row of `ENTRY_COLUMNS`."""
    *plain, teaches, promised = row
    known: dict[str, Any] = dict(zip(ENTRY_COLUMNS, plain, strict=False))
    return ListEntry(**known, teaches=bool(teaches), promised=part_from(promised, Promised))


def texts(values: Sequence[str]) -> str:
    """Many short texts as one, in JSON: for every list, so that it must be quick.

    >>> texts_from(texts(["a", "b"]))
    ['a', 'b']
    """
    return msgspec.json.encode(values).decode()


def texts_from(stored: str) -> list[str]:
    """What was put together."""
    return msgspec.json.decode(stored, type=list[str])


def part_text(part: Assignment | Exposure | Promised | Recommended | None) -> str | None:
    """A part of a list that it may not have, as JSON."""
    return None if part is None else msgspec.json.encode(part).decode()


def part_from(text: str | None, kind: type[Part]) -> Part | None:
    """What was stored."""
    return None if text is None else msgspec.json.decode(text, type=kind)
