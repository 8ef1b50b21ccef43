"""rankloop retain: deletes the old part of a log, and says what that brought."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from rankloop.candidate import Candidate
from rankloop.service import RankerSettings, UserEvent
from rankloop.service.operations.data_directory import DataDirectory
from rankloop.service.operations.retention import RetentionSettings
from rankloop.service.service_facade import ServiceFacade
from tests.cli.test_cli import asked, rankloop
from tests.support.limits import keep_snapshots_every

frequent_snapshots = keep_snapshots_every(10)

DAY = 86_400.0
LONG_AGO = 1_700_000_000.0
FEATURES = [(name, {name: 1.0}) for name in "abcdefghij"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder of a service that was used for ten days, some years ago."""
    now, rng = LONG_AGO, np.random.default_rng(0)
    with DataDirectory(tmp_path).open() as store:
        service = ServiceFacade(store, clock=lambda: now)
        service.create("shop", RankerSettings())
        for _ in range(200):
            now += DAY / 20
            titles = [rng.bytes(100).hex() for _ in "abcdefghij"]  # most of the file is lists
            mugs = [Candidate(*each, title=title) for each, title in zip(FEATURES, titles, strict=True)]
            shown = service.rank(mugs, ranker="shop")
            service.record([UserEvent(shown.query_id, "b")])
            service.flush("shop")
        service.close()
    return tmp_path


def test_what_is_old_goes_and_what_was_learned_stays(folder: Path) -> None:
    before = (folder / "log.db").stat().st_size
    said = rankloop("retain", "--data-dir", str(folder), "--ranker", "shop", "--days", "1")
    assert "shop: " in said
    assert "entries deleted" in said
    assert "given back to the disk" in said
    assert (folder / "log.db").stat().st_size < before
    with DataDirectory(folder).open() as store:
        assert ServiceFacade(store).model("shop").lists == 200
    again = asked("retain", "--data-dir", str(folder), "--ranker", "shop", "--days", "9999999")
    assert "nothing deleted" in again


def test_a_folder_in_use_or_without_a_log_is_refused(folder: Path, tmp_path: Path) -> None:
    with DataDirectory(folder).open():
        refused = rankloop("retain", "--data-dir", str(folder), "--ranker", "shop", "--days", "1", expect=2)
        assert "in use" in refused
    nowhere = asked("retain", "--data-dir", str(tmp_path / "none"), "--days", "1", expect=2)
    assert "holds no log" in nowhere
    unknown = asked("retain", "--data-dir", str(folder), "--ranker", "shp", "--days", "1", expect=2)
    assert "did you mean 'shop'" in unknown


def test_by_size_the_oldest_goes_until_it_fits_and_what_was_learned_stays(folder: Path) -> None:
    with DataDirectory(folder).open() as store:
        service = ServiceFacade(store)
        learned, before = service.model("shop"), store.measure_size()
        most = before * 0.8 / 1e9
        found = service.shrink("shop", gigabytes=most, by="anna")
        assert found.entries
        assert store.measure_size() <= most * 1e9
        again = ServiceFacade(store).model("shop")
        assert (again.version, again.lists) == (learned.version, learned.lists)
        for name, value in learned.policy.state().items():
            assert value.tobytes() == again.policy.state()[name].tobytes()
        assert service.shrink("shop", gigabytes=most).entries == 0  # it fits


def test_a_service_keeps_to_its_settings_by_itself(folder: Path) -> None:
    with DataDirectory(folder).open() as store:
        service = ServiceFacade(store, retention=RetentionSettings(days=1))
        service.upkeep()
        assert service.decided(kind="retain")[0].why == "older than 1 days"
        service = ServiceFacade(
            store, retention=RetentionSettings(gigabytes=store.measure_size() * 0.9 / 1e9)
        )
        service.upkeep()
        assert service.decided(kind="retain", last=5)
