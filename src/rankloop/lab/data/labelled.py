"""Labelled data: rows of features with a class, read from files, and as visitors to whom an ad is shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from zipfile import BadZipFile

import numpy as np
import polars as pl

from rankloop.errors import DataError
from rankloop.types import FloatArray, IntArray, QuerySet


@dataclass(frozen=True, slots=True, eq=False)
class Labelled:
    """Rows of features, each of one of K classes.

    >>> Labelled(np.eye(3), np.array([0, 1, 0]), ("A", "B")).names
    ('A', 'B')
    """

    features: FloatArray  # [n_rows, n_features]
    classes: IntArray  # [n_rows] numbers of names
    names: tuple[str, ...]  # [K]

    def __len__(self) -> int:
        return len(self.features)


def visitors(features: FloatArray, classes: IntArray, names: Sequence[str]) -> QuerySet:
    """Every row as a visitor: the features are the context, the classes are ads, and one of them matches.

    >>> queries = visitors(np.eye(2), np.array([1, 0]), ("A", "B"))
    >>> queries[0].query.doc_ids, queries[0].query.context.features.tolist(), queries[0].relevance.tolist()
    (('A', 'B'), [1.0, 0.0], [0, 1])
    """
    rows, ads = len(features), len(names)
    matches = (classes[:, None] == np.arange(ads)).astype(np.int64).ravel()
    ids = tuple(map(str, range(1, rows + 1)))
    nothing = np.empty((rows * ads, 0))  # nothing is known of an ad but its id
    return QuerySet(nothing, np.arange(rows + 1) * ads, matches, ids, tuple(names) * rows, contexts=features)


def read_labelled(path: Path) -> Labelled:
    """Read a CSV file without header whose last column is the class, or an NPZ file with `X` and `y`.

    An NPZ file may hold `X_times_1e4` in place of `X`: whole numbers, to be divided by 10,000.
    """
    try:
        features, classes = _from_npz(path) if path.suffix == ".npz" else _from_csv(path)
    except (pl.exceptions.PolarsError, OSError, ValueError, BadZipFile) as error:
        raise DataError(
            f"{path}: expected rows of numbers with a class at the end, found: {error}"
        ) from error
    if features.ndim != 2 or len(features) != len(classes) or not np.isfinite(features).all():
        raise DataError(f"{path}: expected finite numbers and a class in every row")
    names, numbers = np.unique(classes, return_inverse=True)
    if len(names) < 2:
        raise DataError(f"{path}: expected at least two classes, found {len(names)}")
    return Labelled(features, numbers.astype(np.int64), tuple(map(str, names.tolist())))


def _from_csv(path: Path) -> tuple[FloatArray, IntArray]:
    frame = pl.read_csv(path, has_header=False)
    features = frame.select(pl.all().exclude(frame.columns[-1]).cast(pl.Float64)).to_numpy()
    return features, frame[frame.columns[-1]].to_numpy()


def _from_npz(path: Path) -> tuple[FloatArray, IntArray]:
    with np.load(path, allow_pickle=False) as file:
        if "y" not in file or not {"X", "X_times_1e4"} & set(file):
            raise ValueError(f"the arrays {', '.join(file)}")
        return np.asarray(file["X"] if "X" in file else file["X_times_1e4"] / 1e4, np.float64), file["y"]
