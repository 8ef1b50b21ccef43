"""Backups are whole or not there, restoring is asked for twice, and one flipped byte is named."""

from __future__ import annotations

import json
import resource
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import numpy as np
import pytest
import typer

from rankloop.candidate import Candidate
from rankloop.cli.log_commands import backup, findings, restore, verify
from rankloop.errors import DataError
from rankloop.service import RankerSettings, UserEvent
from rankloop.service.operations.data_directory import DataDirectory
from rankloop.service.service_facade import ServiceFacade
from rankloop.service.store import Person, SqliteStore, StoreError
from tests.support.limits import keep_snapshots_every

frequent_snapshots = keep_snapshots_every(10)

RULES = RankerSettings(window=1.0)


def live(service: ServiceFacade, rounds: int) -> None:
    rng = np.random.default_rng(rounds)
    for number in range(rounds):
        features = rng.normal(size=(4, 2))
        candidates = [Candidate(f"d{i}", {"a": float(a), "b": float(b)}) for i, (a, b) in enumerate(features)]
        shown = service.rank(candidates, ranker="shop", client_id=f"c{number % 3}")
        service.record([UserEvent(shown.query_id, shown.object_ids[int(rng.integers(4))])])
    service.flush("shop")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with DataDirectory(tmp_path / "data").open() as log, ServiceFacade(log) as service:
        service.create("shop", RULES)
        live(service, 40)
    return tmp_path / "data"


def test_a_backup_is_made_while_others_write_and_comes_back_to_the_bit(folder: Path, tmp_path: Path) -> None:
    ended = threading.Event()
    with DataDirectory(folder).open() as log:
        service = ServiceFacade(log)

        def write() -> None:
            while not ended.is_set():
                live(service, 2)

        writer = threading.Thread(target=write)
        writer.start()
        try:
            backup(tmp_path / "b" / "monday.db", data_dir=folder)
        finally:
            ended.set()
            writer.join()
        assert service.decided(kind="backup")[0].what.endswith("monday.db")
        deleted = service.delete_people([Person(client_id="c1")])
        assert deleted.backups == [str(tmp_path / "b" / "monday.db")]  # it still holds them
    with pytest.raises(DataError, match="there already"):
        backup(tmp_path / "b" / "monday.db", data_dir=folder)
    assert sorted(path.name for path in (tmp_path / "b").iterdir()) == ["monday.db", "monday.db.deletions"]
    (tmp_path / "b" / "monday.db.deletions").unlink()  # that somebody was deleted since is another test
    copy = tmp_path / "copy"
    restore(tmp_path / "b" / "monday.db", data_dir=copy)
    with pytest.raises(DataError, match="holds a log already"):
        restore(tmp_path / "b" / "monday.db", data_dir=copy)
    restore(tmp_path / "b" / "monday.db", data_dir=copy, overwrite=True)
    with DataDirectory(copy).open() as log:
        service = ServiceFacade(log)
        assert service.find_person(Person(client_id="c1")).lists
        assert all(service.replay(each.query_id).identical for each in service.lists("shop"))
    assert findings(copy, "", 1000) == []
    verify(data_dir=folder)  # also after a deletion
    (tmp_path / "no.db").write_text("no log")
    with pytest.raises(StoreError, match=r"no\.db is damaged or no backup"):
        restore(tmp_path / "no.db", data_dir=tmp_path / "new")
    with pytest.raises(DataError, match="in use"), DataDirectory(copy).open():
        restore(tmp_path / "b" / "monday.db", data_dir=copy, overwrite=True)


def test_a_backup_in_lines_can_be_read_by_programs_and_comes_back(folder: Path, tmp_path: Path) -> None:
    lines, copy = tmp_path / "monday.jsonl", tmp_path / "copy"
    with DataDirectory(folder).open() as log, ServiceFacade(log) as service:  # a service runs meanwhile
        shown = [each.query_id for each in service.lists("shop", last=99)]
        backup(lines, data_dir=folder)
        live(service, 2)
    rows = [json.loads(line) for line in lines.read_text().splitlines()]
    assert [each["seq"] for each in rows] == sorted(each["seq"] for each in rows)
    assert (rows[-1]["kind"], rows[-1]["body"]["file"]) == ("backup", str(lines))
    assert lines.stat().st_mode & 0o077 == 0
    restore(lines, data_dir=copy)
    assert findings(copy, "", 1000) == []
    with DataDirectory(copy).open() as log, ServiceFacade(log) as service:
        assert [each.query_id for each in service.lists("shop", last=99)] == shown
        assert all(service.replay(query_id).identical for query_id in shown)
    with pytest.raises(DataError, match="nothing is overwritten"):
        restore(lines, data_dir=copy, overwrite=True)
    with pytest.raises(DataError, match=r"ends in \.db or \.jsonl, found 'monday\.zip'"):
        backup(tmp_path / "monday.zip", data_dir=folder)


