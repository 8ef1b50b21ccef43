"""The sums that a store keeps are those of a recount, whatever comes, goes, fails, or is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankloop.service.store import Job, SqliteStore, Traffic, Transaction, Verdict, write
from rankloop.service.store.postgres import PostgresStore
from rankloop.service.store.sql.bucket_ranks import ListRanks
from rankloop.service.store.sql.bucket_sums import (
    EVENT_SUMS,
    LARGE,
    LIST_SUMS,
    SMALL,
    WIDTH,
    Run,
    Sums,
    cover,
    find_summed,
)
from rankloop.service.store.sql.traffic_statistics import divide_lists, divide_time
from tests.service.store.slow_log import SlowLog
from tests.support.log_samples import event, impression

Database = SqliteStore | PostgresStore
VERDICTS: tuple[Verdict, ...] = ("accepted", "late", "ignored", "orphan", "duplicate")
NUMBERS = st.integers(0, 2**20)


def some_job(rng: np.random.Generator, step: int, at: float, before: SlowLog) -> Job[object]:
    """Lists and events with numbers far apart, as an import has them; removing; and jobs that fail."""
    ranker = ("shop", "news")[int(rng.random() < 0.2)]
    seq = before.seq + 1 + int(rng.integers(2 ** rng.integers(1, 18)))
    kind = rng.random()
    lists = [each.seq for each in before.read_impressions(ranker)]
    if kind < 0.1:
        return some_removal(rng, ranker, at, before, lists)
    settled = None if rng.random() < 0.3 else int(rng.integers(4))
    own = {"fallback": "slow" if rng.random() < 0.2 else "", "cost": float(rng.random()), "settled": settled}
    if kind < 0.4:
        shown = impression(seq=seq, at=at, ranker=ranker, query_id=f"q{step}", explored=step % 5, **own)
        return lambda transaction: transaction.append(shown)
    if kind < 0.5:
        shown = impression(at=at, ranker=ranker, query_id=f"q{step}", **own)
        return lambda transaction: transaction.append_all([shown, shown])  # the second is refused
    is_matched = bool(lists) and rng.random() < 0.8
    done = event(
        seq=seq,
        at=at,
        event_id=f"e{step}",
        ranker=ranker if is_matched else "",
        verdict=VERDICTS[rng.integers(len(VERDICTS))],
        list_seq=int(rng.choice(lists)) if is_matched else None,
        position=int(rng.integers(1, 9)) if rng.random() < 0.9 else None,
        ordinal=int(rng.integers(9)) if rng.random() < 0.7 else None,
        occurred_at=at + float(rng.choice([-9e3, 0.0, 90.0])) if rng.random() < 0.7 else None,
        client_id=str(rng.integers(3)) if rng.random() < 0.8 else "",
    )

    def job(transaction: Transaction) -> None:
        transaction.append(done)
        if kind > 0.95:
            raise ZeroDivisionError

    return job


def some_removal(
    rng: np.random.Generator, ranker: str, at: float, before: SlowLog, lists: Sequence[int]
) -> Job[object]:
    """Retention, a person's data, events of nobody; sometimes it fails when it is done."""
    kind, events = int(rng.integers(3)), [each.seq for each in before.read_events(ranker)]
    until, fails = int(before.seq * rng.random()), rng.random() < 0.3
    some = (
        [int(seq) for seq in lists if rng.random() < 0.1],
        [int(seq) for seq in events if rng.random() < 0.1],
    )

    def job(transaction: Transaction) -> int:
        if kind == 0:
            gone = transaction.remove_before(ranker, until=until, shown_before=at - 9, keep=["q3"])
        elif kind == 1:
            gone = transaction.remove_entries(lists=some[0], events=some[1])
        else:
            gone = transaction.remove_unmatched_events(since=at / 2, until=at)
        if fails:
            raise ZeroDivisionError
        return gone

    return job


def sum_up(transaction: Transaction) -> bool:
    """Sum whatever became whole."""
    while transaction.sum_buckets():
        pass
    return False


def live(store: Database, *, steps: int, seed: int, summing: bool) -> tuple[SlowLog, float]:
    """A history, in a store and in the plain log, at whose end all is summed, or nothing."""
    plain, rng, at = SlowLog(), np.random.default_rng(seed), 10.0
    for step in range(steps):
        at += float(rng.integers(1, 4))
        job = some_job(rng, step, at, plain)
        assert str(store.submit(job).exception()) == str(plain.run(job))
        if summing and rng.random() < 0.3:
            write(store, sum_up)
    assert plain.seq >> LARGE > 1, "no large bucket was filled"
    return plain, at


