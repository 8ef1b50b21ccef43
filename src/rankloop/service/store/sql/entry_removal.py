"""Removal of entries from the log, and from the sums over it."""

from __future__ import annotations

from collections.abc import Collection

from rankloop.service.store.sql.bucket_sums import Run, drop_empty_sums, keep_sums, subtract_events
from rankloop.service.store.sql.dialect import Dialect, Values
from rankloop.service.store.sql.log_schema import COUNTED_SQL

AT_ONCE = 10_000  # entries in one statement


def remove_entries(run: Run, dialect: Dialect, *, lists: Collection[int], events: Collection[int]) -> int:
    """Delete lists and events by their numbers; how many there were."""
    removed = sum(_remove(run, dialect, part, []) for part in _divide(lists))
    removed += sum(_remove(run, dialect, [], part) for part in _divide(events))
    drop_empty_sums(run)
    return removed


def find_old_lists(run: Run, dialect: Dialect, values: Values) -> list[int]:
    """Find the lists that a model which begins with entry `until` does not need.

    Those that were shown before a time, unless they are to be kept or a later counted event refers to them.
    """
    query = f"""SELECT seq FROM impressions WHERE ranker = :ranker AND seq <= :until AND at < :before
        AND NOT (query_id {dialect.among("keep")})
        AND NOT EXISTS (SELECT 1 FROM events
            WHERE list_seq = impressions.seq AND {COUNTED_SQL} AND events.seq > :until)"""
    return [seq for (seq,) in run(query, values)]


def find_old_events(run: Run, *, ranker: str, until: int, before: float) -> list[int]:
    """Find the events that a model which begins with entry `until` does not need."""
    mine = "SELECT seq FROM events WHERE ranker = :ranker AND seq <= :until"
    found = run(mine, {"ranker": ranker, "until": until})
    return [seq for (seq,) in found] + find_unmatched_events(run, since=float("-inf"), until=before)


def find_unmatched_events(run: Run, *, since: float, until: float) -> list[int]:
    """Find the events of a stretch of time that belong to no ranker."""
    query = "SELECT seq FROM events WHERE ranker = '' AND at >= :since AND at < :until"
    return [seq for (seq,) in run(query, {"since": since, "until": until})]


def remove_decisions(run: Run, dialect: Dialect, ranker: str, *, until: int, kinds: Collection[str]) -> int:
    """Delete a ranker's decisions of some kinds, up to an entry; how many there were."""
    if not kinds:
        return 0
    query = f"""DELETE FROM decisions WHERE ranker = :ranker AND seq <= :until
        AND kind {dialect.among("kinds")} RETURNING seq"""
    return len(run(query, {"ranker": ranker, "until": until, "kinds": list(kinds)}))


def _remove(run: Run, dialect: Dialect, lists: list[int], events: list[int]) -> int:
    among = f"seq {dialect.among_numbers('numbers')}"
    losing = f"SELECT DISTINCT list_seq FROM events WHERE {among} AND list_seq IS NOT NULL AND {COUNTED_SQL}"
    changed = lists + [seq for (seq,) in (run(losing, {"numbers": events}) if events else ())]
    with keep_sums(run, among, {"numbers": changed}):
        if events:
            subtract_events(run, among, {"numbers": events})
            return len(run(f"DELETE FROM events WHERE {among} RETURNING seq", {"numbers": events}))
        run(f"DELETE FROM payloads WHERE {among}", {"numbers": lists})
        return len(run(f"DELETE FROM impressions WHERE {among} RETURNING seq", {"numbers": lists}))


def _divide(numbers: Collection[int]) -> list[list[int]]:
    ordered = sorted(numbers)
    return [ordered[start : start + AT_ONCE] for start in range(0, len(ordered), AT_ONCE)]
