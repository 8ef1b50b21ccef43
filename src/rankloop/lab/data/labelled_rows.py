"""Bandit data from labelled data, by name: `bandit:letter`, `bandit:letter:seed=3,raw=1`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np

from rankloop.errors import DataError, SettingError, suggest_name
from rankloop.lab.data.dataset import Dataset, fingerprint
from rankloop.lab.data.labelled import Labelled, read_labelled, visitors
from rankloop.lab.data.letor_cache import hash_file
from rankloop.types import FloatArray

BANDIT = "bandit"
FOLDERS = ("", "uci_multiclass", "later/uci_multiclass")  # below those of RANKLOOP_DATA
SUFFIXES = (".csv.gz", ".csv", ".npz")


@dataclass(frozen=True, kw_only=True)
class Bandit:
    """How labelled rows become visitors: a random split, and features from 0 to 1 over its training part.

    Langford, Li, Dudík: Doubly robust policy evaluation and learning. ICML 2011.
    """

    seed: int = 0
    raw: int = 0  # 1: features stay as they are
    train_percent: int = 70

    def __post_init__(self) -> None:
        """Refuse splits without a part."""
        if self.seed < 0 or self.raw not in (0, 1) or not 1 <= self.train_percent <= 99:
            raise SettingError(
                f"expected seed of at least 0, raw 0 or 1, train_percent from 1 to 99, found {self}"
            )

    def dataset(self, rows: Labelled, name: str, digest: str) -> Dataset:
        """The rows as visitors, cut into train and test."""
        order = np.random.default_rng(self.seed).permutation(len(rows))
        cut = min(max(round(len(rows) * self.train_percent / 100), 1), len(rows) - 1)
        features = rows.features if self.raw else _scaled(rows.features, rows.features[order[:cut]])
        train, test = (
            visitors(features[part], rows.classes[part], rows.names) for part in (order[:cut], order[cut:])
        )
        return Dataset(name, train, test, None, fingerprint(repr(self), digest, "visitors"))


def bandit(description: str, folders: Sequence[Path]) -> Dataset:
    """The dataset that is described after `bandit:`, from a file in one of the folders or of that path."""
    stem, options = _split(description)
    path = _locate(stem, folders)
    return Bandit(**options).dataset(read_labelled(path), f"{BANDIT}:{description}", hash_file(path))


def labelled_files(folders: Sequence[Path]) -> dict[str, Path]:
    """The files of labelled rows below these folders, by name."""
    below = [folder / below for below in FOLDERS[1:] for folder in folders if (folder / below).is_dir()]
    found = [path for folder in below for path in sorted(folder.iterdir())]
    return {_stem(path): path for path in reversed(found) if _stem(path) != path.name}


def _locate(stem: str, folders: Sequence[Path]) -> Path:
    direct = Path(stem).expanduser()
    below = [
        folder / each / f"{stem}{suffix}" for folder in folders for each in FOLDERS for suffix in SUFFIXES
    ]
    for path in (direct, *below):
        if path.is_file():
            return path
    looked = ", ".join(map(str, folders)) if folders else "no folder, because RANKLOOP_DATA is not set"
    known = labelled_files(folders)
    raise DataError(
        f"no labelled data is called {stem!r}: looked in {looked}; "
        + (f"{suggest_name(stem, known)}; " if known else "")
        + "give the path of a CSV file whose last column is the class, as in bandit:rows.csv, or use "
        "synthetic:ads, which needs no data"
    )


def _split(description: str) -> tuple[str, dict[str, int]]:
    stem, _, rest = (
        description.rpartition(":") if "=" in description.rpartition(":")[2] else (description, "", "")
    )
    known = [each.name for each in fields(Bandit)]
    options = {}
    for text in filter(None, rest.split(",")):
        name, _, value = text.partition("=")
        if name not in known:
            raise SettingError(f"bandit data has no option {name!r}: {suggest_name(name, known)}")
        if not value.isdecimal():
            raise SettingError(f"option {name}: expected {name}=<a whole number>, found {text!r}")
        options[name] = int(value)
    return stem, options


def _stem(path: Path) -> str:
    return next((path.name.removesuffix(end) for end in SUFFIXES if path.name.endswith(end)), path.name)


def _scaled(features: FloatArray, train: FloatArray) -> FloatArray:
    """Every feature from 0 to 1 over the training rows; what is constant there becomes 0."""
    lowest, spread = train.min(axis=0), np.ptp(train, axis=0)
    scaled: FloatArray = np.where(spread > 0, (features - lowest) / np.where(spread > 0, spread, 1.0), 0.0)
    return scaled
