"""A person deleted from a served folder: no file has a byte of them, and the model never saw them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from rankloop.candidate import Candidate
from rankloop.cli import people_commands as people
from rankloop.client import Client
from rankloop.service.operations.data_directory import DataDirectory
from rankloop.service.service_facade import ServiceFacade
from rankloop.service.store import Store, open_temporary_store
from rankloop.service.store.log_archive import export_log, import_log
from tests.support.serving import Process

HIS = "client-0b5e1d77"
SESSION = "session-77c1a0"


def test_a_deleted_client_is_in_no_file_of_the_folder_and_the_model_equals_one_that_never_saw_them(
    tmp_path: Path,
) -> None:
    folder, rng = tmp_path / "data", np.random.default_rng(0)
    with Process(folder, "--window", "0.05", "--quiet") as process:
        with Client(process.url, process.keys["admin"], timeout=60) as client:
            for number in range(60):
                features = [{"a": float(a), "b": float(b)} for a, b in rng.normal(size=(6, 2))]
                items = [Candidate(f"d{i}", each) for i, each in enumerate(features)]
                his = number % 4 == 0
                who, session = (HIS, SESSION) if his else (f"other-{number}", "")
                shown = client.rank(items, k=5, client_id=who, session_id=session)
                client.click(shown, shown.object_ids[int(rng.integers(5))], client_id=who)
            assert client.find_person(client_id=HIS)["lists"] == 15
        process.kill()
        assert any(HIS.encode() in path.read_bytes() for path in folder.iterdir())
        with DataDirectory(folder).open() as log:
            expected = without(log, tmp_path)
        process.start()
        people.delete(client=HIS, reason="asked for", url=process.url, key=process.keys["admin"])
        assert found_in(folder) == []  # while it serves
        with process.client("admin") as asked:
            rows = asked.get("/v1/decisions", params={"kind": "delete"}).json()
            assert [(row["who"], row["why"]) for row in rows if not row["ranker"]] == [("admin", "asked for")]
        assert process.stop() == 0
        assert found_in(folder) == []
    with DataDirectory(folder).open() as log:
        assert weights(log) == expected


def found_in(folder: Path) -> list[str]:
    """The files that hold one of his ids, by their raw bytes."""
    files = {path.name: path.read_bytes() for path in folder.iterdir()}
    return [name for name, raw in files.items() if HIS.encode() in raw or SESSION.encode() in raw]


def without(log: Store, folder: Path) -> dict[str, bytes]:
    """What a service learns from this log if his lists and events are not in it."""
    export_log(log, folder / "all.jsonl")
    lines = (folder / "all.jsonl").read_text().splitlines(keepends=True)
    kept = [line for line in lines if HIS not in line and '"entry": "snapshot"' not in line]
    (folder / "kept.jsonl").write_text("".join(kept))
    other = open_temporary_store()
    import_log(folder / "kept.jsonl", other)
    return weights(other)


def weights(log: Store) -> dict[str, bytes]:
    """All lists closed, then what was learned."""
    service = ServiceFacade(log)
    service.flush("default")
    return {name: value.tobytes() for name, value in service.model("default").policy.state().items()}


def test_a_deletion_that_is_pending_says_behind_whom(capsys: pytest.CaptureFixture[str]) -> None:
    blocker = {"pid": 4711, "application": "nightly report", "since": None}
    found = {"lists": 2, "events": 1, "done": False, "blockers": [blocker], "backups": []}
    people.say(found)
    said = " ".join(capsys.readouterr().out.split())
    assert said.startswith("2 lists and 1 event deleted; the deletion is pending until nightly report")
    people.say({**found, "done": True, "blockers": []})
    assert "a search found nothing" in " ".join(capsys.readouterr().out.split())
