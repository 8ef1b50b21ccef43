"""Sample records, with everything in them that a careless store loses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

import numpy as np

from rankloop.service.extensions.fair.part import FairPart
from rankloop.service.extensions.promise.part import PromisePart
from rankloop.service.extensions.recommend.part import RecommendPart
from rankloop.service.extensions.registry import load_registry
from rankloop.service.extensions.trial.part import TrialPart
from rankloop.service.store.impression_parts import PartCodec
from rankloop.service.store.log_records import (
    Decision,
    Event,
    Impression,
    Snapshot,
)
from rankloop.service.store.store import EventLog, write
from rankloop.types import Array

CODEC = PartCodec(load_registry().part_types)
EXPOSURE = FairPart(
    account=1,
    groups=("ü", "others"),
    candidates=(2, 1),
    ahead=(-(2**40), 2**40),
    due=(900_000, 730_930),
    granted=(1_000_000, 630_930),
    lapsed=(0, -1),
    shown=(0, 1),
    turned=1,
    violated=1,
    within=False,
)
IMPRESSION = Impression(
    at=10.0,
    ranker="shop",
    query_id="q1",
    user_query="red shoes",
    session_id="s1",
    user="ünna",
    context=np.array([0.5, np.nan]),
    model=0,
    settings=1,
    mode="explore",
    policy="pairrank",
    seed=2**63 - 1,
    k=2,
    object_ids=["a", "b", "ü"],
    titles=['Überschuh, "rot"', ""],
    pinned_at=np.array([0, 2, 0]),
    features=np.array([[1.0, np.nan], [0.1, -0.0], [5e-324, 1e100]]),
    order=np.array([2, 1]),
    evidence={"seed": np.array(2**63 - 1), "owners": np.eye(2), "flags": np.array([True, False])},
    teaches=True,
    digest=b"\x00\xff",
    pairs=1,
    settled=1,
    explored=0,
    cost=0.25,
    parts={
        "fair": EXPOSURE,
        "recommend": RecommendPart(digest="d" * 64, items=("ü", "b"), answers=(("feature:größe", "much"),)),
        "trial": TrialPart(trial=1, arm="AB", owners=((0.1, 1.0), (0.9, 0.0))),
        "promise": PromisePart(promise=1, arm="owned", search="q1"),
    },
)
EVENT = Event(
    at=11.0,
    ranker="shop",
    event_id="e1",
    query_id="q1",
    object_id="b",
    action="click",
    verdict="accepted",
    position=2,
    list_seq=1,
    closes_at=20.5,
    ordinal=2,
    occurred_at=10.5,
    client_id="c1",
    value=-0.1,
    source="a1b2",
)
DECISION = Decision(at=12.0, ranker="shop", kind="mode", body={"mode": "frozen"})
SNAPSHOT = Snapshot(
    seq=3,
    at=12.0,
    ranker="shop",
    body={"version": 3, "open": {}},
    arrays={"parameters": np.array([0.1, -0.0]), "memory": np.arange(2e4).reshape(100, 200)},
)


def impression(**changes: Any) -> Impression:
    """A list, with other values here and there."""
    return replace(IMPRESSION, **changes)


def event(**changes: Any) -> Event:
    """A click, with other values here and there."""
    return replace(EVENT, **changes)


def put(store: EventLog, *records: Impression | Event | Decision) -> list[int]:
    """Append, each in a job of its own, and wait; the numbers."""
    return [write(store, lambda transaction, each=record: transaction.append(each)) for record in records]  # type: ignore[misc]


def keep(store: EventLog, **changes: Any) -> None:
    """Keep a snapshot, and wait."""
    write(store, lambda transaction: transaction.save_snapshot(replace(SNAPSHOT, **changes)))


def same(one: Impression, other: Impression) -> bool:
    """Whether two impressions are equal to the bit, but for their numbers."""
    plain = {each.name for each in fields(Impression)} - {"seq", "object_ids", "groups", "evidence"}
    plain -= {"features", "pinned_at", "order", "context"}
    return (
        all(getattr(one, name) == getattr(other, name) for name in plain)
        and (list(one.object_ids), list(one.groups)) == (list(other.object_ids), list(other.groups))
        and same_arrays(arrays_of(one), arrays_of(other))
    )


def arrays_of(shown: Impression) -> dict[str, Array]:
    """All arrays of a list."""
    own = {"features": shown.features, "pinned_at": shown.pinned_at, "order": shown.order}
    own["context"] = shown.context
    return own | {f"evidence.{name}": value for name, value in shown.evidence.items()}


def same_arrays(one: Mapping[str, Array], other: Mapping[str, Array]) -> bool:
    """Whether named arrays are equal to the bit."""
    return list(one) == list(other) and all(
        (one[name].dtype, one[name].shape) == (value.dtype, value.shape)
        and one[name].tobytes() == value.tobytes()
        for name, value in other.items()
    )
