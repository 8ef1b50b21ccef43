"""Snapshots: thinned by one rule, sharing what they have in common, and honest about damage."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from math import log2
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankloop.service.store import SnapshotDamaged, SqliteStore, StoreError
from rankloop.service.store.snapshot_thinning import NEWEST, superfluous
from rankloop.types import Array
from tests.support.log_samples import keep

GAPS = st.lists(st.integers(1, 500), min_size=1, max_size=120)


@pytest.fixture
def sqlite(tmp_path: Path) -> Iterator[SqliteStore]:
    with SqliteStore(tmp_path / "log.db") as store:
        yield store


def thinned(entries: list[int], protected: frozenset[int] = frozenset()) -> list[int]:
    """The snapshots that are left after each of these was kept in turn."""
    kept: list[int] = []
    for entry in entries:
        kept.append(entry)
        gone = superfluous(kept, protected=protected)
        kept = [each for each in kept if each not in gone]
    return kept


@given(GAPS)
def test_rebuilding_a_version_folds_no_more_than_came_after_it(gaps: list[int]) -> None:
    entries = np.cumsum(gaps).tolist()
    kept = thinned(entries)
    assert kept[-NEWEST:] == entries[-NEWEST:]
    for older, younger in pairwise([0, *kept]):
        never = not any(older < entry < younger for entry in entries)
        assert never or younger - older <= entries[-1] - younger
    assert thinned(kept) == kept


@given(GAPS, st.data())
def test_what_is_protected_stays(gaps: list[int], data: st.DataObject) -> None:
    entries = np.cumsum(gaps).tolist()
    protected = frozenset(data.draw(st.sets(st.sampled_from(entries), max_size=3)))
    assert protected <= set(thinned(entries, protected))


def test_few_are_left_of_many() -> None:
    many = 5000
    assert len(thinned(list(range(200, 200 * many, 200)))) <= NEWEST + 2 * log2(many)


def state(step: int) -> dict[str, Array]:
    """A small vector that always changes, and a large memory with one slot more."""
    memory = np.zeros((64, 40, 50))
    for slot in range(step):
        memory[slot] = slot + 1
    return {"weights": np.full(8, float(step)), "memory": memory, "seeds": np.arange(step)}


def test_snapshots_share_what_did_not_change(sqlite: SqliteStore) -> None:
    for step in range(1, 6):
        keep(sqlite, seq=step, at=float(step), arrays=state(step))
    blocks, stored = sqlite.source.run(
        "SELECT (SELECT count(*) FROM blocks), (SELECT sum(length(data)) FROM blocks)"
    )[0]
    assert blocks == 1 + 5  # four slots each: one that is empty, and one that was written at each step
    assert stored == blocks * 4 * 40 * 50 * 8 < state(1)["memory"].nbytes
    for step in range(1, 6):
        found = sqlite.load_latest("shop", until=step)
        assert found is not None
        assert list(found.arrays) == ["weights", "memory", "seeds"]
        for name, value in state(step).items():
            assert found.arrays[name].tobytes() == value.tobytes()
            assert (found.arrays[name].dtype, found.arrays[name].shape) == (value.dtype, value.shape)
            assert found.arrays[name].flags.writeable


def test_blocks_go_with_the_last_snapshot_that_has_them(sqlite: SqliteStore) -> None:
    rng = np.random.default_rng(0)
    common = rng.random((100, 200))
    for seq in range(1, 200):
        keep(sqlite, seq=seq, at=0.0, arrays={"own": rng.random(10_000), "common": common})
    kept = len(sqlite.list_snapshots("shop"))
    assert sqlite.source.run("SELECT count(DISTINCT block) FROM snapshot_blocks") == sqlite.source.run(
        "SELECT count(*) FROM blocks"
    )
    assert sqlite.source.run("SELECT count(*) FROM blocks") == [(2 * kept + 3,)]
    keep(sqlite, seq=199, at=0.0, arrays={})  # in place of the newest
    assert sqlite.source.run("SELECT count(*) FROM blocks") == [(2 * kept + 1,)]


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE snapshots SET body = '{' WHERE seq = 2",
        "UPDATE snapshots SET arrays = x'00' WHERE seq = 2",
        "UPDATE snapshots SET layout = '[[], []]' WHERE seq = 2",
        "DELETE FROM blocks WHERE digest = (SELECT max(digest) FROM blocks)",
        "UPDATE blocks SET data = zeroblob(length(data)) WHERE digest = (SELECT max(digest) FROM blocks)",
    ],
)
def test_a_damaged_snapshot_is_named_and_the_one_before_it_is_found(sqlite: SqliteStore, damage: str) -> None:
    keep(sqlite, seq=1, at=1.0, arrays={"parameters": np.arange(3.0)})
    keep(sqlite, seq=2, at=2.0, arrays={"parameters": np.arange(1e5)})
    sqlite._writer.execute(damage)
    with pytest.raises(SnapshotDamaged, match="snapshot of 'shop' at entry 2 is damaged"):
        sqlite.load_latest("shop")
    assert list(sqlite.list_snapshots("shop")) == [(1, 1.0), (2, 2.0)]
    found = sqlite.load_latest("shop", until=1)
    assert found is not None
    assert found.arrays["parameters"].tolist() == [0.0, 1.0, 2.0]
    keep(sqlite, seq=2, at=2.0, arrays={"parameters": np.arange(1e5)})  # it can be made again
    mended = sqlite.load_latest("shop")
    assert mended is not None
    assert mended.arrays["parameters"].tolist() == np.arange(1e5).tolist()


def test_a_file_in_trouble_is_not_taken_for_a_damaged_snapshot(sqlite: SqliteStore) -> None:
    keep(sqlite, seq=1, at=1.0)
    sqlite._writer.execute("ALTER TABLE snapshots RENAME TO away")
    with pytest.raises(StoreError, match="cannot be read") as raised:
        sqlite.load_latest("shop")
    assert not isinstance(raised.value, SnapshotDamaged)
