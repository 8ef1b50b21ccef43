"""What users did, as it comes in: our own shape, and that of UBI (User Behavior Insights)."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Self

from rankloop.errors import RequestError
from rankloop.service.store import Verdict
from rankloop.short_text import check_text


@dataclass(frozen=True, slots=True)
class UserEvent:
    """Something a user did with a result of a list.

    The object's id says which result it was; `ordinal`, the position as the client knows it, is only compared
    with the truth. `value` says how much: stars, seconds, money, 1 for a thumb up and 0 for one down.
    An event without an id of its own is known by what it says, so the same one twice is one.

    >>> UserEvent("q1", "a", ordinal=3).event_id == UserEvent("q1", "a").event_id
    True
    >>> UserEvent("q1", "a", "star", value=3).event_id == UserEvent("q1", "a", "star", value=4).event_id
    False
    """

    query_id: str
    object_id: str
    action: str = "click"
    event_id: str = ""
    ordinal: int | None = None
    occurred_at: float | None = None  # seconds, by the client's clock
    client_id: str = ""
    session_id: str = ""
    value: float | None = None
    source: str = ""  # see `SourceHash`; no client says it of itself

    def __post_init__(self) -> None:
        """Refuse what cannot be understood; name what has no name."""
        for name in ("query_id", "object_id", "action"):
            check_text(name, getattr(self, name))
        for name in ("event_id", "client_id", "session_id", "source"):
            check_text(name, getattr(self, name), empty=True)
        _check_number("ordinal", self.ordinal, whole=True)
        _check_number("occurred_at", self.occurred_at, whole=False)
        _check_number("value", self.value, whole=False)
        if self.value is not None:
            object.__setattr__(self, "value", float(self.value))
        if not self.event_id:
            words = [self.query_id, self.object_id, self.action, self.occurred_at]
            said = json.dumps(words if self.value is None else [*words, self.value]).encode()
            object.__setattr__(self, "event_id", hashlib.blake2b(said, digest_size=12).hexdigest())

    @classmethod
    def from_ubi(cls, data: Mapping[str, Any]) -> Self:
        """From a UBI 1.3 event; `event_id` beside its fields, if there is one, tells repeats apart.

        UBI has no field for a value, but lets `event_attributes` have more than it names: `value` is there.

        >>> attributes = {"object": {"object_id": "a"}, "position": {"ordinal": 2}, "value": 4}
        >>> ubi = {"action_name": "star", "query_id": "q1", "event_attributes": attributes}
        >>> UserEvent.from_ubi(ubi).ordinal, UserEvent.from_ubi(ubi).value
        (2, 4.0)
        """
        attributes = _part(data, "event_attributes")
        return cls(
            query_id=data.get("query_id", ""),
            object_id=_part(attributes, "object").get("object_id", ""),
            action=data.get("action_name", ""),
            event_id=data.get("event_id") or "",
            ordinal=_part(attributes, "position").get("ordinal"),
            occurred_at=_seconds(data.get("timestamp")),
            client_id=data.get("client_id") or "",
            session_id=data.get("session_id") or "",
            value=attributes.get("value"),
        )


@dataclass(frozen=True, slots=True)
class Receipt:
    """What was made of an event; it is durable."""

    event_id: str
    verdict: Verdict
    detail: str = ""


def parse_event(event: object) -> UserEvent | str:
    """The event, or in words why it is none.

    >>> parse_event({"action_name": "click", "query_id": "q1"})
    'object_id must be a text of 1 to 200 characters, found a text of 0'
    """
    if isinstance(event, UserEvent):
        return event
    if not isinstance(event, Mapping):
        return f"an event must be an object, found {repr(event)[:50]}"
    try:
        return UserEvent.from_ubi(event)
    except RequestError as error:
        return str(error)


def _part(data: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = data.get(name) or {}
    if not isinstance(found, Mapping):
        raise RequestError(f"{name} must be an object, found {repr(found)[:50]}")
    return found


def _seconds(value: object) -> float | None:
    """Seconds since 1970, from a number or from an ISO 8601 time; one without a zone is UTC."""
    if value is None or isinstance(value, int | float):
        return value
    try:
        moment = datetime.fromisoformat(str(value))
    except ValueError as error:
        raise RequestError(
            f"timestamp must be seconds or an ISO 8601 time, found {repr(value)[:50]}"
        ) from error
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def _check_number(name: str, value: object, *, whole: bool) -> None:
    kinds = int if whole else (int, float)
    fits = isinstance(value, kinds) and not isinstance(value, bool) and abs(value) < 2**62
    if value is not None and not (fits and math.isfinite(value)):  # type: ignore[arg-type]
        raise RequestError(f"{name} must be a {'whole ' if whole else ''}number, found {repr(value)[:50]}")
