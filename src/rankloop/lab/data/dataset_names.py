"""Datasets by name: synthetic worlds, folders of published collections, single files."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rankloop.errors import DataError, SettingError, suggest_name
from rankloop.lab.data.dataset import Dataset, fingerprint, join, prepare
from rankloop.lab.data.feature_groups import FeatureGroups
from rankloop.lab.data.labelled_rows import BANDIT, bandit, labelled_files
from rankloop.lab.data.letor_cache import hash_file, read_cached
from rankloop.lab.data.preparation import scale_to_unit_length
from rankloop.lab.data.query_set_slices import concatenate, take_queries
from rankloop.lab.data.split_files import SplitFiles, find_splits
from rankloop.lab.data.synthetic import WORLDS, each_seed, world
from rankloop.naming import split_names
from rankloop.types import QuerySet

SYNTHETIC = "synthetic"
UNIT = "@unit"  # after a name: documents of length 1
VALI = "@vali"  # after a name: validation queries in the place of test queries
MARKS = (UNIT, VALI)
TRAIN_SHARE = 0.8  # of the queries of a single file; the rest, its last queries, are the test set


@dataclass(frozen=True, slots=True)
class Entry:
    """A line of `available`: a name, where it comes from, and its folds."""

    name: str
    source: str
    folds: tuple[str, ...] = ()


def load(
    name: str,
    *,
    prepared: bool = True,
    groups: FeatureGroups | None = None,
    search: Sequence[str | Path] | None = None,
) -> Dataset:
    """Load a dataset: `synthetic:linear`, `mq2008:fold1`, a folder, a folder and `:fold2`, or a file.

    `bandit:letter` makes visitors and ads of labelled rows.

    `prepared` normalises per query and drops the features that are constant over the training set; the linear
    and separable worlds are made ready and stay as they are. `groups` are made before features are dropped,
    so that features have the numbers they have in the file. `search` lists the folders in which a bare name
    is looked up, by default those in `$RANKLOOP_DATA`. With `@unit` after the name, every document's features
    are scaled to length 1 in the end; with `@vali`, validation queries take the place of the test queries.

    >>> load("synthetic:linear:queries=30,seed=3").train.n_features
    20
    """
    if name.endswith(UNIT):
        plain = load(name.removesuffix(UNIT), prepared=prepared, groups=groups, search=search)
        return replace(plain, name=name).map_parts(scale_to_unit_length, "unit_length")
    if name.endswith(VALI):
        plain = load(name.removesuffix(VALI), prepared=prepared, groups=groups, search=search)
        return _validating(replace(plain, name=name))
    kind, _, description = name.partition(":")
    if kind == SYNTHETIC:
        _check_one(name)
        made = world(description)
        dataset, prepared = made.dataset(name), prepared and not made.ready
    elif kind == BANDIT:
        _check_one(name)
        dataset, prepared = bandit(description, _search_path(search)), False
    else:
        dataset = _from_files(name, search)
    if groups:
        dataset = groups.apply(dataset)
    return prepare(dataset) if prepared else dataset


def split_data(text: str) -> list[str]:
    """Divide a list of datasets at its commas; `key=value` belongs to the name before it.

    >>> split_data("bandit:letter:seed=1,raw=1,synthetic:ads")
    ['bandit:letter:seed=1,raw=1', 'synthetic:ads']
    """
    names: list[str] = []
    for part in split_names(text):
        if names and "=" in part and ":" not in part:
            names[-1] += f",{part}"
        else:
            names.append(part)
    return names


def expand(name: str, *, search: Sequence[str | Path] | None = None) -> tuple[str, ...]:
    """The names of all folds of a folded dataset; any other name stands for itself.

    Worlds that differ in nothing but the seed are like folds.

    >>> expand("synthetic:linear"), expand("synthetic:linear:seed=0..1")
    (('synthetic:linear',), ('synthetic:linear:seed=0', 'synthetic:linear:seed=1'))
    """
    for mark in MARKS:
        if name.endswith(mark):
            return tuple(each + mark for each in expand(name.removesuffix(mark), search=search))
    kind, _, description = name.partition(":")
    if kind == SYNTHETIC:
        descriptions = each_seed(description)
        world(descriptions[0])
        return tuple(f"{SYNTHETIC}:{each}" for each in descriptions)
    if kind == BANDIT:
        return tuple(f"{BANDIT}:{each}" for each in each_seed(description))
    path, fold = _locate(name, search)
    folds = _folds(path)
    if fold:
        _check_fold(name, fold, folds)
    return (name,) if fold or not folds else tuple(f"{name}:{each}" for each in folds)


def available(*, search: Sequence[str | Path] | None = None) -> tuple[Entry, ...]:
    """Every name that `load` understands here, apart from paths."""
    worlds = [
        Entry(f"{SYNTHETIC}:{name}", (kind.__doc__ or "").split("\n")[0]) for name, kind in WORLDS.items()
    ]
    folders = _search_path(search)
    labelled = [Entry(f"{BANDIT}:{name}", str(path)) for name, path in labelled_files(folders).items()]
    return (*worlds, *labelled, *(_entry(folder) for folder in _dataset_folders(folders)))


def _from_files(name: str, search: Sequence[str | Path] | None) -> Dataset:
    path, fold = _locate(name, search)
    if path.is_file():
        _check_fold(name, fold, ())
        return _from_single_file(name, path)
    splits = find_splits(path)
    if not splits:
        raise DataError(
            f"{path}: expected train and test files, or Fold1 ..., S1 ... S5, set1.train ..., found none"
        )
    _check_fold(name, fold, tuple(splits))
    return _from_split(name, splits[fold])


def _from_split(name: str, files: SplitFiles) -> Dataset:
    digests: dict[Path, str] = {path: hash_file(path) for path in (*files.train, *files.test, *files.vali)}
    parts = tuple(_read(paths, digests) for paths in (files.train, files.test, files.vali) if paths)
    roles = (
        f"{role}={[digests[path] for path in getattr(files, role)]}" for role in ("train", "test", "vali")
    )
    return join(name, parts, fingerprint(*roles))


def _validating(dataset: Dataset) -> Dataset:
    """The dataset with other queries to test on: for validation, or the last fifth of those for training."""
    train, vali = dataset.train, dataset.vali
    if vali is None:
        if len(train) < 2:
            raise DataError(f"{dataset.name}: expected two training queries or validation queries, found one")
        train, vali = _split(train)
    mark = fingerprint(dataset.fingerprint, f"{len(vali)} validation queries in the place of test queries")
    return replace(dataset, train=train, test=vali, vali=None, fingerprint=mark)


def _read(paths: tuple[Path, ...], digests: dict[Path, str]) -> QuerySet:
    return concatenate(*(read_cached(path, digest=digests[path]) for path in paths))


def _from_single_file(name: str, path: Path) -> Dataset:
    digest = hash_file(path)
    queries = read_cached(path, digest=digest)
    if len(queries) < 2:
        raise DataError(f"{path}: expected at least two queries to split into train and test, found one")
    train, test = _split(queries)
    return join(name, (train, test), fingerprint(f"first {len(train)} queries of {digest}"))


def _split(queries: QuerySet) -> tuple[QuerySet, QuerySet]:
    """The first queries, to train on, and the others, at least one."""
    train = min(max(round(TRAIN_SHARE * len(queries)), 1), len(queries) - 1)
    return take_queries(queries, 0, train), take_queries(queries, train)


def _locate(name: str, search: Sequence[str | Path] | None) -> tuple[Path, str]:
    """The file or folder a name stands for, and the fold it asks for, if any."""
    stem, colon, fold = name.rpartition(":")
    candidates = [(name, "")] + ([(stem, fold.lower())] if colon else [])
    folders = _search_path(search)
    for candidate, asked in candidates:
        for path in (*(folder / candidate for folder in folders), Path(candidate).expanduser()):
            if candidate and path.exists():
                return path, asked
    raise _not_found(name, folders)


def _check_fold(name: str, fold: str, folds: Iterable[str]) -> None:
    folds = tuple(each for each in folds if each)
    if fold and fold not in folds:
        choices = suggest_name(fold, folds) if folds else "it is not folded, leave the fold out"
        raise SettingError(f"{name}: no fold is called {fold!r}: {choices}")
    if folds and not fold:
        raise SettingError(
            f"{name}: expected one fold of {', '.join(folds)}; name one, as in {name}:{folds[0]}"
        )


def _check_one(name: str) -> None:
    worlds = expand(name)
    if len(worlds) > 1:
        raise SettingError(f"{name}: expected one world, found {len(worlds)}; name one, as in {worlds[0]}")


def _folds(path: Path) -> tuple[str, ...]:
    return tuple(name for name in find_splits(path) if name) if path.is_dir() else ()


def _search_path(search: Sequence[str | Path] | None) -> tuple[Path, ...]:
    if search is None:
        search = [folder for folder in os.environ.get("RANKLOOP_DATA", "").split(os.pathsep) if folder]
    return tuple(Path(folder).expanduser() for folder in search)


def _dataset_folders(folders: Iterable[Path]) -> list[Path]:
    children = [child for folder in folders if folder.is_dir() for child in sorted(folder.iterdir())]
    return [child for child in children if child.is_dir() and find_splits(child)]


def _entry(folder: Path) -> Entry:
    return Entry(folder.name, str(folder), _folds(folder))


def _not_found(name: str, folders: tuple[Path, ...]) -> DataError:
    stem = name.partition(":")[0]
    known = [folder.name for folder in _dataset_folders(folders)] + [f"{SYNTHETIC}:{each}" for each in WORLDS]
    looked = ", ".join(map(str, folders)) if folders else "no folder, because RANKLOOP_DATA is not set"
    return DataError(
        f"no dataset is called {name!r}: looked in {looked}; {suggest_name(stem, known)}; set RANKLOOP_DATA "
        f"to the folders that contain your datasets (separated by {os.pathsep!r}), or give a path"
    )
