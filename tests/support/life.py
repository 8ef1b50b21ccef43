"""A life for a service: a clock, ids, candidates and users that depend on nothing but a seed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankloop.candidate import Candidate
from rankloop.service import RankerSettings, RankResponse, UserEvent
from rankloop.service.service_facade import ServiceFacade
from rankloop.service.store import Store
from rankloop.types import State

NAMES = ("age", "bm25", "clicks", "price")
TASTE = {"age": -1.0, "bm25": 2.0, "clicks": 0.5, "price": -0.5}


@dataclass
class Clock:
    """A clock that goes when told to."""

    now: float = 1000.0

    def __call__(self) -> float:
        return self.now


class Ids:
    """Ids that count."""

    def __init__(self, prefix: str = "q") -> None:
        self.prefix, self.n = prefix, 0

    def __call__(self) -> str:
        self.n += 1
        return f"{self.prefix}{self.n}"


def make(store: Store, clock: Clock | None = None, prefix: str = "q", **options: Any) -> ServiceFacade:
    return ServiceFacade(store, clock=clock or Clock(), ids=Ids(prefix), **options)


def some_candidates(rng: np.random.Generator, n: int = 8, names: Sequence[str] = NAMES) -> list[Candidate]:
    return [
        Candidate(f"d{number}", dict(zip(names, rng.random(len(names)).tolist(), strict=True)))
        for number in range(n)
    ]


def best_of(ranked: RankResponse, candidates: Sequence[Candidate]) -> str:
    """What a user of a certain taste would click."""
    by_id = {each.object_id: each for each in candidates}

    def worth(object_id: str) -> float:
        features = by_id[object_id].features
        return sum(TASTE.get(name, 0.0) * (value or 0.0) for name, value in features.items())

    return max(ranked.object_ids, key=worth)


def live(
    service: ServiceFacade,
    clock: Clock,
    *,
    rounds: int,
    seed: int = 0,
    ranker: str = "shop",
    k: int = 5,
    step: float = 30.0,
) -> list[RankResponse]:
    """Rank and click for a while; the lists that were shown."""
    rng, lists = np.random.default_rng(seed), []
    for _ in range(rounds):
        candidates = some_candidates(rng)
        ranked = service.rank(candidates, ranker=ranker, k=k)
        if rng.random() < 0.8:
            service.record([UserEvent(ranked.query_id, best_of(ranked, candidates))])
        clock.now += step
        lists.append(ranked)
    return lists


def state(service: ServiceFacade, ranker: str = "shop") -> State:
    """All that a ranker has learned, as arrays."""
    model = service.model(ranker)
    scale = {f"scale.{name}": value for name, value in model.scale.state().items()}
    return {**model.policy.state(), **scale}


def same(one: State, other: State) -> bool:
    """Equal to the bit."""
    return one.keys() == other.keys() and all(
        one[name].dtype == other[name].dtype
        and one[name].shape == other[name].shape
        and one[name].tobytes() == other[name].tobytes()
        for name in one
    )


SHORT = RankerSettings(window=60.0)
