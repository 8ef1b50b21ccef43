"""The log's time: what it owes to the clock, and what it does when the clock goes wrong."""

from __future__ import annotations

from itertools import accumulate, pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st

from rankloop.service.store import SqliteStore, Transaction, write
from rankloop.service.store.log_clock import GRACE, Head
from tests.support.log_samples import event

SECONDS = st.integers(0, 10**6).map(float)
STEPS = st.lists(st.integers(1, 5000).map(float), min_size=1, max_size=20)


@st.composite
def lives(draw: st.DrawFn) -> list[tuple[float, bool]]:
    """Readings of a clock that jumps to and fro, and whether something is written at each."""
    steps = draw(st.lists(st.tuples(st.integers(-5000, 5000), st.booleans()), min_size=1, max_size=25))
    readings = accumulate((float(step) for step, _ in steps), initial=1e6)
    return list(zip(readings, (writes for _, writes in steps), strict=False))


def lived(head: Head, now: float, writes: bool) -> Head:
    """The end of the log after a reading, and perhaps an entry."""
    seen = head.observe(now)
    return seen.after(seen.seq + 1, seen.time(now)) if writes else seen


@given(lives())
def test_time_is_never_before_the_last_entry_nor_before_the_clock(life: list[tuple[float, bool]]) -> None:
    head = Head()
    for now, writes in life:
        at, before = head.time(now), head
        head = lived(head, now, writes)
        assert at == before.observe(now).time(now)  # whoever only reads the time is told the same
        assert at >= max(before.at, now)
        assert before.lag(now) == at - now
        if now >= before.at and before.anchor is None:
            assert at == now


@given(lives(), STEPS, st.booleans())
def test_when_the_clock_goes_on_so_does_the_log_and_no_faster(
    life: list[tuple[float, bool]], steps: list[float], writes: bool
) -> None:
    """Whatever happened before; only a moment's disorder may be waited for."""
    head = Head()
    for now, written in life:
        head = lived(head, now, written)
    times = []
    for reading in accumulate(steps, initial=life[-1][0]):
        head = lived(head, reading, writes)
        times.append((reading, head.time(reading)))
    for (one, at), (other, later) in pairwise(times):
        assert later - at <= other - one + 1e-6
        assert later - at >= (other - one - GRACE) / 2 - 1e-6


@given(lives(), STEPS, st.booleans())
def test_a_jump_back_is_made_up_for_within_twice_its_length(
    life: list[tuple[float, bool]], steps: list[float], writes: bool
) -> None:
    head = Head()
    for now, written in life:
        head = lived(head, now, written)
    start = life[-1][0]
    end = start + 2 * head.lag(start) + 2 * GRACE
    for reading in accumulate(steps, initial=start):
        if reading < end:
            head = lived(head, reading, writes)
    assert head.time(end) == end
    assert head.observe(end).anchor is None


@settings(max_examples=25, deadline=None)
@given(lives(), st.sets(st.integers(0, 25)))
def test_stores_processes_and_restarts_agree(life: list[tuple[float, bool]], restarts: set[int]) -> None:
    """A file that is opened again, and a second process on it, tell the time that the end of the log has."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "log.db"
        head, file, other = Head(), SqliteStore(path), SqliteStore(path)
        for number, (now, writes) in enumerate(life):
            if number in restarts:
                file.close()
                file = SqliteStore(path)
            written = write(other if number % 2 else file, lambda job: tell(job, now, number, writes))  # noqa: B023
            assert written == head.time(now) == head.observe(now).time(now)
            head = lived(head, now, writes)
            assert [each.time(now) for each in (file, other)] == [head.time(now)] * 2
            assert [each.lag(now) for each in (file, other)] == [head.lag(now)] * 2
        file.close()
        other.close()


def tell(transaction: Transaction, now: float, number: int, writes: bool) -> float:
    at = transaction.time(now)
    if writes:
        transaction.append(event(at=at, event_id=f"e{number}"))
    return at


def test_a_clock_that_is_right_costs_nothing(tmp_path: Path) -> None:
    with SqliteStore(tmp_path / "log.db") as store:
        for number in range(10):
            now = 1000.0 + number - 0.5 * (number % 2)  # as several threads read it
            write(store, lambda job: tell(job, now, number, writes=True))  # noqa: B023
            assert store.source.run("SELECT anchor_at, anchor_clock FROM head") == [(None, None)]
        write(store, lambda transaction: transaction.time(0.0))
        assert store.source.run("SELECT anchor_at, anchor_clock FROM head") == [(1008.5, 0.0)]
        write(store, lambda transaction: transaction.time(5000.0))
        assert store.source.run("SELECT anchor_at, anchor_clock FROM head") == [(None, None)]
