"""Logs from tables: a CSV file with a mapping of its columns, and files of the Open Bandit Dataset."""

from __future__ import annotations

import lzma
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from rankloop.errors import DataError, SettingError, suggest_name
from rankloop.lab.data.logged_rounds import LoggedRounds
from rankloop.types import FloatArray

MOST_WORDS = 100  # different words in a column of the context


@dataclass(frozen=True, kw_only=True)
class RoundColumns:
    """Which columns of a table say what was shown, with which probability, to whom, and what came of it.

    Context columns may be numbers, or words: these become a feature for each word.

    >>> RoundColumns.parse("reward=clicked,shown=ad,propensity=p,context=age+country").context
    ('age', 'country')
    """

    reward: str = "reward"
    shown: str = "shown"
    propensity: str = "propensity"
    context: tuple[str, ...] = ()

    @staticmethod
    def parse(text: str) -> RoundColumns:
        """Read the mapping of a text `reward=...,shown=...,propensity=...,context=a+b`."""
        known = ("reward", "shown", "propensity", "context")
        given: dict[str, str] = {}
        for part in filter(None, (each.strip() for each in text.split(","))):
            name, equals, column = part.partition("=")
            if name not in known or not equals or not column:
                raise SettingError(
                    f"columns: expected <what>=<column>, found {part!r}: {suggest_name(name, known)}"
                )
            given[name] = column
        context = tuple(filter(None, given.pop("context", "").split("+")))
        return RoundColumns(**given, context=context)


OPEN_BANDIT = RoundColumns(
    reward="click",
    shown="item_id",
    propensity="propensity_score",
    context=tuple(f"user_feature_{number}" for number in range(4)),
)


def read_rounds(path: Path, columns: RoundColumns) -> LoggedRounds:
    """Read the log in a CSV file with a header, plain or compressed (`.gz`, `.xz`)."""
    frame = _read(path)
    wanted = (columns.reward, columns.shown, columns.propensity, *columns.context)
    for name in wanted:
        if name not in frame.columns:
            raise DataError(f"{path}: no column is called {name!r}: {suggest_name(name, frame.columns)}")
        if frame[name].null_count():
            raise DataError(f"{path}: column {name!r} has {frame[name].null_count()} empty cells")
    names, shown = np.unique(frame[columns.shown].cast(pl.String).to_numpy(), return_inverse=True)
    return LoggedRounds(
        make_contexts(frame, columns.context),
        tuple(map(str, names.tolist())),
        shown.astype(np.int64),
        _numbers(path, frame, columns.reward),
        _numbers(path, frame, columns.propensity),
    )


def make_contexts(frame: pl.DataFrame, names: Sequence[str]) -> FloatArray:
    """Make features of the context columns, [n, n_context]: numbers as they are, words as 0 and 1.

    >>> make_contexts(pl.DataFrame({"age": [30, 40], "country": ["de", "fr"]}), ["age", "country"]).tolist()
    [[30.0, 1.0, 0.0], [40.0, 0.0, 1.0]]
    """
    parts = [np.empty((len(frame), 0))]
    for name in names:
        column = frame[name]
        if column.dtype.is_numeric() or column.dtype == pl.Boolean:
            parts.append(column.cast(pl.Float64).to_numpy()[:, None])
            continue
        words = np.unique(column.to_numpy().astype(str))
        if len(words) > MOST_WORDS:
            raise DataError(
                f"context {name!r} has {len(words)} different words: expected {MOST_WORDS} at most"
            )
        parts.append((column.to_numpy().astype(str)[:, None] == words).astype(np.float64))
    return np.hstack(parts)


def _read(path: Path) -> pl.DataFrame:
    try:
        if path.suffix == ".xz":
            return pl.read_csv(lzma.decompress(path.read_bytes()))
        return pl.read_csv(path)
    except (OSError, lzma.LZMAError, pl.exceptions.PolarsError) as error:
        raise DataError(f"{path}: expected a CSV file with a header, found: {error}") from error


def _numbers(path: Path, frame: pl.DataFrame, name: str) -> FloatArray:
    try:
        return frame[name].cast(pl.Float64).to_numpy()
    except pl.exceptions.PolarsError as error:
        raise DataError(f"{path}: column {name!r} must hold numbers, found: {error}") from error
