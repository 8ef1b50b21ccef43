import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from rankloop.errors import DataError
from rankloop.lab.data import cache_folder, hash_file, read_cached, read_letor
from rankloop.lab.data import letor_cache as cache_module
from rankloop.query_set import QuerySet

LOAD = "import sys; from rankloop.lab.data import read_cached; print(len(read_cached(sys.argv[1])))"
DIE_WHILE_WRITING = """
import os, sys
import numpy as np
from rankloop.lab.data import read_cached
np.save = lambda *args, **options: os._exit(9)
read_cached(sys.argv[1])
"""


def entries(cache: Path) -> list[Path]:
    return [path for path in cache.iterdir() if not path.name.startswith(".")]


def is_mapped(queries: QuerySet) -> bool:
    return isinstance(queries.features.base, np.memmap)


def assert_equal(left: QuerySet, right: QuerySet) -> None:
    for name in ("features", "offsets", "relevance"):
        np.testing.assert_array_equal(getattr(left, name), getattr(right, name))
    assert left.ids == right.ids


def test_a_second_load_parses_nothing(cache: Path, letor_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = read_cached(letor_file)
    monkeypatch.setattr(cache_module, "read_letor", None)
    second = read_cached(letor_file)
    assert_equal(first, second)
    assert is_mapped(second)
    assert not second.features.flags.writeable
    assert len(entries(cache)) == 1


def test_what_is_cached_is_what_was_read(letor_file: Path) -> None:
    assert_equal(read_cached(letor_file), read_letor(letor_file))


def test_nothing_is_written_beside_the_data(letor_file: Path) -> None:
    read_cached(letor_file)
    assert list(letor_file.parent.iterdir()) == [letor_file]


def test_changed_content_of_the_same_size_and_time_is_noticed(letor_file: Path) -> None:
    before, times = read_cached(letor_file), letor_file.stat()
    letor_file.write_text(letor_file.read_text().replace("1:0.5", "1:0.7"))
    os.utime(letor_file, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert letor_file.stat().st_size == times.st_size
    assert before.features[0, 0] == np.float32(0.5)
    assert read_cached(letor_file).features[0, 0] == np.float32(0.7)


def test_equal_files_share_an_entry(cache: Path, letor_file: Path) -> None:
    copy = letor_file.with_name("copy.txt")
    shutil.copy(letor_file, copy)
    read_cached(letor_file)
    read_cached(copy)
    assert len(entries(cache)) == 1


def truncate(entry: Path) -> None:
    features = entry / "features.npy"
    features.write_bytes(features.read_bytes()[:-4])


def empty(entry: Path) -> None:
    (entry / "offsets.npy").write_bytes(b"")


def garble(entry: Path) -> None:
    (entry / "ids.json").write_text("[")


def shorten(entry: Path) -> None:
    (entry / "ids.json").write_text(json.dumps(["7"]))


def pickle(entry: Path) -> None:
    np.save(entry / "relevance.npy", np.array([{}], dtype=object), allow_pickle=True)


def remove(entry: Path) -> None:
    (entry / "relevance.npy").unlink()


def replace_by_a_file(entry: Path) -> None:
    shutil.rmtree(entry)
    entry.write_text("")


@pytest.mark.parametrize("damage", [truncate, empty, garble, shorten, pickle, remove, replace_by_a_file])
def test_a_damaged_entry_is_rebuilt(cache: Path, letor_file: Path, damage: type) -> None:
    read_cached(letor_file)
    damage(entries(cache)[0])
    again = read_cached(letor_file)
    assert_equal(again, read_letor(letor_file))
    assert is_mapped(again)
    assert [path.name for path in cache.iterdir()] == [path.name for path in entries(cache)]
    assert len(entries(cache)) == 1


def test_a_killed_writer_leaves_nothing_visible(cache: Path, letor_file: Path) -> None:
    killed = subprocess.run([sys.executable, "-c", DIE_WHILE_WRITING, str(letor_file)], check=False)
    assert killed.returncode == 9
    assert list(cache.iterdir()) != []
    assert entries(cache) == []
    assert_equal(read_cached(letor_file), read_letor(letor_file))


def test_leftovers_of_killed_writers_are_removed_after_a_day(cache: Path, letor_file: Path) -> None:
    old, young = cache / ".unfinished-old", cache / ".unfinished-young"
    old.mkdir(parents=True)
    young.mkdir()
    os.utime(old, (time.time() - 2 * 86400,) * 2)
    read_cached(letor_file)
    assert not old.exists()
    assert young.exists()


def test_processes_may_race(cache: Path, tmp_path: Path) -> None:
    path = tmp_path / "train.txt"
    path.write_text("".join(f"0 qid:{row} 1:{row}\n" for row in range(20_000)))
    racers = [
        subprocess.Popen([sys.executable, "-c", LOAD, str(path)], stdout=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    assert [racer.communicate()[0].strip() for racer in racers] == ["20000"] * 3
    assert len(list(cache.iterdir())) == 1


def test_a_faster_process_wins(cache: Path, letor_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write = cache_module._write

    def write_late(folder: Path, queries: QuerySet) -> None:
        monkeypatch.setattr(cache_module, "_write", write)
        read_cached(letor_file)  # the other process finishes while we are still writing
        write(folder, queries)

    monkeypatch.setattr(cache_module, "_write", write_late)
    assert is_mapped(read_cached(letor_file))
    assert len(list(cache.iterdir())) == 1


def test_without_a_usable_folder_it_works_uncached(
    tmp_path: Path, letor_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    blocked = tmp_path / "a file"
    blocked.write_text("in the way")
    monkeypatch.setenv("RANKLOOP_CACHE", str(blocked))
    queries = read_cached(letor_file)
    assert_equal(queries, read_letor(letor_file))
    assert not queries.features.flags.writeable


def test_a_full_disk_is_no_obstacle(cache: Path, letor_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_space(*arguments: object, **options: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "save", no_space)
    assert_equal(read_cached(letor_file), read_letor(letor_file))
    assert list(cache.iterdir()) == []


def test_a_promised_width_holds_for_cached_files(letor_file: Path) -> None:
    read_cached(letor_file)
    assert read_cached(letor_file, n_features=3).n_features == 3
    assert read_cached(letor_file, n_features=5).n_features == 5
    with pytest.raises(DataError, match="line 1: expected a feature from 1 to 2, found '3:1'"):
        read_cached(letor_file, n_features=2)


def test_a_malformed_file_is_never_cached(cache: Path, tmp_path: Path) -> None:
    path = tmp_path / "train.txt"
    path.write_text("0 qid:1 1:x\n")
    with pytest.raises(DataError, match="line 1"):
        read_cached(path)
    assert not cache.exists()


def test_a_missing_file_and_a_folder_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="expected a readable file"):
        hash_file(tmp_path / "missing.txt")
    with pytest.raises(DataError, match="expected a readable file"):
        read_cached(tmp_path)


def test_the_cache_folder_follows_the_platform(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RANKLOOP_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(Path("/xdg")))
    monkeypatch.setenv("LOCALAPPDATA", str(Path("/local")))
    monkeypatch.setattr(sys, "platform", "linux")
    assert cache_folder() == Path("/xdg/rankloop")
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert cache_folder() == Path.home() / ".cache" / "rankloop"
    monkeypatch.setattr(sys, "platform", "darwin")
    assert cache_folder() == Path.home() / "Library" / "Caches" / "rankloop"
    monkeypatch.setattr(sys, "platform", "win32")
    assert cache_folder() == Path("/local/rankloop/Cache")
