"""Datasets by name: synthetic worlds, folders of published collections, files of judged or labelled rows."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, get_args

from rankloop.errors import DataError, SettingError, suggest_name
from rankloop.lab.data.best_feature_order import Direction, add_caller_order
from rankloop.lab.data.dataset import Dataset, fingerprint, join, prepare
from rankloop.lab.data.feature_groups import FeatureGroups
from rankloop.lab.data.labelled_rows import SUFFIXES, find_labelled, list_labelled_files, load_labelled
from rankloop.lab.data.letor_cache import hash_file, read_cached
from rankloop.lab.data.preparation import scale_to_unit_length
from rankloop.lab.data.query_set_slices import concatenate, take_queries
from rankloop.lab.data.split_files import SplitFiles, find_splits
from rankloop.lab.data.synthetic import WORLDS, make_dataset
from rankloop.naming import split_name
from rankloop.query_set import QuerySet

SHARED = ("caller_order", "unit_length", "test_on_validation")  # settings that every dataset takes
TRAIN_SHARE = 0.8  # of the queries of a single file; the rest, its last queries, are the test set


@dataclass(frozen=True, slots=True)
class Entry:
    """A line of `list_datasets`: a name, where it comes from, and its folds."""

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
    """Load a dataset by name: `linear(queries=30)`, `mq2008(fold=1)`, a folder, a file, or `letter(seed=3)`.

    The last one makes visitors and ads of labelled rows. `prepared` normalises per query and drops the
    features that are constant over the training set; labelled rows and most worlds are made ready and stay as
    they are. `groups` are made before features are dropped, so that features have the numbers they have in
    the file. `search` lists the folders in which a bare name is looked up, by default those in
    `$RANKLOOP_DATA`.

    Every name takes three settings. `test_on_validation=True` puts the validation queries in the place of the
    test queries; `unit_length=True` scales every document's features to length 1; `caller_order="decent"`, or
    `"reversed"`, gives every query an order by its best feature.

    >>> load("linear(queries=30, seed=3)").train.n_features
    20
    """
    stem, given = read_dataset_name(name)
    own = {key: value for key, value in given.items() if key not in SHARED}
    dataset, is_ready = _load_plain(name, stem, own, search)
    if groups:
        dataset = groups.apply(dataset)
    if prepared and not is_ready:
        dataset = prepare(dataset)
    if given.get("test_on_validation"):
        dataset = _test_on_validation(dataset)
    if given.get("unit_length"):
        dataset = dataset.map_parts(scale_to_unit_length, "unit_length")
    return add_caller_order(dataset, given["caller_order"]) if given.get("caller_order") else dataset


def list_folds(name: str, *, search: Sequence[str | Path] | None = None) -> tuple[str, ...]:
    """List the names of all folds of a folded dataset; any other name stands for itself.

    Worlds that differ in nothing but the seed are like folds.

    >>> list_folds("linear"), list_folds("linear(seed=(0, 1))")
    (('linear',), ('linear(seed=0)', 'linear(seed=1)'))
    """
    stem, given = read_dataset_name(name)
    if isinstance(given.get("seed"), tuple):
        return tuple(change_name(name, seed=seed) for seed in given["seed"])
    if stem in WORLDS:
        return (name,)
    folds = _folds(_locate(name, stem, search))
    if "fold" in given:
        _find_fold(name, given["fold"], folds)
    if "fold" in given or not folds:
        return (name,)
    return tuple(_write(stem, {"fold": _number(fold), **given}) for fold in folds)


def list_datasets(*, search: Sequence[str | Path] | None = None) -> tuple[Entry, ...]:
    """Every name that `load` understands here, apart from paths."""
    worlds = [Entry(name, world.summary) for name, world in WORLDS.items()]
    folders = _search_path(search)
    labelled = [Entry(name, str(path)) for name, path in list_labelled_files(folders).items()]
    found = [Entry(each.name, str(each), _folds(each)) for each in _dataset_folders(folders)]
    return (*worlds, *labelled, *found)


def read_dataset_name(name: str) -> tuple[str, dict[str, Any]]:
    """Divide a name into what is loaded and its settings, checked as far as every dataset has them.

    >>> read_dataset_name("mq2008(fold=1, caller_order=decent)")
    ('mq2008', {'fold': 1, 'caller_order': 'decent'})
    """
    stem, call = split_name(name, "dataset")
    if call.args:
        raise SettingError(f"{name}: expected <setting>=<value>, found {ast.unparse(call.args[0])}")
    given = {str(each.arg): _read_value(name, each.value) for each in call.keywords}
    order = given.get("caller_order")
    if order is not None and order not in get_args(Direction):
        choices = suggest_name(str(order), get_args(Direction))
        raise SettingError(f"{name}: no order of the caller is called {order!r}: {choices}")
    for flag in ("unit_length", "test_on_validation"):
        if not isinstance(given.get(flag, False), bool):
            raise SettingError(f"{name}: {flag} is True or False, found {given[flag]!r}")
    return stem, given


def change_name(name: str, **settings: object) -> str:
    """Name the same data with other settings; None leaves one out.

    >>> change_name("mq2008(fold=1)", caller_order="decent"), change_name("mq2008(fold=1)", fold=None)
    ("mq2008(fold=1, caller_order='decent')", 'mq2008')
    """
    stem, given = read_dataset_name(name)
    return _write(stem, {key: value for key, value in {**given, **settings}.items() if value is not None})


def _write(stem: str, settings: Mapping[str, object]) -> str:
    text = ", ".join(f"{key}={value!r}" for key, value in settings.items())
    return f"{stem}({text})" if text else stem


def _read_value(name: str, node: ast.expr) -> object:
    if isinstance(node, ast.Name):
        return node.id
    try:
        return ast.literal_eval(node)
    except ValueError:
        raise SettingError(
            f"{name}: expected a number, a text or values in parentheses, found {ast.unparse(node)}"
        ) from None


def _load_plain(
    name: str, stem: str, options: Mapping[str, Any], search: Sequence[str | Path] | None
) -> tuple[Dataset, bool]:
    """Load a dataset without its shared settings, and say whether preparation would only distort it."""
    if isinstance(options.get("seed"), tuple):
        raise SettingError(f"{name}: expected one seed, found {options['seed']}; name one")
    if stem in WORLDS:
        return replace(make_dataset(stem, **options), name=name), WORLDS[stem].is_ready
    path = _locate(name, stem, search)
    if path.name.endswith(SUFFIXES):
        return replace(load_labelled(path, **options), name=name), True
    if unknown := [each for each in options if each != "fold"]:
        choices = suggest_name(unknown[0], ("fold", *SHARED))
        raise SettingError(f"{stem} has no setting {unknown[0]!r}: {choices}")
    fold = options.get("fold")
    if path.is_file():
        _find_fold(name, fold, ())
        return _load_file(name, path), False
    splits = find_splits(path)
    if not splits:
        raise DataError(
            f"{path}: expected train and test files, or Fold1 ..., S1 ... S5, set1.train ..., found none"
        )
    return _load_split(name, splits[_find_fold(name, fold, tuple(splits))]), False


def _load_split(name: str, files: SplitFiles) -> Dataset:
    digests: dict[Path, str] = {path: hash_file(path) for path in (*files.train, *files.test, *files.vali)}
    parts = tuple(_read(paths, digests) for paths in (files.train, files.test, files.vali) if paths)
    roles = (
        f"{role}={[digests[path] for path in getattr(files, role)]}" for role in ("train", "test", "vali")
    )
    return join(name, parts, fingerprint(*roles))


def _test_on_validation(dataset: Dataset) -> Dataset:
    """Put other queries to test on in place: for validation, or the last fifth of those for training."""
    train, vali = dataset.train, dataset.vali
    if vali is None:
        if len(train) < 2:
            raise DataError(f"{dataset.name}: expected two training queries or validation queries, found one")
        train, vali = _split(train)
    mark = fingerprint(dataset.fingerprint, f"{len(vali)} validation queries in the place of test queries")
    return replace(dataset, train=train, test=vali, vali=None, fingerprint=mark)


def _read(paths: tuple[Path, ...], digests: dict[Path, str]) -> QuerySet:
    return concatenate(*(read_cached(path, digest=digests[path]) for path in paths))


def _load_file(name: str, path: Path) -> Dataset:
    digest = hash_file(path)
    queries = read_cached(path, digest=digest)
    if len(queries) < 2:
        raise DataError(f"{path}: expected at least two queries to split into train and test, found one")
    train, test = _split(queries)
    return join(name, (train, test), fingerprint(f"first {len(train)} queries of {digest}"))


def _split(queries: QuerySet) -> tuple[QuerySet, QuerySet]:
    """Split off the first queries, to train on, and the others, at least one."""
    train = min(max(round(TRAIN_SHARE * len(queries)), 1), len(queries) - 1)
    return take_queries(queries, 0, train), take_queries(queries, train)


def _locate(name: str, stem: str, search: Sequence[str | Path] | None) -> Path:
    """Find the file or folder a name stands for."""
    folders = _search_path(search)
    for path in (*(folder / stem for folder in folders), Path(stem).expanduser()):
        if stem and path.exists():
            return path
    labelled = find_labelled(stem, folders)
    if labelled is None:
        raise _not_found(name, stem, folders)
    return labelled


def _find_fold(name: str, fold: object, folds: Sequence[str]) -> str:
    """Find the split of this number or name, which is empty where there is only one."""
    folds = tuple(each for each in folds if each)
    numbers = [str(_number(each)) for each in folds]
    if fold is None and not folds:
        return ""
    if fold is None:
        example = change_name(name, fold=_number(folds[0]))
        raise SettingError(f"{name}: expected one fold of {', '.join(numbers)}; name one, as in {example}")
    if str(fold) not in numbers:
        choices = suggest_name(str(fold), numbers) if folds else "it is not folded, leave the fold out"
        raise SettingError(f"{name}: no fold is called {fold!r}: {choices}")
    return folds[numbers.index(str(fold))]


def _number(fold: str) -> int:
    return int(re.sub(r"\D", "", fold))


def _folds(path: Path) -> tuple[str, ...]:
    return tuple(name for name in find_splits(path) if name) if path.is_dir() else ()


def _search_path(search: Sequence[str | Path] | None) -> tuple[Path, ...]:
    if search is None:
        search = [folder for folder in os.environ.get("RANKLOOP_DATA", "").split(os.pathsep) if folder]
    return tuple(Path(folder).expanduser() for folder in search)


def _dataset_folders(folders: Iterable[Path]) -> list[Path]:
    children = [child for folder in folders if folder.is_dir() for child in sorted(folder.iterdir())]
    return [child for child in children if child.is_dir() and find_splits(child)]


def _not_found(name: str, stem: str, folders: tuple[Path, ...]) -> DataError:
    known = [*(folder.name for folder in _dataset_folders(folders)), *list_labelled_files(folders), *WORLDS]
    looked = ", ".join(map(str, folders)) if folders else "no folder, because RANKLOOP_DATA is not set"
    return DataError(
        f"no dataset is called {name!r}: looked in {looked}; {suggest_name(stem, known)}; set RANKLOOP_DATA "
        f"to the folders that contain your datasets (separated by {os.pathsep!r}), or give a path"
    )
