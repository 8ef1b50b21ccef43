"""Labelled rows, each of one of K classes, as visitors to whom one of K ads is shown: `letter(seed=3)`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, get_type_hints
from zipfile import BadZipFile

import numpy as np

from rankloop.bounds import Bound, Natural
from rankloop.errors import DataError
from rankloop.lab.data.dataset import Dataset, fingerprint
from rankloop.lab.data.letor_cache import hash_file
from rankloop.lab.data.text_lines import read_lines
from rankloop.lab.data.world_options import check_options
from rankloop.query_set import QuerySet
from rankloop.types import Array, FloatArray, IntArray

FOLDERS = ("", "uci_multiclass", "later/uci_multiclass")  # below those of RANKLOOP_DATA
SUFFIXES = (".csv.gz", ".csv", ".npz")


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


@dataclass(frozen=True, kw_only=True)
class VisitorOptions:
    """How labelled rows become visitors: a random split, and features from 0 to 1 over its training part."""

    seed: Natural = 0
    raw: bool = False  # features stay as they are
    train_percent: Annotated[int, Bound(at_least=1, at_most=99)] = 70


def read_labelled(path: Path) -> Labelled:
    """Read a CSV file without header whose last column is the class, or an NPZ file with `X` and `y`.

    An NPZ file may hold `X_times_1e4` in place of `X`: whole numbers, to be divided by 10,000.
    """
    try:
        features, classes = _read_npz(path) if path.suffix == ".npz" else _read_csv(path)
    except (OSError, ValueError, BadZipFile) as error:
        raise DataError(
            f"{path}: expected rows of numbers with a class at the end, found: {error}"
        ) from error
    if features.ndim != 2 or len(features) != len(classes) or not np.isfinite(features).all():
        raise DataError(f"{path}: expected finite numbers and a class in every row")
    names, numbers = np.unique(classes, return_inverse=True)
    if len(names) < 2:
        raise DataError(f"{path}: expected at least two classes, found {len(names)}")
    return Labelled(features, numbers.astype(np.int64), tuple(map(str, names.tolist())))


def make_visitors(features: FloatArray, classes: IntArray, names: Sequence[str]) -> QuerySet:
    """Every row as a visitor: the features are the context, the classes are ads, and one of them matches.

    >>> queries = make_visitors(np.eye(2), np.array([1, 0]), ("A", "B"))
    >>> queries[0].query.doc_ids, queries[0].query.context.features.tolist(), queries[0].relevance.tolist()
    (('A', 'B'), [1.0, 0.0], [0, 1])
    """
    rows, ads = len(features), len(names)
    matches = (classes[:, None] == np.arange(ads)).astype(np.int64).ravel()
    ids = tuple(map(str, range(1, rows + 1)))
    nothing = np.empty((rows * ads, 0))  # nothing is known of an ad but its id
    return QuerySet(nothing, np.arange(rows + 1) * ads, matches, ids, tuple(names) * rows, contexts=features)


def split_visitors(rows: Labelled, options: VisitorOptions, *, name: str = "", digest: str = "") -> Dataset:
    """Make the rows visitors in random order, cut into train and test.

    Langford, Li, Dudík: Doubly robust policy evaluation and learning. ICML 2011.
    """
    order = np.random.default_rng(options.seed).permutation(len(rows))
    cut = min(max(round(len(rows) * options.train_percent / 100), 1), len(rows) - 1)
    features = rows.features if options.raw else _scale(rows.features, rows.features[order[:cut]])
    train, test = (
        make_visitors(features[part], rows.classes[part], rows.names) for part in (order[:cut], order[cut:])
    )
    return Dataset(name, train, test, None, fingerprint(repr(options), digest, "visitors"))


def load_labelled(path: Path, **options: object) -> Dataset:
    """Load the rows of a file as visitors; the options are those of `VisitorOptions`."""
    hints = get_type_hints(VisitorOptions, include_extras=True)
    given = check_options("data of labelled rows", hints, options)
    rows = read_labelled(path)
    return split_visitors(rows, VisitorOptions(**given), name=str(path), digest=hash_file(path))


def list_labelled_files(folders: Sequence[Path]) -> dict[str, Path]:
    """List the files of labelled rows below these folders, by name."""
    below = [folder / below for below in FOLDERS[1:] for folder in folders if (folder / below).is_dir()]
    found = [path for folder in below for path in sorted(folder.iterdir())]
    return {_stem(path): path for path in reversed(found) if _stem(path) != path.name}


def find_labelled(stem: str, folders: Sequence[Path]) -> Path | None:
    """Find the file of labelled rows of this name, with or without its ending, in or below the folders."""
    endings = ("",) if stem.endswith(SUFFIXES) else SUFFIXES
    paths = (folder / below / f"{stem}{end}" for folder in folders for below in FOLDERS for end in endings)
    return next((path for path in paths if path.is_file()), None)


def _read_csv(path: Path) -> tuple[FloatArray, Array]:
    rows = [line.decode().strip() for lines in read_lines(path) for line in lines.content]
    cells = [row.rpartition(",") for row in rows if row]
    features = np.loadtxt([numbers for numbers, _, _ in cells], delimiter=",", ndmin=2, comments=None)
    return features, _as_numbers(np.array([name for _, _, name in cells]))


def _as_numbers(names: Array) -> Array:
    """Names that are all numbers as numbers, so that 2 comes before 10."""
    for kind in (np.int64, np.float64):
        try:
            return names.astype(kind)
        except ValueError:
            continue
    return names


def _read_npz(path: Path) -> tuple[FloatArray, Array]:
    with np.load(path, allow_pickle=False) as file:
        if "y" not in file or not {"X", "X_times_1e4"} & set(file):
            raise ValueError(f"the arrays {', '.join(file)}")
        return np.asarray(file["X"] if "X" in file else file["X_times_1e4"] / 1e4, np.float64), file["y"]


def _stem(path: Path) -> str:
    return next((path.name.removesuffix(end) for end in SUFFIXES if path.name.endswith(end)), path.name)


def _scale(features: FloatArray, train: FloatArray) -> FloatArray:
    """Every feature from 0 to 1 over the training rows; what is constant there becomes 0."""
    lowest, spread = train.min(axis=0), np.ptp(train, axis=0)
    scaled: FloatArray = np.where(spread > 0, (features - lowest) / np.where(spread > 0, spread, 1.0), 0.0)
    return scaled
