"""Laws of snapshots: the right one is found, to the bit, and old ones are thinned."""

from __future__ import annotations

from rankloop.service.store.log_records import Decision
from rankloop.service.store.snapshot_thinning import protected_by, superfluous
from rankloop.service.store.store import Store, write
from tests.support.log_samples import SNAPSHOT, keep, put, same_arrays


def test_a_snapshot_comes_back_to_the_bit(store: Store) -> None:
    """Its body and its arrays, small and large."""
    keep(store)
    found = store.load_latest("shop")
    assert found is not None
    assert found.body == SNAPSHOT.body, "a snapshot's body comes back"
    assert same_arrays(found.arrays, SNAPSHOT.arrays), "a snapshot's arrays come back to the bit"


def test_the_latest_snapshot_that_fits_is_found(store: Store) -> None:
    """By entry or by time; of the same entry, the one that was kept last."""
    for seq, at in ((3, 12.0), (5, 20.0), (9, 30.0), (5, 20.0)):
        keep(store, seq=seq, at=at, body={"version": seq})
    keep(store, seq=5, at=20.0, body={"version": "second"})
    expected = [(3, 12.0), (5, 20.0), (9, 30.0)]
    assert [tuple(each) for each in store.list_snapshots("shop")] == expected, "snapshots are listed in order"
    inside = write(store, lambda transaction: transaction.list_snapshots("shop"))
    assert [tuple(each) for each in inside] == expected, "a job sees the same snapshots"
    found = (
        store.load_latest("shop"),
        store.load_latest("shop", until=8),
        store.load_latest("shop", before=20.0),
        store.load_latest("shop", until=2),
        store.load_latest("other"),
    )
    bodies = [each and each.body["version"] for each in found]
    assert bodies == [9, "second", "second", None, None], "the latest snapshot that fits is found"


def test_old_snapshots_are_thinned(store: Store) -> None:
    """By the rule of `superfluous`, but for those where the log begins."""
    put(store, Decision(at=1.0, ranker="shop", kind="retain", body={"base": 20}))
    left: list[int] = []
    for seq in range(10, 400, 10):
        keep(store, seq=seq, at=float(seq), arrays={})
        left.append(seq)
        gone = superfluous(
            left, protected=protected_by(store.read_decisions("shop", kinds=("retain",)), left)
        )
        left = [each for each in left if each not in gone]
    assert {20, 30} <= set(left), "the base and the next snapshot are protected"
    assert [seq for seq, _ in store.list_snapshots("shop")] == left, "old snapshots are thinned"


def test_snapshots_can_be_dropped(store: Store) -> None:
    """Those before an entry, of one name, and no others."""
    for seq in (3, 5, 9):
        keep(store, seq=seq, at=float(seq))
    keep(store, seq=3, at=3.0, ranker="other")
    write(store, lambda transaction: transaction.delete_snapshots("shop", before=9))
    assert [tuple(each) for each in store.list_snapshots("shop")] == [(9, 9.0)], "snapshots can be dropped"
    assert [tuple(each) for each in store.list_snapshots("other")] == [(3, 3.0)], "those of others stay"
    found = store.load_latest("shop")
    assert found is not None
    assert same_arrays(found.arrays, SNAPSHOT.arrays), "what is left is whole"


def test_what_a_base_names_need_not_be_there(store: Store) -> None:
    """A retain decision may name a snapshot that is gone."""
    put(store, Decision(at=1.0, ranker="shop", kind="retain", body={"base": 7}))
    keep(store, seq=9, at=1.0, body={}, arrays={})
    assert list(store.list_snapshots("shop")) == [(9, 1.0)]