def flip(path: Path, table: str, column: str, condition: str, at: int) -> None:
    """Turn one bit over in the bytes of a value, as a bad disk does: the file stays a database."""
    with closing(sqlite3.connect(path)) as connection, connection:
        row, raw = connection.execute(f"SELECT rowid, {column} FROM {table} WHERE {condition}").fetchone()
        text = isinstance(raw, str)
        changed = bytearray(raw.encode() if text else raw)
        changed[at] ^= 1
        value = changed.decode() if text else bytes(changed)
        connection.execute(f"UPDATE {table} SET {column} = ? WHERE rowid = ?", (value, row))


@pytest.mark.parametrize(
    ("table", "column", "at", "said"),
    [
        ("snapshots", "arrays", -1, "is damaged"),
        ("impressions", "digest", -1, "is not the one that was shown"),
        ("payloads", "payload", -1, "cannot be read"),
        ("payloads", "payload", 20, "cannot be read"),
        ("payloads", "payload", 0, "cannot be read"),
    ],
)
def test_one_flipped_bit_is_named(
    folder: Path, capsys: pytest.CaptureFixture[str], table: str, column: str, at: int, said: str
) -> None:
    assert findings(folder, "", 1000) == []
    flip(folder / "log.db", table, column, f"seq = (SELECT max(seq) FROM {table})", at)
    with pytest.raises(typer.Exit) as ended:
        verify(data_dir=folder)
    assert ended.value.exit_code == 1
    assert said in " ".join(capsys.readouterr().out.split())


def test_a_snapshot_that_is_not_the_fold_and_a_torn_file_are_named(folder: Path) -> None:
    with SqliteStore(folder / "log.db") as log:
        service = ServiceFacade(log)
        kept = log.load_latest("shop")
        assert kept is not None
        weights = {name: value + (value.dtype.kind == "f") for name, value in kept.arrays.items()}
        wrong = type(kept)(seq=kept.seq, at=kept.at, ranker="shop", body=kept.body, arrays=weights)
        log.submit(lambda transaction: transaction.save_snapshot(wrong)).result()
        assert service.versions("shop")
    assert any("is not what the fold of its log gives" in each for each in findings(folder, "", 0))
    raw = bytearray((folder / "log.db").read_bytes())
    raw[len(raw) // 2 : len(raw) // 2 + 20_000] = b"\xff" * 20_000
    (folder / "log.db").write_bytes(raw)
    assert any("is damaged" in each or "cannot be" in each for each in findings(folder, "", 0))
    (folder / "log.db").write_bytes(b"")
    assert ["is empty" in each for each in findings(folder, "", 0)] == [True]
    assert not (folder / "log.db").stat().st_size  # looking at it does not make a log of it


def test_a_log_is_not_its_own_backup_and_a_backup_is_for_its_owner_alone(
    folder: Path, tmp_path: Path
) -> None:
    log, old = folder / "log.db", tmp_path / "monday.db"
    (tmp_path / "link.db").symlink_to(log)
    before = log.stat().st_ino
    for name in (log, tmp_path / "link.db"):
        with pytest.raises(DataError, match="is the log itself"):
            backup(name, data_dir=folder, overwrite=True)
    assert log.stat().st_ino == before  # whoever writes to it goes on with the same file
    backup(old, data_dir=folder)
    assert old.stat().st_mode & 0o077 == 0
    with SqliteStore(log) as store:
        ServiceFacade(store).set_mode("shop", "frozen")  # not in the file yet, but beside it
        with pytest.raises(DataError, match="make a backup"):
            restore(log, data_dir=tmp_path / "copy")
    old.write_bytes(old.read_bytes()[:9000])
    with pytest.raises(StoreError, match="damaged"):
        restore(old, data_dir=tmp_path / "copy")
    assert [each.name for each in (tmp_path / "copy").iterdir()] == ["lock"]


def test_a_backup_that_fails_leaves_nothing_and_one_that_was_killed_is_named_to_who_deletes_people(
    folder: Path, tmp_path: Path
) -> None:
    (copies := tmp_path / "b").mkdir()
    size = (folder / "log.db").stat().st_size
    with no_files_beyond(size - 4096), pytest.raises(StoreError, match="cannot be copied"):
        backup(copies / "monday.db", data_dir=folder)
    assert not list(copies.iterdir())  # it would hold what was copied of everybody
    backup(copies / "tuesday.db", data_dir=folder)
    (copies / "tuesday.db").rename(copies / ".tuesday.db.part")  # what a kill leaves
    with DataDirectory(folder).open() as log:
        deleted = ServiceFacade(log).delete_people([Person(client_id="c1")])
        assert deleted.backups == [str(copies / ".tuesday.db.part")]
    (folder / ".log.db.part").write_bytes(b"half of a log that was being restored")
    with DataDirectory(folder).open():
        assert not (folder / ".log.db.part").exists()


@contextmanager
def no_files_beyond(size: int) -> Iterator[None]:
    """Have writing beyond so many bytes of a file fail, as on a disk that is full."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
