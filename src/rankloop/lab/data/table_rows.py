"""Rows of a table: CSV with a header, or JSON lines, each with the line it is from."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import TypeAlias

from rankloop.errors import DataError

Row: TypeAlias = tuple[int, Mapping[str, object]]  # the line it ends on, its values by column
JSON_ENDINGS = (".jsonl", ".ndjson", ".json")
LAST_SECOND = 2**62  # times beyond it are no seconds since 1970


def read_rows(
    path: Path, lines: Iterable[str], *, required: Sequence[str], optional: str = ""
) -> Iterator[Row]:
    r"""Read the rows of a table that has these columns; the first mistake is reported with its line.

    A name that ends in `.jsonl`, or a line that begins with a brace, says that it is JSON lines.

    >>> list(read_rows(Path("shop.csv"), ["user,rating\n", "ada,4\n"], required=["user"]))
    [(2, {'user': 'ada', 'rating': '4'})]
    """
    source = iter(lines)
    first = next(source, "")
    whole = chain([first], source) if first else source
    named = path.name.removesuffix(".gz").removesuffix(".xz")
    if named.endswith(JSON_ENDINGS) or first.lstrip().startswith("{"):
        return _json_rows(path, whole)
    return _csv_rows(path, whole, required, optional)


def _csv_rows(path: Path, lines: Iterator[str], required: Sequence[str], optional: str) -> Iterator[Row]:
    reader = csv.DictReader(lines, strict=True)
    try:
        header = reader.fieldnames or ()
        _check_header(path, header, required, optional)
        for row in reader:
            if None in row or None in row.values():
                raise DataError(
                    f"{path}, line {reader.line_num}: expected {len(header)} values as in the header; "
                    "a text with commas must stand in double quotes"
                )
            yield reader.line_num, row
    except csv.Error as error:
        first = reader.line_num + 1  # of the row that cannot be read
        raise DataError(f"{path}, line {first}: expected CSV, found {error}") from None


def _check_header(path: Path, header: Sequence[str], required: Sequence[str], optional: str) -> None:
    wanted = f"{', '.join(required)}{optional}"
    if missing := [name for name in required if name not in header]:
        found = ", ".join(header) or "an empty line"
        raise DataError(
            f"{path}, line 1: expected a header with {wanted}, found no {missing[0]} in {found[:200]}"
        )
    if twice := [name for name in required if header.count(name) > 1]:
        raise DataError(f"{path}, line 1: expected a header with {wanted}, found {twice[0]} twice")


def _json_rows(path: Path, lines: Iterator[str]) -> Iterator[Row]:
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:  # also numbers of thousands of digits
            raise DataError(f"{path}, line {number}: expected a JSON object, found {error}") from None
        if not isinstance(row, dict):
            raise DataError(f"{path}, line {number}: expected a JSON object, found {line.strip()[:80]}")
        yield number, row


def get_name(values: Mapping[str, object], column: str) -> str:
    """Read a name on one line; the error says what was found instead."""
    value = values.get(column)
    found = str(value).strip() if isinstance(value, str | int) and not isinstance(value, bool) else ""
    if not found or not found.isprintable():
        raise ValueError(f"{column} must be a name on one line, found {value!r}")
    return found


def get_number(values: Mapping[str, object], column: str) -> float:
    """Read a finite number, also if it is written as text.

    >>> get_number({"rating": "4.5"}, "rating")
    4.5
    """
    value = values.get(column)
    try:
        number = float(value) if isinstance(value, str | int | float) else math.nan
    except (ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number) or isinstance(value, bool):
        raise ValueError(f"{column} must be a number, found {value!r}")
    return number


def get_time(values: Mapping[str, object], column: str = "time") -> int | None:
    """Whole seconds since 1970; nothing, if nothing is said."""
    if values.get(column) in (None, ""):
        return None
    seconds = get_number(values, column)
    if abs(seconds) > LAST_SECOND:
        raise ValueError(f"{column} must be seconds since 1970, found {values[column]!r}")
    return int(seconds)


def get_text(values: Mapping[str, object], column: str) -> str:
    """Read a text; halves of characters, which no file can hold, become question marks."""
    value = values.get(column)
    if not isinstance(value, str):
        raise ValueError(f"{column} must be a text, found {value!r}")
    return value.encode("utf-8", "replace").decode()
