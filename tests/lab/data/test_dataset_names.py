import gzip
import lzma
import os
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
import pytest

from rankloop.errors import DataError, SettingError
from rankloop.lab.data import WORLDS, change_name, list_datasets, list_folds, load
from rankloop.lab.data.dataset_names import read_dataset_name

Pack = Callable[[bytes], bytes]
PACKING: list[tuple[str, Pack]] = [("", bytes), (".gz", gzip.compress), (".xz", lzma.compress)]


def write(folder: Path, names: Iterable[str], *, suffix: str = "", pack: Pack = bytes) -> None:
    """One query per file, called after the file; the n-th file mentions n + 1 features."""
    folder.mkdir(parents=True, exist_ok=True)
    for width, name in enumerate(names, 2):
        best = " ".join(f"{index}:0.{index}" for index in range(1, width + 1))
        text = f"0 qid:{name.partition('.txt')[0]} 1:0.5\n1 qid:{name.partition('.txt')[0]} {best}\n"
        (folder / (name + suffix)).write_bytes(pack(text.encode()))


@pytest.fixture
def collections(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "collections"
    folder.mkdir()
    monkeypatch.setenv("RANKLOOP_DATA", str(folder))
    monkeypatch.chdir(tmp_path)
    return folder


@pytest.mark.parametrize(("suffix", "pack"), PACKING)
def test_publishers_folds(collections: Path, suffix: str, pack: Pack) -> None:
    for fold in (1, 2, 10):
        write(
            collections / "MSLR" / f"Fold{fold}",
            ["train.txt", "vali.txt", "test.txt"],
            suffix=suffix,
            pack=pack,
        )
    assert list_folds("MSLR") == ("MSLR(fold=1)", "MSLR(fold=2)", "MSLR(fold=10)")
    data = load("MSLR(fold=2)", prepared=False)
    assert data.vali is not None
    assert (data.train.ids, data.vali.ids, data.test.ids) == (("train",), ("vali",), ("test",))


@pytest.mark.parametrize(("suffix", "pack"), PACKING)
@pytest.mark.parametrize("text", ["", ".txt"])
def test_rotating_parts(collections: Path, text: str, suffix: str, pack: Pack) -> None:
    write(collections / "mq", [f"S{part}{text}" for part in range(1, 6)], suffix=suffix, pack=pack)
    assert list_folds("mq") == tuple(f"mq(fold={fold})" for fold in range(1, 6))
    for fold, parts in enumerate(["S1S2S3S4S5", "S2S3S4S5S1", "S3S4S5S1S2", "S4S5S1S2S3", "S5S1S2S3S4"], 1):
        data = load(f"mq(fold={fold})", prepared=False)
        assert data.vali is not None
        assert "".join((*data.train.ids, *data.vali.ids, *data.test.ids)) == parts
        assert (len(data.train), len(data.vali), len(data.test)) == (3, 1, 1)
        assert data.train.n_features == data.vali.n_features == data.test.n_features == 6


def test_yahoos_sets(collections: Path) -> None:
    write(
        collections / "yahoo", [f"set{n}.{part}.txt" for n in (1, 2) for part in ("train", "valid", "test")]
    )
    assert list_folds("yahoo") == ("yahoo(fold=1)", "yahoo(fold=2)")
    data = load("yahoo(fold=2)", prepared=False)
    assert data.vali is not None
    assert (data.train.ids, data.vali.ids, data.test.ids) == (
        ("set2.train",),
        ("set2.valid",),
        ("set2.test",),
    )


@pytest.mark.parametrize("vali", [[], ["vali.txt"], ["valid.txt"]])
def test_a_flat_folder_with_or_without_validation(collections: Path, vali: list[str]) -> None:
    write(collections / "flat", ["train.txt", "test.txt", *vali])
    assert list_folds("flat") == ("flat",)
    data = load("flat", prepared=False)
    assert (data.train.ids, data.test.ids) == (("train",), ("test",))
    assert (data.vali is not None) == bool(vali)


def test_letor_3_names(collections: Path) -> None:
    write(collections / "OHSUMED" / "Fold1", ["trainingset.txt", "validationset.txt", "testset.txt"])
    assert len(load("OHSUMED(fold=1)").parts) == 3


def test_paths_need_no_search_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RANKLOOP_DATA", raising=False)
    write(tmp_path / "some" / "Fold3", ["train.txt", "test.txt"])
    assert load(f"{tmp_path / 'some'}(fold=3)").train.ids == ("train",)
    assert load(str(tmp_path / "some" / "Fold3")).train.ids == ("train",)
    assert list_folds(str(tmp_path / "some")) == (f"{tmp_path / 'some'}(fold=3)",)


def test_search_folders_may_be_passed_or_several(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "a" / "one", ["train.txt", "test.txt"])
    write(tmp_path / "b" / "two", ["train.txt", "test.txt"])
    assert load("two", search=[tmp_path / "b"]).name == "two"
    monkeypatch.setenv("RANKLOOP_DATA", os.pathsep.join([str(tmp_path / "a"), str(tmp_path / "b")]))
    assert [entry.name for entry in list_datasets()][-2:] == ["one", "two"]


def test_a_single_file_is_split_by_query(tmp_path: Path) -> None:
    path = tmp_path / "clicks.txt"
    path.write_text("".join(f"{row % 2} qid:{row // 3} 1:0.{row}\n" for row in range(30)))
    data = load(str(path))
    assert data.train.ids == tuple("01234567")
    assert data.test.ids == tuple("89")
    assert data.vali is None
    assert list_folds(str(path)) == (str(path),)
    with pytest.raises(SettingError, match="no fold is called 1: it is not folded, leave the fold out"):
        load(f"{path}(fold=1)")


def test_a_single_query_cannot_be_split(tmp_path: Path) -> None:
    path = tmp_path / "one.txt"
    path.write_text("0 qid:1 1:1\n")
    with pytest.raises(DataError, match="expected at least two queries to split"):
        load(str(path))


def test_prepared_is_normalised_and_without_constants(collections: Path) -> None:
    write(collections / "flat", ["train.txt", "test.txt"])
    raw, prepared = load("flat", prepared=False), load("flat")
    assert (raw.train.n_features, prepared.train.n_features) == (
        3,
        2,
    )  # the third is never mentioned in train
    assert prepared.train.features.tolist() == [[1, 0], [0, 1]]
    assert raw.fingerprint != prepared.fingerprint


def test_the_fingerprint_follows_the_content(collections: Path) -> None:
    write(collections / "flat", ["train.txt", "test.txt"])
    write(collections / "copy", ["train.txt", "test.txt"], suffix="")
    assert load("flat").fingerprint == load("copy").fingerprint
    with (collections / "flat" / "test.txt").open("a") as file:
        file.write("# changed\n")
    assert load("flat").fingerprint != load("copy").fingerprint


def test_a_folded_dataset_needs_a_fold(collections: Path) -> None:
    write(collections / "mq", [f"S{part}.txt" for part in range(1, 6)])
    with pytest.raises(SettingError, match=r"mq: expected one fold of 1, .*5; name one, as in mq\(fold=1\)"):
        load("mq")
    for ask in (load, list_folds):
        with pytest.raises(SettingError, match=r"no fold is called 6: .*choose from 1, 2"):
            ask("mq(fold=6)")


def test_a_name_not_found_says_where_it_looked_and_what_is_there(
    collections: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(collections / "mq2008", [f"S{part}.txt" for part in range(1, 6)])
    with pytest.raises(DataError) as caught:
        load("mq2009(fold=1)")
    for part in (
        "'mq2009(fold=1)'",
        str(collections),
        "did you mean 'mq2008'",
        "linear",
        "RANKLOOP_DATA",
    ):
        assert part in str(caught.value)
    monkeypatch.delenv("RANKLOOP_DATA")
    with pytest.raises(DataError, match="looked in no folder, because RANKLOOP_DATA is not set"):
        load("mq2008")


def test_a_folder_of_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "readme.md").touch()
    with pytest.raises(DataError, match=r"expected train and test files, or Fold1 .*, found none"):
        load(str(tmp_path))


def test_everything_available_is_listed(collections: Path) -> None:
    write(collections / "flat", ["train.txt", "test.txt"])
    write(collections / "mq", [f"S{part}.txt" for part in range(1, 6)])
    (collections / "empty").mkdir()
    entries = {entry.name: entry for entry in list_datasets()}
    assert list(entries) == [*WORLDS, "flat", "mq"]
    assert entries["mq"].folds == ("fold1", "fold2", "fold3", "fold4", "fold5")
    assert entries["flat"].source == str(collections / "flat")
    assert all(entry.source for entry in entries.values())


def test_worlds_are_loaded_by_name_and_prepared_where_they_need_it() -> None:
    assert load("nonlinear(queries=20, test_queries=5)").train.n_features == 116
    raw, ready = (load("separable(queries=5)", prepared=prepared) for prepared in (False, True))
    np.testing.assert_array_equal(raw.train.features, ready.train.features)
    assert load("linear(seed=3)").name == "linear(seed=3)"


def test_seeds_stand_for_worlds_like_folds() -> None:
    names = list_folds("linear(queries=5, seed=(9, 10, 11), test_queries=3)")
    assert names == tuple(f"linear(queries=5, seed={seed}, test_queries=3)" for seed in (9, 10, 11))
    assert len({load(name).fingerprint for name in names}) == 3
    assert list_folds("linear(seed=(2,))") == ("linear(seed=2)",)
    with pytest.raises(SettingError, match=r"expected one seed, found \(9, 10\); name one"):
        load("linear(queries=5, seed=(9, 10))")


@pytest.mark.parametrize(
    "world", ["linear(queries=12)", "nonlinear(queries=12, test_queries=4)", "letter-like"]
)
def test_settings_that_every_dataset_takes(world: str, tmp_path: Path) -> None:
    if world == "letter-like":
        world = str(tmp_path / "one.txt")
        lines = (f"{row % 2} qid:{row // 3} 1:0.{row} 2:{row % 4}\n" for row in range(60))
        Path(world).write_text("".join(lines))
    plain = load(world)
    unit, held = (load(change_name(world, **{key: True})) for key in ("unit_length", "test_on_validation"))
    lengths = np.linalg.norm(unit.test.features, axis=1)
    np.testing.assert_allclose(lengths[lengths > 0], 1, rtol=1e-6)
    few = round(0.8 * len(plain.train))
    assert (held.train.ids, held.test.ids) == (plain.train.ids[:few], plain.train.ids[few:])
    decent, turned = (load(change_name(world, caller_order=each)) for each in ("decent", "reversed"))
    for part, other, before in zip(decent.parts, turned.parts, plain.parts, strict=True):
        assert part.caller_scores is not None
        assert other.caller_scores is not None
        np.testing.assert_array_equal(part.caller_scores, -other.caller_scores)
        assert before.caller_scores is None
        assert any((np.abs(part.caller_scores) == np.abs(column)).all() for column in before.features.T)
    names = {each.fingerprint for each in (plain, unit, held, decent, turned)}
    assert len(names) == 5


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ("linear(seed=1.5)", "seed must be a whole number of at least 0, found 1.5"),
        ("linear(seed=-1)", "seed must be a whole number of at least 0, found -1"),
        ("linear(wrong=3)", "has no option 'wrong'"),
        ("linear(3)", "expected <setting>=<value>, found 3"),
        ("linear(caller_order='decnt')", "no order of the caller is called 'decnt': did you mean 'decent'"),
        ("linear(unit_length=1)", "unit_length is True or False, found 1"),
        ("linear(queries=2+3)", "expected a number, a text or values in parentheses"),
        ("linear(queries=3", "cannot be read"),
        ("flat(seed=3)", "flat has no setting 'seed'"),
    ],
)
def test_names_that_say_nothing_are_refused(wrong: str, told: str, collections: Path) -> None:
    write(collections / "flat", ["train.txt", "test.txt"])
    with pytest.raises(SettingError, match=told):
        load(wrong)


@pytest.mark.parametrize("name", ["mq2008", "mq2008(fold=2)", "linear(queries=3, caller_order='decent')"])
def test_a_name_that_is_changed_and_changed_back_is_the_same(name: str) -> None:
    changed = change_name(name, test_on_validation=True)
    assert changed != name
    assert read_dataset_name(changed)[1]["test_on_validation"] is True
    assert change_name(changed, test_on_validation=None) == name
