"""Several processes behind one port: they are one service, and one that dies is replaced."""

from __future__ import annotations

import os
import signal
from pathlib import Path

from tests.support.serving import Process, click, request
from tests.support.waiting import wait_until


def workers_of(pid: int) -> list[int]:
    """The processes that were started by one, and serve."""
    found = []
    for folder in Path("/proc").iterdir():
        try:
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            if parent == pid and "spawn_main" in (folder / "cmdline").read_text():
                found.append(int(folder.name))
        except (ValueError, OSError):
            continue
    return found


def test_workers_on_a_file_are_one_service_and_one_that_dies_is_replaced(tmp_path: Path) -> None:
    with Process(tmp_path / "data", "--workers", "2", "--window", "1") as process:
        assert process._process is not None
        parent = process._process.pid

        def clicked() -> None:
            with (
                process.client("rank") as one,
                process.client("rank") as other,
            ):  # perhaps not the same worker
                verdict = "late"
                while verdict == "late":  # a busy machine took longer than the window: the next list
                    shown = one.post("/v1/rank", json=request()).json()
                    sent = {"events": [click(shown["query_id"], "d3")]}
                    verdict = other.post("/v1/events", json=sent).json()["receipts"][0]["verdict"]
                assert verdict == "accepted"

        def learned() -> int:
            with process.client("admin") as client:
                return int(client.get("/v1/models").json()["lists"])

        clicked()
        first = workers_of(parent)
        assert len(first) == 2
        os.kill(first[0], signal.SIGKILL)
        wait_until(lambda: len(set(workers_of(parent)) - {first[0]}) == 2)
        clicked()
        wait_until(lambda: learned() == 2)
        assert process.stop() == 0
        assert "stopped: everything is kept" in process.printed
    assert not workers_of(parent)