def is_near(found: Sequence[Traffic], expected: Sequence[Traffic]) -> bool:
    """Whether counts are equal, and other sums to nine digits."""
    return len(found) == len(expected) and all(
        astuple(one) == pytest.approx(astuple(other), rel=1e-9, abs=1e-12)
        for one, other in zip(found, expected, strict=True)
    )


def recounted(run: Run, sums: Sums) -> list[tuple[Any, ...]]:
    """The sums of all buckets that are kept, counted again."""
    past, rows = find_summed(run) << SMALL, []
    for shift, end in ((SMALL, past), (LARGE, ((past - 1) >> LARGE) << LARGE)):
        keys = f"{shift} AS shift", f"seq >> {shift} AS number", *sums.keys
        rows += run(sums.select("seq < :past", *keys), {"past": end})
    return sorted(rows)


@pytest.mark.parametrize("seed", [1, 2])
def test_sums_are_those_of_a_recount(store: Database, seed: int) -> None:
    live(store, steps=220, seed=seed, summing=True)
    write(store, sum_up)

    def check(run: Run) -> None:
        for sums in (LIST_SUMS, EVENT_SUMS):
            names = ", ".join(("shift", "number", *sums.keys, *sums.columns))
            kept = sorted(run(f"SELECT {names} FROM {sums.table}", {}))
            again = recounted(run, sums)
            assert {row[0] for row in kept} == {SMALL, LARGE}
            assert len(kept) == len(again)
            for one, other in zip(kept, again, strict=True):
                assert one[: 2 + len(sums.keys)] == other[: 2 + len(sums.keys)]
                assert one[2 + len(sums.keys) :] == pytest.approx(
                    other[2 + len(sums.keys) :], rel=1e-9, abs=1e-12
                )

    store.source.read(check)


@pytest.mark.parametrize("summing", [True, False])
def test_what_is_read_is_what_a_plain_log_says(store: Database, summing: bool) -> None:
    plain, end = live(store, steps=160, seed=3, summing=summing)
    rng, statistics = np.random.default_rng(4), store.statistics
    for _ in range(25):
        since, until = sorted(rng.uniform(0, end + 20, 2).round(int(rng.integers(3))).tolist())
        length, parts = max(float(rng.choice([7.0, 90.0, until - since])), 1.0), int(rng.integers(1, 9))
        span = {"since": since, "until": until}
        for ranker in ("shop", "news", "other"):
            steps = statistics.sum_traffic(ranker, step=length, **span)
            check_steps(plain, ranker, steps, divide_time(since, until, length))
            shares = statistics.sum_traffic_parts(ranker, parts=parts, minimum=parts % 3 + 1, **span)
            expected = plain.sum_traffic_parts(ranker, parts=parts, minimum=parts % 3 + 1, **span)
            if summing:
                check_steps(plain, ranker, shares, [*(each.start for each in expected), until])
            else:
                assert is_near(shares, expected)
            assert statistics.count_events(ranker, **span) == plain.count_events(ranker, **span)
        assert statistics.count_events(None, **span) == plain.count_events(None, **span)


def check_steps(plain: SlowLog, ranker: str, found: Sequence[Traffic], moments: Sequence[float]) -> None:
    """Steps begin where they should, or with a bucket; nothing is left out or counted twice."""
    starts = [each.start for each in found]
    buckets: dict[int, float] = {}
    for each in plain.entries:
        buckets.setdefault(each.seq >> SMALL, each.at)
    assert starts == sorted(set(starts))
    assert is_near(found, plain.sum_between(ranker, [*starts, moments[-1]]))
    if moments[0] < (starts or moments[-1:])[0]:
        assert plain.sum_between(ranker, [moments[0], (starts or moments[-1:])[0]]) == []


