"""Verification of a log: every entry can be read, digests are right, and the newest snapshot is the fold.

A list has the digest of the answer that was given, which is checked by making the list again; a snapshot and
its blocks have digests of their own; the accounts of exposure are summed up again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from rankloop.errors import RankloopError
from rankloop.policies.policy_names import PolicyKinds
from rankloop.service.core.extension import Registry
from rankloop.service.core.history import History
from rankloop.service.core.lists.replay import replay
from rankloop.service.service_errors import HistoryError
from rankloop.service.store import Impression, ImpressionHead, Snapshot, SnapshotDamaged, Store
from rankloop.service.store.impression_parts import list_totals

Step = Callable[[int], None]  # is told how many entries were looked at


def verify(
    store: Store,
    registry: Registry,
    policy_kinds: PolicyKinds,
    *,
    replays: int = 1000,
    step: Step = lambda _: None,
) -> Iterator[str]:
    """What is wrong with a log, in sentences; nothing, if all is well."""
    for ranker in store.list_rankers():
        history = History(ranker, store, registry, policy_kinds)
        yield from _guarded(
            f"the lists of {ranker!r}", partial(_lists, store, ranker, history, replays, step)
        )
        yield from _guarded(f"the events of {ranker!r}", partial(_events, store, ranker, step))
        yield from _guarded(f"the snapshots of {ranker!r}", partial(_snapshots, store, ranker))
        yield from _guarded(f"the model of {ranker!r}", partial(_model, store, ranker, history))


def size(store: Store) -> int:
    """How many entries `verify` looks at."""
    return sum(1 for ranker in store.list_rankers() for _ in store.read_entries(ranker, with_lists=True))


def _guarded(what: str, check: Callable[[], Iterator[str]]) -> Iterator[str]:
    """The findings of a check; one that cannot go on is a finding, too."""
    try:
        yield from check()
    except Exception as error:  # a damaged file may fail in any way, and never with a traceback
        yield f"{what} cannot be checked any further: {_said(error)}"


def _lists(store: Store, ranker: str, history: History, replays: int, step: Step) -> Iterator[str]:
    """Every list can be read, the newest are made again, and the accounts are the sums of all."""
    shown = [each for each in store.read_entries(ranker, with_lists=True) if isinstance(each, ImpressionHead)]
    newest = {each.seq for each in shown[len(shown) - min(replays, len(shown)) :]}
    found, whole = list[object](), True
    for each in shown:
        name = f"list {each.query_id!r} (entry {each.seq:,} of {ranker!r})"
        step(1)
        try:
            impression = store.find_impression(each.query_id)
            if impression is None:
                yield f"{name} has lost what it holds"
                whole = False
                continue
            found.append(impression)
            if each.seq in newest and not _again(impression, history, store):
                yield f"{name} is not the one that was shown"
        except HistoryError:
            continue  # its past is not kept any more
        except Exception as error:  # whatever a damaged list does
            yield f"{name} cannot be read: {_said(error)}"
            whole = False
    totals = store.parts.sum_totals([*found, *store.read_decisions(ranker)])
    if whole and list_totals(totals, ranker) != list(store.read_totals(ranker)):
        yield f"the totals of parts of {ranker!r} are not the sums over its lists"


def _again(shown: Impression, history: History, store: Store) -> bool:
    """Whether a list can be made again to the bit, or cannot since its model knew what was deleted."""
    deleted = store.read_decisions(shown.ranker, kinds=("delete",))
    if any(int(each.body["first"]) <= shown.model < each.seq for each in deleted):
        return True
    return replay(shown, history).identical


def _events(store: Store, ranker: str, step: Step) -> Iterator[str]:
    lists = {
        each.seq for each in store.read_entries(ranker, with_lists=True) if isinstance(each, ImpressionHead)
    }
    base = max(
        (int(each.body["base"]) for each in store.read_decisions(ranker, kinds=("retain",))), default=0
    )
    for event in store.read_events(ranker):
        step(1)
        if event.list_seq is not None and event.list_seq > base and event.list_seq not in lists:
            name = f"event {event.event_id!r} (entry {event.seq:,} of {ranker!r})"
            yield f"{name} is about a list that is not there"


def _snapshots(store: Store, ranker: str) -> Iterator[str]:
    for seq, _ in store.list_snapshots(ranker):
        try:
            store.load_latest(ranker, until=seq)
        except SnapshotDamaged as error:
            yield f"the snapshot of entry {seq:,} of {ranker!r} is damaged: {_said(error)}"


def _model(store: Store, ranker: str, history: History) -> Iterator[str]:
    """The newest snapshot is what the fold of the log from its beginning gives."""
    base = history.first_entry()
    seqs = [seq for seq, _ in store.list_snapshots(ranker) if seq > base]
    if not seqs:
        return
    kept = store.load_latest(ranker, until=seqs[-1])
    if kept is None:
        return
    from_log = History(ranker, store, history.registry, history.policy_kinds, uses_snapshots=False)
    if not same(kept, from_log.rebuild(from_log.spec(kept.seq), kept.seq).snapshot()):
        name = f"the newest snapshot of {ranker!r}, of entry {kept.seq:,},"
        yield f"{name} is not what the fold of its log gives"


def same(one: Snapshot, other: Snapshot) -> bool:
    """Whether two snapshots say the same, to the bit."""
    names = ("version", "lists", "width", "refused", "skips_learned_since")
    mine, theirs = one.body["learned"], other.body["learned"]
    if one.body["without"] != other.body["without"] or any(mine[name] != theirs[name] for name in names):
        return False
    return one.arrays.keys() == other.arrays.keys() and all(
        value.tobytes() == other.arrays[name].tobytes() for name, value in one.arrays.items()
    )


def _said(error: Exception) -> str:
    return str(error) if isinstance(error, RankloopError) else f"{type(error).__name__}: {error}"
