"""The sums that a store keeps are those of a recount, whatever comes, goes, fails, or is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from rankloop.service.store import (
    Impression,
    Job,
    SqliteStore,
    Store,
    Transaction,
    Verdict,
    write,
)
from rankloop.service.store.sums import LARGE, SMALL, cover, edges, found_by_rank, part_ends
from tests.service.store.slow_log import SlowLog
from tests.support.log_samples import event, impression

VERDICTS: tuple[Verdict, ...] = ("accepted", "late", "ignored", "orphan", "duplicate")
NUMBERS = st.integers(0, 2**20)


def some_job(rng: np.random.Generator, step: int, at: float, before: SlowLog) -> Job[object]:
    """Lists and events with numbers far apart, as an import has them; discarding; and jobs that fail."""
    ranker = ("shop", "news")[int(rng.random() < 0.2)]
    seq = before.seq + 1 + int(rng.integers(2 ** rng.integers(1, 18)))
    kind = rng.random()
    if kind < 0.05:
        until = int(before.seq * rng.random())
        return lambda transaction: transaction.remove_before(
            ranker, until=until, shown_before=at - 9, keep=["q3"]
        )
    settled = None if rng.random() < 0.3 else int(rng.integers(4))
    own = {"fallback": "slow" if rng.random() < 0.2 else "", "cost": float(rng.random()), "settled": settled}
    if kind < 0.4:
        shown = impression(seq=seq, at=at, ranker=ranker, query_id=f"q{step}", explored=step % 5, **own)
        return lambda transaction: transaction.append(shown)
    if kind < 0.5:
        shown = impression(at=at, ranker=ranker, query_id=f"q{step}", **own)
        return lambda transaction: transaction.append_all([shown, shown])  # the second is refused
    lists = [each.seq for each in before.read_impressions(ranker)]
    done = event(
        seq=seq,
        at=at,
        event_id=f"e{step}",
        ranker="" if rng.random() < 0.1 else ranker,
        verdict=VERDICTS[rng.integers(len(VERDICTS))],
        list_seq=int(rng.choice(lists)) if lists and rng.random() < 0.9 else None,
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


def test_sums_are_those_of_a_recount(store: Store) -> None:
    plain, rng, at = SlowLog(), np.random.default_rng(1), 10.0
    for step in range(160):
        at += float(rng.integers(4))
        job = some_job(rng, step, at, plain)
        assert str(store.submit(job).exception()) == str(plain.run(job))
    assert plain.seq >> LARGE > 1, "no large bucket was filled"
    for _ in range(25):
        since, until = sorted(rng.uniform(0, at + 20, 2).round(int(rng.integers(3))).tolist())
        length, parts = max(float(rng.choice([7.0, 90.0, until - since])), 1.0), int(rng.integers(1, 9))
        for ranker in ("shop", "news", "other"):
            span = {"since": since, "until": until}
            assert list(store.sum_traffic(ranker, step=length, **span)) == plain.sum_traffic(
                ranker, step=length, **span
            )
            found = store.sum_traffic_parts(ranker, parts=parts, minimum=parts % 3 + 1, **span)
            assert list(found) == plain.sum_traffic_parts(ranker, parts=parts, minimum=parts % 3 + 1, **span)
            assert store.count_events(ranker, **span) == plain.count_events(ranker, **span)
        assert store.count_events(None, **span) == plain.count_events(None, **span)


@given(NUMBERS, NUMBERS)
def test_pieces_cover_a_stretch_once_and_are_few(one: int, other: int) -> None:
    first, past = sorted((one, other))
    pieces = [(low << shift, high << shift) for shift, low, high in cover(first, past)]
    if pieces:
        assert (pieces[0][0], pieces[-1][1]) == (first, past)
    assert all(end == start for (_, end), (start, _) in pairwise(pieces))
    assert sum(high - low for shift, low, high in cover(first, past) if shift == 0) < 2 << SMALL
    assert sum(high - low for shift, low, high in cover(first, past) if shift == SMALL) < 2 << (LARGE - SMALL)


@given(st.lists(NUMBERS, unique=True, max_size=60), NUMBERS, NUMBERS, st.integers(1, 9), st.integers(1, 5))
def test_lists_are_found_by_rank(lists: Sequence[int], one: int, other: int, parts: int, least: int) -> None:
    first, past = sorted((one, other))
    there = sorted(seq for seq in lists if first <= seq < past)

    def counts(shift: int, low: int, high: int) -> list[tuple[int, int]]:
        buckets = sorted({seq >> shift for seq in lists if low <= seq >> shift < high})
        return [(bucket, sum(seq >> shift == bucket for seq in lists)) for bucket in buckets]

    def numbers(low: int, high: int) -> list[int]:
        return sorted(seq for seq in lists if low <= seq < high)

    found = found_by_rank(first, past, lambda n: part_ends(n, parts, least), counts, numbers)
    assert found == [[*there, past][rank] for rank in part_ends(len(there), parts, least)]


@given(st.floats(-1e6, 1e6), st.floats(0, 1e4), st.floats(0.1, 1e4))
def test_steps_of_time_begin_one_after_the_other(since: float, length: float, step: float) -> None:
    found = edges(since, since + length, step)
    assert found == sorted(found)
    assert found[-1] == since + length
    assert found[0] == since


def test_nothing_but_lists_and_events_is_in_the_sums(tmp_path: Path) -> None:
    with SqliteStore(tmp_path / "log.db") as store:
        shown: Impression = impression(query_id="q", at=1.0)
        write(store, lambda transaction: transaction.append(shown))
        write(store, lambda transaction: transaction.remove_before("shop", until=9, shown_before=9.0))
        assert [store._rows(f"SELECT * FROM {table}") for table in ("list_sums", "event_sums")] == [[], []]
