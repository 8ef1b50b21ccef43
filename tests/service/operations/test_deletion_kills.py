"""A process is killed between all steps of a deletion; the next one finishes it, and no byte is left."""

from __future__ import annotations

import importlib
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
import pytest

from rankloop.service.operations.data_directory import DataDirectory
from rankloop.service.operations.people import BACKUP
from rankloop.service.service_facade import ServiceFacade
from rankloop.service.store import SERVICE, Decision, write
from tests.service.operations.test_deletion_proof import OTTO, SETTINGS, live
from tests.support.killing import SPAWN
from tests.support.postgres import Cluster
from tests.support.raw_bytes import hits_in_database, hits_in_folder

# where a process is killed: a function, and whether it was done by then
REMOVAL = "rankloop.service.operations.person_removal"
PEOPLE = "rankloop.service.operations.people"
PURGE, SPACE = "rankloop.service.store.sqlite.file_purge", "rankloop.service.store.sqlite.file_space"
REWRITE = "rankloop.service.store.postgres.partition_rewrite"
BOTH = (
    (REMOVAL, "remove_entries", "before"),
    (REMOVAL, "remove_entries", "after"),  # the transaction is not committed
    (PEOPLE, "remove_people", "after"),
    (PEOPLE, "write_notes", "before"),
    (PEOPLE, "write_notes", "after"),
    (PEOPLE, "write", "before"),  # the files are purged, and the log does not say so
    (PEOPLE, "write", "after"),
)
SQLITE = (
    (PURGE, "shrink_file", "after"),
    (PURGE, "empty_write_ahead_log", "after"),
    (PURGE, "find_remains", "after"),
    (PURGE, "_rewrite_indexes", "after"),
    (PURGE, "rewrite_file", "after"),
)
POSTGRES = (
    (REWRITE, "drop_copies", "after"),
    (REWRITE, "copy_tables", "before"),
    (REWRITE, "copy_tables", "after"),
    (REWRITE, "catch_up", "after"),
    (REWRITE, "lock_tables", "after"),
    (REWRITE, "_note_rewritten", "before"),  # swapped, and not committed
    (REWRITE, "_note_rewritten", "after"),
    (REWRITE, "swap_tables", "after"),
    (REWRITE, "rewrite_tables", "after"),
    (REWRITE, "find_in_statistics", "before"),
)


def delete(folder: Path, url: str, step: tuple[str, str, str]) -> None:
    """Delete Otto, and be killed at a step."""
    module, name, when = step
    place = importlib.import_module(module)
    usual: Callable[..., Any] = getattr(place, name)

    def killed(*args: Any, **options: Any) -> Any:
        if when == "after":
            usual(*args, **options)
        os.kill(os.getpid(), signal.SIGKILL)
        return None

    setattr(place, name, killed)
    if (
        name.startswith("rewrite") or name == "_rewrite_indexes"
    ):  # so that the steps are reached which a search that finds nothing spares
        purge = importlib.import_module(PURGE)
        search: Callable[..., Any] = purge.find_remains
        purge.find_remains = lambda *args: search(*args) or ("events_by_query",)  # type: ignore[attr-defined]
    with DataDirectory(folder, url).open() as store, ServiceFacade(store) as service:
        service.delete_people([OTTO])


@pytest.mark.parametrize("step", [*BOTH, *SQLITE], ids="-".join)
def test_a_deletion_that_is_killed_is_finished_in_a_file(step: tuple[str, str, str], tmp_path: Path) -> None:
    folder = tmp_path / "data"
    said = begin(folder, "", tmp_path)
    killed_at(step, folder, "")
    finish(folder, "", tmp_path, said)
    assert hits_in_folder(folder, said) == []


@pytest.mark.parametrize("step", [*BOTH, *POSTGRES], ids="-".join)
def test_a_deletion_that_is_killed_is_finished_in_a_database(
    step: tuple[str, str, str], tmp_path: Path, postgres: Cluster
) -> None:
    url = postgres.url()
    said = begin(tmp_path, url, tmp_path)
    killed_at(step, tmp_path, url)
    finish(tmp_path, url, tmp_path, said)
    assert hits_in_database(postgres, url, said) == []
    with psycopg.connect(url) as connection:
        left = connection.execute(
            "SELECT relname FROM pg_class WHERE relkind = 'r' AND relname LIKE '%\\_copy'"
            " AND relnamespace = current_schema()::regnamespace"
        ).fetchall()
    assert left == [], "a copy was left"


def begin(folder: Path, url: str, beside: Path) -> list[str]:
    with DataDirectory(folder, url).open() as store, ServiceFacade(store) as service:
        service.create("shop", SETTINGS)
        said = live(service, 30)
        (beside / "backup.db").touch()
        back_up(service, beside / "backup.db")
    return said


def back_up(service: ServiceFacade, path: Path) -> None:
    """A decision that says where a backup is, so that a note is written beside it."""
    decision = Decision(at=0.0, ranker=SERVICE, kind=BACKUP, body={"file": str(path)})
    write(service.store, lambda transaction: transaction.append(decision))


def killed_at(step: tuple[str, str, str], folder: Path, url: str) -> None:
    process = SPAWN.Process(target=delete, args=(folder, url, step))
    process.start()
    process.join(120)
    assert process.exitcode == -signal.SIGKILL, "the step was not reached"


def finish(folder: Path, url: str, beside: Path, said: list[str]) -> None:
    """The next process: what was committed is finished by itself, what was not is asked for again."""
    with DataDirectory(folder, url).open() as store, ServiceFacade(store) as service:
        service.finish_deletions()
        if not service.deletions():
            assert service.find_person(OTTO).lists == 10, "half of a deletion was done"
            service.delete_people([OTTO])
        (deleted,) = service.deletions()
        assert (deleted.done, deleted.lists, deleted.events) == (True, 10, 10)
        assert service.find_person(OTTO).lists == 0
        assert len(list(store.read_impressions("shop"))) == 20
        assert service.model("shop").lists == ServiceFacade(store).model("shop").lists
    notes = (beside / "backup.db.deletions").read_text()
    assert notes.count("\n") == 1
    assert not any(each in notes for each in said)
