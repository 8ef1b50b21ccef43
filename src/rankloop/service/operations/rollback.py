"""Rollback to an earlier version, or to what would be known without some events: what is asked for."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from rankloop.errors import RequestError
from rankloop.service.core.job_record import digest_of
from rankloop.service.core.ranker import Ranker
from rankloop.service.events.event_selection import EventSelection, select_events, selected
from rankloop.service.service_errors import ConflictError, HistoryError
from rankloop.service.store import Store


def rollback_body(ranker: Ranker, store: Store, *, to: int | None, moment: float | None) -> dict[str, Any]:
    """What a job to go back is asked for; refused at once where that is already known to be impossible."""
    if (to is None) == (moment is None):
        raise RequestError("a rollback needs a version (to=...) or a moment (moment=...), one of them")
    ranker.catch_up()
    version = ranker.view.model.version
    if to is not None and not 0 < to <= version:
        raise RequestError(f"no version {to}: {ranker.name!r} is at version {version}")
    if to is not None and to < ranker.history.first_entry():
        ranker.history.model(to)  # it is the base's own version, or is not kept any more
    if moment is not None and moment < store.read_decisions(ranker.name)[0].at:
        raise HistoryError(f"at {moment} there was no ranker {ranker.name!r} yet")
    return {"moment": moment} if to is None else {"to": to}


def forget_body(ranker: Ranker, store: Store, chosen: Iterable[str] | EventSelection) -> dict[str, Any]:
    """What a job to forget events is asked for."""
    found = select_events(store, ranker.name, chosen) if isinstance(chosen, EventSelection) else chosen
    ids = sorted(set(found))
    check_events(ranker.name, store, ids)
    return {"events": ids}


def forgotten_before(ranker: Ranker, store: Store, chosen: Collection[str] | EventSelection, key: str) -> int:
    """The number of the job that was asked for by this key, whatever has become of it; 0: there is none.

    A choice of events is the same if it chose the same then: later ones may have come, and some be deleted.
    """
    jobs = ranker.refresh().configuration.jobs.values()
    job = next((each for each in jobs if key and each.key == key and each.kind == "forget"), None)
    if job is None:
        return 0
    if isinstance(chosen, EventSelection):
        asked = store.read_decisions(ranker.name, kinds=("job",), after=job.number - 1)[0].body["body"][
            "events"
        ]
        left = {each.event_id for each in store.find_events(asked)}
        same = left == set(selected(store, ranker.name, chosen, before=job.number))
    else:
        same = digest_of("forget", {"events": sorted(set(chosen))}) == job.request
    if not same:
        raise ConflictError(f"the key {key!r} was used for another request: job {job.number}")
    return job.number


def check_events(ranker: str, store: Store, ids: Collection[str]) -> None:
    """Refuse events that are not there, and those of another ranker, which has learned from them instead."""
    found = {each.event_id: each.ranker for each in store.find_events(ids)}
    unknown = [each for each in ids if each not in found]
    if unknown or not ids:
        raise RequestError(f"no such events in the log: {unknown[:5]}")
    others = [each for each in ids if found[each] != ranker]
    if others:
        whose = found[others[0]]
        raise RequestError(
            f"{len(others)} of {len(ids)} events are not of {ranker!r}: {others[0]!r} is of {whose!r}; "
            "nothing was forgotten"
        )
