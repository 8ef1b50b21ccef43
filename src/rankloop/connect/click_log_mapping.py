"""Mapping of columns: what each column of a click log means, given or guessed from names and values."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rankloop.errors import SettingError, suggest_name

ROLES: Mapping[str, str] = {
    "object": "which result the row is about",
    "clicked": "whether it was clicked: 1 or 0, true or false, or a number of clicks",
    "position": "where it stood, from 1; without it, rows of a list come in the order shown",
    "list": "which list the row belongs to; without it, a list ends where query, session or client change, "
    "or where the position does not grow",
    "query": "what was searched for",
    "time": "when, in seconds since 1970 or as ISO 8601",
    "session": "the visit",
    "client": "the visitor",
}
NAMES: Mapping[str, tuple[str, ...]] = {
    "object": ("object_id", "object", "doc_id", "document_id", "item_id", "product_id", "sku", "asin", "doc"),
    "clicked": ("clicked", "click", "is_click", "is_clicked", "clicks"),
    "position": ("position", "rank", "pos", "ordinal"),
    "list": ("query_id", "list_id", "impression_id", "search_id", "serp_id", "request_id"),
    "query": ("user_query", "query", "search_term", "keywords", "q"),
    "time": ("timestamp", "time", "ts", "date"),
    "session": ("session_id", "session"),
    "client": ("client_id", "visitor_id", "user_id", "client"),
}


@dataclass(frozen=True, slots=True)
class Mapped:
    """Columns by role, and those that are features."""

    columns: Mapping[str, str]
    features: tuple[str, ...] = ()
    given: frozenset[str] = frozenset()  # roles that somebody said, and did not guess

    def __post_init__(self) -> None:
        """Refuse a log of which it is not known what was clicked."""
        for role in ("object", "clicked"):
            if role not in self.columns:
                raise SettingError(f"which column says {ROLES[role]}? Say it with --map {role}=COLUMN")
        if "position" not in self.columns and "list" not in self.columns:
            raise SettingError(
                "which column says where a result stood, or which list it belongs to? Say it with "
                "--map position=COLUMN or --map list=COLUMN"
            )


def parse_mapping(text: str, columns: Sequence[str]) -> dict[str, str]:
    """Columns by role, from `role=column,role=column`.

    >>> parse_mapping("object=sku,clicked=click", ["sku", "click"])
    {'object': 'sku', 'clicked': 'click'}
    """
    found: dict[str, str] = {}
    for part in filter(None, (each.strip() for each in text.split(","))):
        role, _, column = part.partition("=")
        if role not in ROLES:
            raise SettingError(f"nothing in a click log is called {role!r}: {suggest_name(role, ROLES)}")
        if column not in columns:
            raise SettingError(f"there is no column {column!r}: {suggest_name(column, columns)}")
        found[role] = column
    return found


def guessed(
    columns: Sequence[str],
    sample: Iterable[Mapping[str, Any]],
    given: Mapping[str, str],
    features: Sequence[str] | None = None,
) -> Mapped:
    """What is given, and the rest by the names of columns; features are the other columns with numbers only.

    >>> rows = [{"sku": "a1", "click": "0", "rank": "1", "price": "9.5", "color": "red"}]
    >>> guessed(list(rows[0]), rows, {}).columns
    {'object': 'sku', 'clicked': 'click', 'position': 'rank'}
    >>> guessed(list(rows[0]), rows, {}).features
    ('price',)
    """
    by_name = {column.lower(): column for column in columns}
    found = dict(given)
    for role, names in NAMES.items():
        free = (by_name[name] for name in names if name in by_name and by_name[name] not in found.values())
        column = next(free, None)
        if role not in found and column is not None:
            found[role] = column
    if features is None:
        rows = list(sample)
        rest = [each for each in columns if each not in found.values()]
        features = [each for each in rest if rows and _numeric([row[each] for row in rows])]
    for each in features:
        if each not in columns:
            raise SettingError(f"there is no column {each!r}: {suggest_name(each, columns)}")
    return Mapped(found, tuple(features), frozenset(given))


def number_of(value: object) -> float | None:
    """A value as a number; `None` if it is missing. `ValueError` if it is something else.

    >>> number_of(" 9.5 "), number_of(""), number_of(True)
    (9.5, None, 1.0)
    """
    if value is None or (isinstance(value, str) and value.strip().lower() in ("", "null", "nan", "na")):
        return None
    number = float(value)  # type: ignore[arg-type]
    return None if math.isnan(number) else number


def _numeric(values: Sequence[object]) -> bool:
    try:
        return any(number_of(value) is not None for value in values)
    except (TypeError, ValueError):
        return False
