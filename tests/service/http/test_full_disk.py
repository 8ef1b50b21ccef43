"""A disk that is full: what cannot be written is refused, nothing acknowledged is lost, and it recovers."""

from __future__ import annotations

import contextlib
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from rankloop.service.http import HttpSettings
from rankloop.service.service_facade import ServiceFacade
from rankloop.service.store import COUNTED, SqliteStore
from tests.support.serving import alive, click, request


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """Four megabytes in memory, if this user may mount something."""
    folder = tmp_path / "disk"
    folder.mkdir()
    made = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(folder)], capture_output=True, check=False
    )
    if made.returncode:
        pytest.skip("mounting a small disk needs root")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


def fill(path: Path) -> None:
    """Write until there is no space left."""
    with contextlib.suppress(OSError), path.open("wb", buffering=0) as file:
        while file.write(bytes(4096)):
            pass


def test_what_a_full_disk_cannot_take_is_refused_and_nothing_acknowledged_is_lost(small_disk: Path) -> None:
    with SqliteStore(small_disk / "log.db") as store:
        service = ServiceFacade(store)
        service.create("default")
        with alive(service, HttpSettings(deadline=30.0, patience=30.0)) as live:
            query = live["rank"].post("/v1/rank", json=request()).json()["query_id"]

            def sent(number: int) -> tuple[int, list[str]]:
                names = [f"e{number}-{each}" for each in range(50)]
                events = [click(query, f"d{row % 3}", event_id=name) for row, name in enumerate(names)]
                return live["rank"].post("/v1/events", json={"events": events}).status_code, names

            status, acknowledged = sent(0)
            assert status == 200
            filler = small_disk / "filler"
            fill(filler)
            statuses = []
            for number in range(1, 60):
                status, names = sent(number)
                statuses.append(status)
                acknowledged += names if status == 200 else []
                if statuses[-3:] == [503] * 3:
                    break
            assert set(statuses) <= {200, 503}
            assert statuses[-1] == 503
            assert live["rank"].post("/v1/rank", json=request()).status_code == 200  # lists go on
            filler.unlink()
            status, names = sent(100)
            assert status == 200
            acknowledged += names
    with SqliteStore(small_disk / "log.db") as again:
        counted = [each.event_id for each in again.read_events("default") if each.verdict in COUNTED]
        assert sorted(counted) == sorted(acknowledged)
        assert ServiceFacade(again).health().ok
