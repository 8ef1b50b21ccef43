"""Raw reviews from CSV or JSON lines: `user,item,rating,text[,time,title]`."""

from __future__ import annotations

import gzip
import html
import re
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import TextIO

from rankloop.errors import DataError
from rankloop.lab.data.table_rows import Row, name_in, number_in, table_rows, text_in, time_in
from rankloop.lab.reviews.records import RawReview

REQUIRED = ("user", "item", "rating", "text")
BREAK = re.compile(r"<\s*+(?:br|/?p)\s*+(?:/\s*+)?>", re.IGNORECASE)  # never looks at a blank twice


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
            rows = table_rows(path, file, required=REQUIRED, optional=" and perhaps time and title")
            reviews = [_review(path, row) for row in rows]
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


def _review(path: Path, row: Row) -> RawReview:
    line, values = row
    try:
        return RawReview(
            user=name_in(values, "user"),
            item=name_in(values, "item"),
            rating=number_in(values, "rating"),
            text=_clean(text_in(values, "text")),
            time=time_in(values),
            title=" ".join(_clean(text_in({"title": "", **_given(values)}, "title")).split()),
        )
    except ValueError as error:
        raise DataError(f"{path}, line {line}: {error}") from None


def _given(values: Mapping[str, object]) -> dict[str, object]:
    """The values that are not null."""
    return {name: value for name, value in values.items() if value is not None}


def _clean(text: str) -> str:
    return html.unescape(BREAK.sub("\n", text))
