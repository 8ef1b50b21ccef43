"""Group commit: who waits for whom, and who never does."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from rankloop.service.store import Job, StoreBusy, StoreError, group_commit
from rankloop.service.store.group_commit import GroupCommitter, Outcome


class Disk:
    """Writes groups of jobs when it is told to."""

    def __init__(self) -> None:
        self.go, self.busy = threading.Event(), threading.Event()
        self.groups: list[int] = []

    def transact(self, jobs: Sequence[Job[Any]]) -> Sequence[Outcome]:
        self.busy.set()
        assert self.go.wait(60)
        self.groups.append(len(jobs))
        return [(number, None) for number, _ in enumerate(jobs)]


@pytest.fixture
def disk() -> Iterator[Disk]:
    found = Disk()
    yield found
    found.go.set()


def test_a_full_queue_refuses_at_once_and_holds_nobody_up(
    disk: Disk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(group_commit, "LONGEST_QUEUE", 3)
    committer = GroupCommitter(disk.transact, name="writer")
    first = committer.submit(lambda _: None)
    assert disk.busy.wait(60)  # and stuck
    futures = [committer.submit(lambda _: None) for _ in range(3)]
    for _ in range(2):  # not a deadlock, the second time either
        with pytest.raises(StoreBusy, match="3 jobs wait to be written"):
            committer.submit(lambda _: None)
    assert committer.waiting() == 3
    disk.go.set()
    assert [future.result(60) for future in (first, *futures)] == [0, 0, 1, 2]
    assert committer.submit(lambda _: None).result(60) == 0
    committer.close()
    with pytest.raises(StoreError, match="closed"):
        committer.submit(lambda _: None)


def test_what_nobody_waits_for_shares_a_transaction_with_what_somebody_does(
    disk: Disk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(group_commit, "LINGER", 60.0)
    disk.go.set()
    committer = GroupCommitter(disk.transact, name="writer")
    leisurely = [committer.submit(lambda _: None, urgent=False) for _ in range(5)]
    assert not any(future.done() for future in leisurely)
    assert committer.submit(lambda _: None).result(30) == 5  # it has overtaken nothing
    assert all(future.done() for future in leisurely)
    assert disk.groups == [6]
    committer.close()


def test_what_nobody_waits_for_is_written_all_the_same(disk: Disk) -> None:
    disk.go.set()
    committer = GroupCommitter(disk.transact, name="writer")
    assert committer.submit(lambda _: None, urgent=False).result(60) == 0
    later = committer.submit(lambda _: None, urgent=False)
    committer.close()
    assert later.done()


def test_a_job_can_be_cancelled_until_it_is_begun_and_then_it_has_never_been(disk: Disk) -> None:
    def transact(jobs: Sequence[Job[Any]]) -> Sequence[Outcome]:
        disk.transact(jobs)
        return [outcome(job) for job in jobs]

    def outcome(job: Job[Any]) -> Outcome:
        try:
            return job(None), None  # type: ignore[arg-type]
        except Exception as error:
            return None, error

    committer, done = GroupCommitter(transact, name="writer"), list[str]()
    first = committer.submit(lambda _: done.append("first"))
    assert disk.busy.wait(60)  # its group waits for the disk
    second = committer.submit(lambda _: done.append("second"))
    assert first.cancel()
    disk.go.set()
    second.result(60)
    assert done == ["second"]
    assert not second.cancel()
    committer.close()
