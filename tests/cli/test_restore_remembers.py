"""People who were deleted after a backup was made are not back when it is restored."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from rankloop.candidate import Candidate
from rankloop.cli.log_commands import backup, findings, restore
from rankloop.errors import DataError
from rankloop.service import RankerSettings, UserEvent
from rankloop.service.operations.data_directory import DataDirectory
from rankloop.service.operations.deletion_notes import notes_of
from rankloop.service.service_facade import ServiceFacade
from rankloop.service.store import Person
from tests.support.limits import keep_snapshots_every
from tests.support.postgres import Cluster
from tests.support.raw_bytes import hits_in_database, hits_in_folder

frequent_snapshots = keep_snapshots_every(10)

OTTO = Person(client_id="client-of-otto-4711")
ANNA = Person(session_id="session-of-anna-12")
IDS = (OTTO.client_id, "query-of-otto", "event-of-otto", ANNA.session_id)


def live(service: ServiceFacade, rounds: int) -> None:
    """Otto, Anna and others ask and click; Otto also clicks in lists of others."""
    rng = np.random.default_rng(rounds)
    for number in range(rounds):
        name = ("otto", "anna", "other")[number % 3]
        shown = service.rank(
            [
                Candidate(f"d{i}", {"a": float(a), "b": float(b)})
                for i, (a, b) in enumerate(rng.normal(size=(4, 2)))
            ],
            ranker="shop",
            user_query=f"query-of-{name}",
            client_id=OTTO.client_id if name == "otto" else f"client-{number}",
            session_id=ANNA.session_id if name == "anna" else f"session-{number}",
        )
        clicks = [UserEvent(shown.query_id, "d1", event_id=f"event-of-{name}-{number}")]
        if number % 5 == 2:
            clicks.append(UserEvent(shown.query_id, "d2", client_id=OTTO.client_id))
        service.record(clicks)
    service.flush("shop")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder from which people were deleted since backups were made; these lie beside it."""
    path = tmp_path / "data"
    with DataDirectory(path).open() as log, ServiceFacade(log) as service:
        service.create("shop", RankerSettings(window=1.0))
        live(service, 60)
        for name in ("monday.db", "monday.jsonl"):
            backup(tmp_path / name, data_dir=path)
        live(service, 6)
        assert service.delete_people([OTTO], reason="as they asked").done
        assert service.delete_people([ANNA]).done
    return path


def nobody_is_back(path: Path, store: str = "") -> None:
    with DataDirectory(path, store).open() as log, ServiceFacade(log) as service:
        for person in (OTTO, ANNA):
            found = service.find_person(person)
            assert (found.lists, found.events) == (0, 0)
        deletions = service.deletions()
        assert [each.done for each in deletions] == [True, True]
        assert [each.why for each in service.decided(kind="delete")].count("as they asked") == 1
        assert len(list(log.read_impressions("shop"))) == 20, "lists of others are gone"
        live(service, 3)
    assert findings(path, store, 0) == []


def test_a_backup_that_takes_the_place_of_a_log_forgets_whom_that_forgot(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    notes_of(tmp_path / "monday.db").unlink()  # the log knows
    capsys.readouterr()
    restore(tmp_path / "monday.db", data_dir=folder, overwrite=True)
    assert "from before 2 deletions" in " ".join(capsys.readouterr().out.split())
    assert hits_in_folder(folder, IDS) == []
    nobody_is_back(folder)
    restore(tmp_path / "monday.db", data_dir=folder, overwrite=True)  # also the next time
    nobody_is_back(folder)


@pytest.mark.parametrize("name", ["monday.db", "monday.jsonl"])
def test_a_note_beside_a_backup_says_whom_to_delete_again(folder: Path, tmp_path: Path, name: str) -> None:
    del folder
    notes = notes_of(tmp_path / name).read_text()
    assert not any(each in notes for each in IDS)
    restore(tmp_path / name, data_dir=tmp_path / "new")
    assert hits_in_folder(tmp_path / "new", IDS) == []
    nobody_is_back(tmp_path / "new")


def test_a_note_is_kept_to_in_a_database_too(folder: Path, tmp_path: Path, postgres: Cluster) -> None:
    del folder
    url = postgres.url()
    restore(tmp_path / "monday.jsonl", data_dir=tmp_path / "keys", store=url)
    assert hits_in_database(postgres, url, IDS) == []
    nobody_is_back(tmp_path / "keys", url)


def test_a_note_that_is_damaged_and_a_log_that_cannot_be_read_are_named(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "log.db").write_bytes(b"no log" * 1000)
    restore(tmp_path / "monday.db", data_dir=folder, overwrite=True)
    assert "could not be read" in " ".join(capsys.readouterr().err.split())
    nobody_is_back(folder)  # the note knew
    notes_of(tmp_path / "monday.db").write_text("{")
    with pytest.raises(DataError, match=r"monday\.db\.deletions is damaged"):
        restore(tmp_path / "monday.db", data_dir=folder, overwrite=True)


def test_a_deletion_does_not_remove_others_from_a_backup(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the notes, and without the log, everybody is back: the hashes alone say who goes."""
    del folder
    notes_of(tmp_path / "monday.db").unlink()
    restore(tmp_path / "monday.db", data_dir=tmp_path / "new")
    with DataDirectory(tmp_path / "new").open() as log, ServiceFacade(log) as service:
        assert service.find_person(OTTO).lists == service.find_person(ANNA).lists == 20
