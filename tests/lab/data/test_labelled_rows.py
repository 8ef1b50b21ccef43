"""Labelled rows become visitors: nothing is lost, nothing leaks, and what is missing is said."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest

from rankloop.errors import DataError, SettingError
from rankloop.lab.data import (
    Labelled,
    concatenate,
    list_datasets,
    list_folds,
    load,
    make_dataset,
    read_labelled,
)
from rankloop.lab.users import AdUser
from rankloop.query_set import QuerySet
from rankloop.types import Ranking

ROWS = "1,10,A\n2,20,B\n3,30,A\n4,40,C\n5,50,B\n6,60,C\n7,70,A\n8,80,B\n9,90,C\n10,100,A\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    below = tmp_path / "data" / "later" / "uci_multiclass"
    below.mkdir(parents=True)
    (below / "rows.csv.gz").write_bytes(gzip.compress(ROWS.encode()))
    monkeypatch.setenv("RANKLOOP_DATA", str(tmp_path / "data"))
    return below


def classes(queries: QuerySet) -> list[str]:
    return [query.query.doc_ids[int(query.relevance.argmax())] for query in queries]


def test_every_row_is_a_visitor_once_with_its_own_class(folder: Path) -> None:
    data = load("rows(raw=True, seed=4)")
    assert (len(data.train), len(data.test)) == (7, 3)
    found = [
        (*judged.query.context.features.tolist(), name)
        for part in data.parts
        for judged, name in zip(part, classes(part), strict=True)
    ]
    expected = [line.split(",") for line in ROWS.splitlines()]
    assert sorted(found) == [(float(a), float(b), name) for a, b, name in expected]
    assert all(judged.relevance.sum() == 1 for part in data.parts for judged in part)


def test_only_training_rows_decide_the_scale(folder: Path) -> None:
    data, raw = load("rows"), load("rows(raw=True)")
    assert data.train.contexts is not None
    assert raw.train.contexts is not None
    assert data.train.contexts.min() == 0
    assert data.train.contexts.max() == 1
    lowest, spread = raw.train.contexts.min(axis=0), np.ptp(raw.train.contexts, axis=0)
    assert data.test.contexts is not None
    assert raw.test.contexts is not None
    np.testing.assert_allclose(data.test.contexts, (raw.test.contexts - lowest) / spread)
    assert data.fingerprint != raw.fingerprint


def test_seeds_are_like_folds_and_change_the_split(folder: Path) -> None:
    names = list_folds("rows(seed=(0, 1, 2, 3))")
    assert names == tuple(f"rows(seed={seed})" for seed in range(4))
    assert len({tuple(load(name).train.contexts.ravel().tolist()) for name in names}) > 1  # type: ignore[union-attr]
    assert "rows" in [entry.name for entry in list_datasets()]


def test_npz_files_hold_whole_numbers_to_be_divided(tmp_path: Path) -> None:
    path = tmp_path / "rows.npz"
    np.savez(path, X_times_1e4=np.array([[5000], [10000], [2500]], dtype=np.int16), y=np.array([2, 1, 2]))
    rows = read_labelled(path)
    assert rows.features.ravel().tolist() == [0.5, 1.0, 0.25]
    assert (rows.classes.tolist(), rows.names) == ([1, 0, 1], ("1", "2"))


@pytest.mark.parametrize(
    ("text", "message"),
    [("1,2,A\n2,x,B\n", "expected rows of numbers"), ("1,2,A\n3,4,A\n", "at least two classes, found 1")],
)
def test_a_file_that_is_no_labelled_data_is_refused(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "bad.csv").write_text(text)
    with pytest.raises(DataError, match=message):
        load(str(tmp_path / "bad.csv"))


def test_what_is_missing_is_said_with_what_to_do(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    with pytest.raises(DataError, match=r"no dataset is called 'row': .*did you mean 'rows'"):
        load("row")
    with pytest.raises(SettingError, match="no option 'sed': did you mean 'seed'"):
        load("rows(sed=1)")
    monkeypatch.delenv("RANKLOOP_DATA", raising=False)
    with pytest.raises(DataError, match="RANKLOOP_DATA is not set"):
        load("rows")


@pytest.mark.parametrize("setting", ["seed=-1", "raw=2", "train_percent=100", "train_percent=0"])
def test_a_split_without_meaning_is_refused(folder: Path, setting: str) -> None:
    with pytest.raises(SettingError, match=f"{setting.partition('=')[0]} must be "):
        load(f"rows({setting})")


def test_classes_that_are_numbers_are_sorted_as_numbers(tmp_path: Path) -> None:
    path = tmp_path / "numbers.csv"
    path.write_text("0.5,10\n1e-3,2\n-7,10\n")
    rows = read_labelled(path)
    assert rows.features.tolist() == [[0.5], [0.001], [-7.0]]
    assert (rows.classes.tolist(), rows.names) == ([1, 0, 1], ("2", "10"))


def test_contexts_travel_with_their_visitors() -> None:
    train, test = make_dataset("ads", queries=30, test_queries=5, ads=3).parts
    queries = concatenate(train, test)
    assert queries.contexts is not None
    for index in (0, 29, 30, 34):
        part, row = (train, index) if index < 30 else (test, index - 30)
        np.testing.assert_array_equal(part[row].query.context.features, queries.contexts[index])
    with pytest.raises(DataError, match="for each of 2 queries"):
        QuerySet(np.eye(2), np.arange(3), np.array([0, 1]), ("a", "b"), contexts=np.zeros((3, 1)))


def test_a_visitor_clicks_as_rarely_as_wanted() -> None:
    judged = make_dataset("ads", queries=1, test_queries=1).train[0]
    user, rng = AdUser(match=0.3, otherwise=0.05), np.random.default_rng(0)
    match = int(judged.relevance.argmax())
    for row, chance in ((match, 0.3), ((match + 1) % 8, 0.05)):
        shown = Ranking(judged.query, np.array([row]))
        clicks = sum(int(user.respond(shown, judged.relevance, rng).clicks[0]) for _ in range(4000))
        assert abs(clicks / 4000 - chance) < 4 * np.sqrt(chance / 4000)
    with pytest.raises(SettingError, match="match must be a number from 0 to 1"):
        AdUser(match=1.5)


def test_labelled_rows_know_how_many_they_are() -> None:
    assert len(Labelled(np.eye(3), np.array([0, 1, 0]), ("A", "B"))) == 3
