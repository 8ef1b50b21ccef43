"""Complaints about a body: what was expected, what was found, and what there is to choose from."""

from __future__ import annotations

from typing import Any

import msgspec

from rankloop.service.core.data_errors import UNREADABLE, explain_error


def complaint(error: msgspec.MsgspecError, kind: Any, body: bytes) -> str:
    """Say what is wrong with a body that should be of a kind, where first.

    >>> try:
    ...     msgspec.json.decode(b'{"price": "9"}', type=dict[str, float])
    ... except msgspec.ValidationError as error:
    ...     complaint(error, dict[str, float], b'{"price": "9"}')
    'price: Expected a number, found "9"'
    """
    if not isinstance(error, msgspec.ValidationError):
        return f"the body must be JSON: {error}"
    return explain_error(error, kind, _read(body))


def _read(body: bytes) -> Any:
    """Read a body as it was sent; nothing if its wrong part is all that can be read."""
    try:
        return msgspec.json.decode(body)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return UNREADABLE
