"""`kill -9` at any moment loses nothing that was acknowledged, and doubles nothing; also while compacting."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from rankloop.store import SqliteStore

KILLS = 20


def test_what_was_acknowledged_survives_being_killed(tmp_path: Path) -> None:
    acknowledged: list[str] = []
    moments = np.random.default_rng(0).exponential(0.03, KILLS)
    for number, moment in enumerate(moments):
        acknowledged += killed_after(tmp_path / "log.db", f"run{number}", float(moment))
        with SqliteStore(tmp_path / "log.db") as store:
            found = [event.event_id for event in store.events("shop")]
        assert len(set(found)) == len(found), "an event is there twice"
        assert set(acknowledged) <= set(found), "an acknowledged event is lost"
    assert len(acknowledged) > KILLS


def killed_after(path: Path, name: str, seconds: float) -> list[str]:
    """What a process acknowledged before it was killed, a while after its first acknowledgement."""
    script = Path(__file__).with_name("writer.py")
    process = subprocess.Popen([sys.executable, script, path, name], stdout=subprocess.PIPE, encoding="utf-8")
    assert process.stdout is not None
    first = process.stdout.readline()
    time.sleep(seconds)
    process.kill()
    rest = process.stdout.read()
    process.stdout.close()
    process.wait()
    lines = (first + rest).splitlines(keepends=True)
    return [line.strip() for line in lines if line.endswith("\n")]
