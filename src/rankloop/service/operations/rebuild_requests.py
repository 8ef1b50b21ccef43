"""Retirement of features: which are not sent any more, and what is asked for when they are to go."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterable
from typing import Any

import numpy as np

from rankloop.errors import RequestError, suggest_name
from rankloop.service.core.configuration import Configuration
from rankloop.service.core.finding import Finding
from rankloop.service.core.ranker import Ranker
from rankloop.service.service_errors import ConflictError
from rankloop.service.store import Store

DAY = 86400.0  # seconds
EVERY_LIST = 2**62
DAYS, LOOK = 30.0, 1000  # of the doctor: how long ago, and among how many lists at most


def retire_body(
    ranker: Ranker, store: Store, names: Iterable[str], unused_for: float | None
) -> dict[str, Any]:
    """What a job to retire features is asked for; refused at once where that is known to be impossible."""
    said = list(dict.fromkeys(names))
    if bool(said) == (unused_for is not None):
        raise RequestError("features are retired by their names, or by unused_for=days, one of them")
    configuration = ranker.refresh().configuration
    known = configuration.schema.columns
    for name in said:
        if name not in known:
            choices = suggest_name(name, known) if known else "it has none"
            raise RequestError(f"{ranker.name!r} has no feature {name!r}: {choices}; nothing was retired")
    chosen = sorted(said if unused_for is None else unused(ranker, store, unused_for))
    if not chosen:
        raise RequestError(
            f"every feature of {ranker.name!r} was sent in the last {unused_for:g} days, or no list was shown"
        )
    columns = [known[name] for name in chosen]
    check_columns(ranker, configuration, columns)
    return {"names": chosen, "columns": columns}


def retired_before(ranker: Ranker, store: Store, names: Iterable[str], key: str) -> int:
    """The number of the job that was asked for by this key, whatever has become of it; 0: there is none.

    The features of one that is done are gone, so that it could not be asked for again.
    """
    jobs = ranker.refresh().configuration.jobs.values()
    number = next((job.number for job in jobs if key and job.key == key and job.kind == "retire"), 0)
    if not number:
        return 0
    asked, said = store.read_decisions(ranker.name, kinds=("job",), after=number - 1)[0], sorted(set(names))
    if said and said != asked.body["body"]["names"]:
        raise ConflictError(f"the key {key!r} was used for another request: job {number}")
    return number


def check_columns(ranker: Ranker, configuration: Configuration, columns: Collection[int]) -> None:
    """Refuse features that are gone, and those from before the log's beginning: what knew them stays."""
    gone = [configuration.schema.names[each] for each in columns if each in configuration.schema.retired]
    if gone:
        raise RequestError(f"the feature {gone[0]!r} of {ranker.name!r} was retired meanwhile")
    base = ranker.history.first_entry()
    discarded = ranker.history.configuration(base).schema.names if base else ()
    kept = [configuration.schema.names[each] for each in columns if each < len(discarded)]
    if kept:
        raise RequestError(
            f"the log of {ranker.name!r} was discarded up to entry {base}, and what was learned before knows "
            f"the feature {kept[0]!r}: only features that came later can be retired; nothing was retired"
        )


def unused(ranker: Ranker, store: Store, days: float, *, last: int = EVERY_LIST) -> list[str]:
    """The features in no list of so many days before the log's time, among the `last` lists.

    One that came in these days is not unused, whatever has become of its lists; and none is, if no list was
    shown in these days.
    """
    if not 0 < days < float("inf"):
        raise RequestError(f"unused_for must be a number of days above 0, found {days}")
    since = store.time(ranker.now()) - days * DAY
    young = {
        name
        for each in store.read_decisions(ranker.name, kinds=("schema",))
        if each.at >= since
        for name in each.body["names"]
    }
    unseen = {
        name: column for name, column in ranker.view.configuration.schema.columns.items() if name not in young
    }
    asked = False
    for shown in store.read_impressions(ranker.name, newest=last) if unseen else ():
        if shown.at < since:
            break
        asked = True
        there: set[int] = set(np.flatnonzero((~np.isnan(shown.features)).any(axis=0)).tolist())
        unseen = {name: column for name, column in unseen.items() if column not in there}
        if not unseen:
            break
    return list(unseen) if asked else []


def about_unused(ranker: Ranker, store: Store) -> list[Finding]:
    """What the doctor says of features that are not sent any more, by a look at the newest lists."""
    found = unused(ranker, store, DAYS, last=LOOK)
    if not found:
        return []
    some = ", ".join(found[:5]) + (", ..." if len(found) > 5 else "")
    one = f"{len(found)} features" if len(found) > 1 else "1 feature"
    command = f"rankloop jobs retire --unused-for {DAYS:g} --ranker {shlex.quote(ranker.name)}"
    return [
        Finding(
            code="unused-features",
            level="hint",
            ranker=ranker.name,
            sentence=f"{one} of ranker {ranker.name!r} ({some}) had no value in any of its newest lists of "
            f"{DAYS:g} days (at most {LOOK:,} are looked at): if they are not sent any more, {command}",
            cause="The caller sends them no more, or under another name.",
            fix=command,
        )
    ]
