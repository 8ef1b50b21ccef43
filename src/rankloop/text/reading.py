"""Raw reviews from CSV or JSON lines: `user,item,rating,text[,time,title]`."""

from __future__ import annotations

import csv
import gzip
import html
import json
import math
import re
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TextIO, TypeAlias

from rankloop.text.records import RawReview
from rankloop.types import DataError

REQUIRED = ("user", "item", "rating", "text")
BREAK = re.compile(r"<\s*(?:br|/?p)\s*/?\s*>", re.IGNORECASE)
Row: TypeAlias = tuple[int, Mapping[str, object]]  # the line it ends on, its values by column


def read_raw_reviews(path: str | Path) -> list[RawReview]:
    r"""Read raw reviews from a CSV file with a header, or from JSON lines; plain or `.gz`.

    The first mistake is reported with its line. Columns that are not asked for are ignored; escaped
    characters and line breaks of web pages are read as what they stand for.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "shop.csv"
    >>> _ = path.write_text('user,item,rating,text\nada,lamp,4,"Bright, &amp; cheap"\n')
    >>> read_raw_reviews(path)
    [RawReview(user='ada', item='lamp', rating=4.0, text='Bright, & cheap', time=None, title='')]
    """
    path = Path(path)
    try:
        with _opened(path) as file:
            reviews = [_review(path, row) for row in _rows(path, file)]
    except (UnicodeDecodeError, gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise DataError(
            f"{path}: expected text in UTF-8, plain or in a whole .gz file, found {error}"
        ) from None
    if not reviews:
        raise DataError(f"{path}: expected reviews ({', '.join(REQUIRED)}), found none")
    return reviews


def _opened(path: Path) -> TextIO:
    if path.suffix == ".gz":
        return gzip.open(
            path, "rt", encoding="utf-8-sig", newline=""
        )  # newlines in quotes are the CSV reader's
    return path.open(encoding="utf-8-sig", newline="")


def _rows(path: Path, file: TextIO) -> Iterator[Row]:
    if path.name.removesuffix(".gz").endswith((".jsonl", ".ndjson", ".json")):
        return _json_rows(path, file)
    return _csv_rows(path, file)


def _csv_rows(path: Path, file: TextIO) -> Iterator[Row]:
    reader = csv.DictReader(file, strict=True)
    try:
        header = reader.fieldnames or ()
        if missing := [name for name in REQUIRED if name not in header]:
            raise DataError(
                f"{path}, line 1: expected a header with {', '.join(REQUIRED)} and perhaps time and title, "
                f"found no {missing[0]} in {', '.join(header) or 'an empty line'}"
            )
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


def _json_rows(path: Path, file: TextIO) -> Iterator[Row]:
    for number, line in enumerate(file, 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except json.JSONDecodeError as error:
            raise DataError(f"{path}, line {number}: expected a JSON object, found {error}") from None
        if not isinstance(row, dict):
            raise DataError(f"{path}, line {number}: expected a JSON object, found {line.strip()[:80]}")
        yield number, row


def _review(path: Path, row: Row) -> RawReview:
    line, values = row
    where = f"{path}, line {line}"
    return RawReview(
        user=_name(where, "user", values),
        item=_name(where, "item", values),
        rating=_number(where, "rating", values),
        text=_clean(_text(where, "text", values)),
        time=int(_number(where, "time", values)) if values.get("time") not in (None, "") else None,
        title=" ".join(_clean(_text(where, "title", {"title": "", **_given(values)})).split()),
    )


def _given(values: Mapping[str, object]) -> dict[str, object]:
    """The values that are not null."""
    return {name: value for name, value in values.items() if value is not None}


def _clean(text: str) -> str:
    return html.unescape(BREAK.sub("\n", text))


def _text(where: str, name: str, values: Mapping[str, object]) -> str:
    value = values.get(name)
    if not isinstance(value, str):
        raise DataError(f"{where}: {name} must be a text, found {value!r}")
    return value


def _name(where: str, name: str, values: Mapping[str, object]) -> str:
    value = values.get(name)
    found = str(value).strip() if isinstance(value, str | int) and not isinstance(value, bool) else ""
    if not found or not found.isprintable():
        raise DataError(f"{where}: {name} must be a name on one line, found {value!r}")
    return found


def _number(where: str, name: str, values: Mapping[str, object]) -> float:
    value = values.get(name)
    try:
        number = float(value) if isinstance(value, str | int | float) else math.nan
    except ValueError:
        number = math.nan
    if not math.isfinite(number) or isinstance(value, bool):
        raise DataError(f"{where}: {name} must be a number, found {value!r}")
    return number