def test_a_click_on_a_list_that_was_summed_is_in_the_sums_at_once(store: Database) -> None:
    lists = [impression(at=1.0, query_id=f"q{number}") for number in range(3 << SMALL)]
    write(store, lambda transaction: transaction.append_all(lists))
    write(store, sum_up)
    assert store.source.read(find_summed) == 3, "nothing else is summed"
    for position, verdict in ((4, "accepted"), (2, "late"), (1, "ignored")):
        done = event(event_id=f"e{position}", list_seq=700, position=position, verdict=verdict)
        write(store, lambda transaction, done=done: transaction.append(done))  # type: ignore[misc]
    (whole,) = store.statistics.sum_traffic("shop", since=0.0, until=9.0, step=9.0)
    assert (whole.lists, whole.clicked, whole.reciprocal) == (3 << SMALL, 1, 1 / 2)
    write(store, lambda transaction: transaction.remove_entries(lists=[700], events=[]))
    (whole,) = store.statistics.sum_traffic("shop", since=0.0, until=9.0, step=9.0)
    assert (whole.lists, whole.clicked, whole.reciprocal) == ((3 << SMALL) - 1, 0, 0.0)


def test_buckets_that_are_not_whole_are_not_summed(store: Database) -> None:
    def fill(transaction: Transaction) -> None:
        for number in range(1, 1 << SMALL):
            transaction.append(event(event_id=f"e{number}", list_seq=None))

    write(store, fill)
    write(store, sum_up)
    assert store.source.read(find_summed) == 1, "the next entry is of another bucket"
    write(store, lambda transaction: transaction.append(event(event_id="next", list_seq=None)))
    write(store, sum_up)
    assert store.source.read(find_summed) == 1, "the second bucket has one entry so far"


def test_nothing_is_left_of_what_was_removed(store: Database) -> None:
    write(store, lambda transaction: transaction.append(impression(query_id="q", at=1.0)))
    write(store, lambda transaction: transaction.append(event(seq=9999, at=2.0)))
    write(store, sum_up)
    write(store, lambda transaction: transaction.remove_entries(lists=[1], events=[9999]))
    for table in ("list_sums", "event_sums"):
        assert store.source.read(partial(read_all, table)) == []


def read_all(table: str, run: Run) -> list[Any]:
    """Every row of a table."""
    return run(f"SELECT * FROM {table}", {})


@given(NUMBERS, NUMBERS, st.integers(0, 2**11))
def test_pieces_cover_a_stretch_once_and_are_few(one: int, other: int, summed: int) -> None:
    first, past = sorted((one, other))
    found = cover(first, past, summed)
    pieces = [(low << shift, high << shift) for shift, low, high in found]
    if pieces:
        assert (pieces[0][0], pieces[-1][1]) == (first, past)
    assert all(end == start for (_, end), (start, _) in pairwise(pieces))
    single = sum(high - low for shift, low, high in found if shift == 0)
    assert single < (2 << SMALL) + max(past - max(summed << SMALL, first), 0)
    assert sum(high - low for shift, low, high in found if shift == SMALL) < 4 << WIDTH
    assert all(high <= summed for shift, _, high in found if shift == SMALL)
    assert all(high << WIDTH < max(summed, 1) for shift, _, high in found if shift == LARGE)


@given(
    st.lists(NUMBERS, unique=True, max_size=60), NUMBERS, NUMBERS, st.integers(1, 9), st.integers(0, 2**11)
)
def test_lists_are_found_by_rank(lists: Sequence[int], one: int, other: int, parts: int, summed: int) -> None:
    first, past = sorted((one, other))
    there = sorted(seq for seq in lists if first <= seq < past)

    def run(sql: str, values: Any) -> list[tuple[Any, ...]]:
        if "max(number)" in sql:
            return [(summed,)]
        low, high, shift = values["low"], values["high"], values.get("shift", 0)
        buckets = sorted({seq >> shift for seq in lists if low <= seq >> shift < high})
        return [(bucket, sum(seq >> shift == bucket for seq in lists)) for bucket in buckets]

    ranks = ListRanks(run, "shop", first, past)
    found = [ranks.find(rank) for rank in divide_lists(ranks.size, parts, 1)]
    assert found == [[*there, past][rank] for rank in divide_lists(len(there), parts, 1)]


@given(st.floats(-1e6, 1e6), st.floats(0, 1e4), st.floats(0.1, 1e4))
def test_steps_of_time_begin_one_after_the_other(since: float, length: float, step: float) -> None:
    found = divide_time(since, since + length, step)
    assert found == sorted(found)
    assert found[-1] == since + length
    assert found[0] == since
