"""A past list: everything that is known about it, and the list itself, made again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rankloop.service.answer import Made, RankedList, answer
from rankloop.service.history import History, HistoryError
from rankloop.service.show import Request, fall_back, show
from rankloop.store import Event, Impression, Store


@dataclass(frozen=True, slots=True, eq=False)
class Audit:
    """What was shown, on what grounds, and what users did with it."""

    impression: Impression
    events: Sequence[Event]


@dataclass(frozen=True, slots=True)
class Replay:
    """A list made again, and whether it is the one that was shown, byte for byte."""

    ranked: RankedList
    identical: bool


def audit(store: Store, query_id: str) -> Audit:
    """Everything that is known about a past list."""
    impression = store.impression(query_id)
    if impression is None:
        raise HistoryError(f"no list is kept under the query_id {query_id!r}: it never was, or was discarded")
    return Audit(impression, store.events_of(query_id))


def replay(shown: Impression, history: History) -> Replay:
    """Make a past list again, from its inputs, the model and the settings of its time."""
    request = Request(
        query_id=shown.query_id,
        raw=shown.features,
        pinned_at=shown.pinned_at,
        k=shown.k,
        seed=shown.seed,
        mode=shown.mode,  # type: ignore[arg-type]  # the log is typed by text
    )
    model, rules = history.model(shown.model), history.settings(shown.settings)
    showing = fall_back(request) if shown.fallback else show(model, request, rules)
    made = Made(
        ranker=shown.ranker,
        model=model.version,
        settings=shown.settings,
        policy=model.policy.name,
        mode=shown.mode,
        seed=shown.seed,
        explored_pairs=showing.explored,
        fallback=shown.fallback or None,
    )
    ranked = answer(request, showing, list(shown.object_ids), made)
    same_evidence = {name: value.tobytes() for name, value in showing.evidence.items()} == {
        name: value.tobytes() for name, value in shown.evidence.items()
    }
    return Replay(ranked, same_evidence and ranked.digest() == shown.digest)
