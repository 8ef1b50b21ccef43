"""A short life of a marketplace over HTTP, with a restart and a kill: its account was kept."""

from __future__ import annotations

from pathlib import Path

from benchmarks.fair_life import Operator, live
from benchmarks.fair_verdict import verdict

BATCH = 24


def test_the_account_is_the_sum_of_the_log_and_every_list_is_made_again(tmp_path: Path) -> None:
    tally = live(tmp_path / "data", BATCH * (len(Operator.ACTS) - 1), batch=BATCH)
    assert tally.troubles == []
    assert min(tally.reloads, tally.pages) > 0
    found = verdict(tmp_path / "data" / "log.db", tally.shown)
    assert found.kept, list(found.lines())
    assert found.lists >= BATCH * 6
    assert found.missed <= 0.2 * found.looked_at + 1
