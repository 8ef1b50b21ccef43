"""Rows of a click log: CSV and Parquet as a stream, each row with its number."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rankloop.errors import DataError

AT_ONCE = 20_000  # rows of a Parquet file in memory
DELIMITERS = ",;\t|"


@dataclass(frozen=True, slots=True)
class Row:
    """A row: its number in the file, counted as people do, and its values by column."""

    number: int  # the header of a CSV file is line 1; of Parquet, the first row is 1
    values: Mapping[str, Any]


def rows_of(path: Path) -> Iterator[Row]:
    """The rows of a file that ends in .csv, .tsv or .parquet, one after the other."""
    if not path.exists():
        raise DataError(f"{path} does not exist: name a CSV or a Parquet file")
    if path.suffix == ".parquet":
        return _parquet(path)
    if path.suffix in (".csv", ".tsv", ".txt"):
        return _csv(path)
    raise DataError(
        f"{path}: expected a file that ends in .csv, .tsv or .parquet; UBI dumps are read with --ubi-events"
    )


def _csv(path: Path) -> Iterator[Row]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        header = file.readline()
        delimiter = max(DELIMITERS, key=header.count)
        names = next(csv.reader([header], delimiter=delimiter), [])
        if len(set(names)) != len(names) or not names:
            raise DataError(f"{path}, line 1: expected column names, each once, found {header.strip()!r}")
        reader = csv.reader(file, delimiter=delimiter)
        while True:
            try:
                values = next(reader)
            except StopIteration:
                return
            except (csv.Error, UnicodeDecodeError) as error:
                raise DataError(f"{path}, line {reader.line_num + 2}: {error}") from error
            number = reader.line_num + 1  # the header is line 1
            if not values:
                continue
            if len(values) != len(names):
                raise DataError(
                    f"{path}, line {number}: expected {len(names)} values, one for each column, found "
                    f"{len(values)}: quote values that contain {delimiter!r}"
                )
            yield Row(number, dict(zip(names, values, strict=True)))


def _parquet(path: Path) -> Iterator[Row]:
    import polars as pl  # noqa: PLC0415

    try:
        table = pl.scan_parquet(path)
        total = table.select(pl.len()).collect().item()
        for start in range(0, total, AT_ONCE):
            part = table.slice(start, AT_ONCE).collect()
            for number, values in enumerate(part.iter_rows(named=True), start + 1):
                yield Row(number, values)
    except pl.exceptions.PolarsError as error:
        raise DataError(f"{path} cannot be read as Parquet: {error}") from error
