"""Random requests, and rankers that they are put to, from nothing but a number."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from tests.golden.requests import (
    AD_LEARNERS,
    ITEM_LEARNERS,
    LEARNERS,
    MODES,
    RANKING_MODES,
    VIEW,
    WIDTH,
    Asked,
    Comparing,
    Given,
    Mode,
    Promising,
    Row,
    Sharing,
    World,
)

Rng: TypeAlias = np.random.Generator
SIZE = 25  # requests of a group
ROOT = 20240611

DOCUMENT_LEARNERS = tuple(each for each in LEARNERS if each not in (*ITEM_LEARNERS, *AD_LEARNERS))
CERTAIN_LEARNERS = ("pair", "pair plain", "pair paper", "pair perturbed", "net perturbed", "net")
OPPONENTS = ("draw", "pair", "list", "items bound", "net")


@dataclass(frozen=True)
class Case:
    """A list that is to be made, and whether it is what the policy drew, pins aside."""

    world: World
    asked: Asked
    given: Given
    as_drawn: bool = False


def cases_of(kind: str, group: int) -> list[Case]:
    """The requests of a group of a kind."""
    return [KINDS[kind](rng_of(kind, number), number) for number in range(group * SIZE, (group + 1) * SIZE)]


def rng_of(kind: str, number: int) -> Rng:
    """A stream for each request, so that one more kind or request changes no other."""
    return np.random.default_rng([ROOT, *kind.encode(), number])


def pick(rng: Rng, choices: Any) -> Any:
    """One of a sequence."""
    return choices[int(rng.integers(len(choices)))]


def some_learner(rng: Rng, others: Sequence[str] = DOCUMENT_LEARNERS) -> str:
    """A learner that knows how certain it is, as often as not."""
    return str(pick(rng, CERTAIN_LEARNERS if rng.random() < 0.5 else others))


def some_mode(rng: Rng, modes: Sequence[Mode] = MODES) -> Mode:
    """A mode; learning, as often as not."""
    found: Mode = pick(rng, ("learning",) if rng.random() < 0.5 else modes)
    return found


def some_rows(
    rng: Rng, *, width: int = WIDTH, groups: int = 0, pins: int = 0, most: int = 16
) -> tuple[Row, ...]:
    """Candidates, of which some lack features; all have the same ones as often as not."""
    n = int(rng.integers(1, most + 1))
    ids = rng.permutation(max(24, most))[:n].tolist()
    values, lacks = rng.random((n, width)).round(3), rng.random((n, width))
    missing, unsent = pick(rng, ((0.0, 0.0), (0.0, 0.0), (0.15, 0.0), (0.1, 0.2)))
    codes = rng.integers(0 if rng.random() < 0.3 else 1, groups + 1, n) if groups else np.zeros(n, np.int64)
    pinned = dict(zip(rng.permutation(n)[:pins].tolist(), (rng.permutation(n) + 1).tolist(), strict=False))
    return tuple(
        Row(
            id=ids[row],
            values={
                column: None if lacks[row, column] < missing else float(values[row, column])
                for column in range(width)
                if not missing <= lacks[row, column] < missing + unsent
            },
            pin=pinned.get(row, 0),
            group=int(codes[row]),
        )
        for row in range(n)
    )


def some_request(rng: Rng, number: int, *, deep: bool = False, **rows: Any) -> Asked:
    """A request from a visitor who is known by a session, a client, both or nothing."""
    known = pick(rng, ("session", "client", "both", "nobody"))
    return Asked(
        number=number,
        rows=some_rows(rng, **rows),
        k=int(rng.integers(11, 25)) if deep else int(rng.integers(1, 13)),
        words=pick(rng, (None, 0, 1, 2)),
        session=int(rng.integers(50)) if known in ("session", "both") else None,
        client=int(rng.integers(50)) if known in ("client", "both") else None,
        user=pick(rng, (None, 1, 2, 3)),
    )


def some_given(rng: Rng, **more: Any) -> Given:
    """What every list depends on."""
    return Given(seed=int(rng.integers(2**62)), **more)


def some_sharing(rng: Rng) -> Sharing:
    """Fair exposure of up to three groups, by each kind of shares."""
    shares: Any = pick(rng, ("candidates", "equal", {1: 0.5, 2: 0.2}, {1: 0.3, 2: 0.3, 3: 0.4}))
    floors: Mapping[int, float] = pick(rng, ({}, {}, {1: 0.3}, {2: 0.25}))
    tolerance = float(pick(rng, (1.0, 2.0, 2.0, 5.0)))
    examination = pick(rng, (None, None, (0.9, 0.6, 0.4, 0.25, 0.2)))
    return Sharing(shares, floors, tolerance, float(pick(rng, (tolerance, 8.0, 50.0))), examination)


def some_accounts(rng: Rng) -> dict[str, dict[int, int] | None]:
    """Accounts of three groups that add up to nothing, near their tolerance or far beyond it."""

    def one() -> dict[int, int]:
        off = (rng.normal(size=4) * pick(rng, (0.0, 1.0, 2.0, 6.0)) * VIEW).astype(np.int64).tolist()
        return {**dict(enumerate(off[:3], start=1)), 0: -sum(off[:3])}

    return {"ahead": one(), "now_ahead": one() if rng.random() < 0.3 else None}


def some_trial(rng: Rng, *, mixed: bool) -> tuple[int, Comparing]:
    """A trial against the caller's order or a learner."""
    learner = pick(rng, ("", *OPPONENTS))
    return int(rng.integers(2, 1000)), Comparing(
        mixed=mixed, share=float(pick(rng, (0.2, 0.5, 0.8))), learner=learner
    )


def plain(rng: Rng, number: int) -> Case:
    """Every learner in every mode."""
    learner, mode = list(LEARNERS)[number % len(LEARNERS)], some_mode(rng)
    width = WIDTH if learner not in ("net", "net lambda", "net perturbed") else int(rng.integers(4, 6))
    if learner in ("pair", "draw", "race", "list"):
        width = int(rng.integers(4, 8))  # features that came since, or that nobody sent
    asked = some_request(rng, number, width=width, deep=rng.random() < 0.2)
    return Case(World(learner, mode), asked, some_given(rng, width=width), as_drawn=True)


def pinned(rng: Rng, number: int) -> Case:
    """One to four candidates have their places."""
    world = World(some_learner(rng), some_mode(rng))
    asked = some_request(rng, number, pins=int(rng.integers(1, 5)))
    return Case(world, asked, some_given(rng), as_drawn=True)


def fair(rng: Rng, number: int) -> Case:
    """Lists are held to an account, or counted where the mode shows the caller's order."""
    learner = some_learner(rng, ("draw", "list", "race", "top", "items bound"))
    world = World(learner, some_mode(rng), sharing=some_sharing(rng))
    asked = some_request(
        rng,
        number,
        groups=int(pick(rng, (1, 2, 3, 3))),
        pins=int(pick(rng, (0, 0, 0, 2))),
        deep=rng.random() < 0.3,
        most=26,
    )
    return Case(world, asked, some_given(rng, **some_accounts(rng)))


def promised(rng: Rng, number: int) -> Case:
    """All arms of a promise, in every mode."""
    world = World(some_learner(rng, list(LEARNERS)), some_mode(rng), promise=Promising())
    asked = some_request(rng, number, pins=pick(rng, (0, 0, 0, 2)))
    return Case(world, asked, some_given(rng, arm=int(rng.integers(3))))


def in_holdout(rng: Rng, number: int) -> Case:
    """A share of the visitors gets arm B."""
    world = World(some_learner(rng, list(LEARNERS)), some_mode(rng, RANKING_MODES))
    asked = some_request(rng, number, pins=pick(rng, (0, 0, 2)))
    return Case(world, asked, some_given(rng, trial=some_trial(rng, mixed=False)))


def interleaved(rng: Rng, number: int) -> Case:
    """Every list is made of both arms."""
    world = World(some_learner(rng, list(LEARNERS)), some_mode(rng, RANKING_MODES))
    asked = some_request(rng, number, pins=pick(rng, (0, 0, 2)))
    return Case(world, asked, some_given(rng, trial=some_trial(rng, mixed=True)))


def displaced(rng: Rng, number: int) -> Case:
    """No result may be far from where the caller had it."""
    world = World(some_learner(rng), some_mode(rng), displacement=int(pick(rng, (0, 1, 2, 5))))
    asked = some_request(rng, number, pins=pick(rng, (0, 0, 2)))
    return Case(world, asked, some_given(rng))


def failed(rng: Rng, number: int) -> Case:
    """The caller's order, whatever is in force."""
    trial = some_trial(rng, mixed=rng.random() < 0.5) if number % 3 == 0 else None
    sharing = some_sharing(rng) if number % 3 == 1 else None
    arm = int(rng.integers(3)) if number % 4 == 0 else None
    mode: Mode = pick(rng, RANKING_MODES if trial else MODES)
    world = World(
        pick(rng, list(LEARNERS)), mode, sharing=sharing, promise=None if arm is None else Promising()
    )
    asked = some_request(rng, number, groups=3, pins=pick(rng, (0, 2)))
    accounts = some_accounts(rng) if sharing else {}
    return Case(world, asked, some_given(rng, failed=True, arm=arm, trial=trial, **accounts))


def advertised(rng: Rng, number: int) -> Case:
    """What is known of who asks decides; a part of it may be missing."""
    asked = some_request(rng, number, pins=pick(rng, (0, 0, 0, 1)))
    known = {column: round(float(rng.normal()), 3) for column in range(2) if rng.random() < 0.8}
    context: dict[int, float | None] = {**known, **({} if 1 in known else {1: None})}
    world = World(AD_LEARNERS[number % len(AD_LEARNERS)], pick(rng, MODES))
    return Case(world, replace(asked, context=context), some_given(rng), as_drawn=True)


def combined(rng: Rng, number: int) -> Case:
    """What may be in force together: a promise, a holdout, fair exposure and displacement."""
    learner, mode = some_learner(rng, ("draw", "race")), some_mode(rng, RANKING_MODES)
    sharing = some_sharing(rng) if rng.random() < 0.6 else None
    displacement = int(pick(rng, (1, 3))) if rng.random() < 0.4 else None
    mixed = sharing is None and displacement is None
    arm = int(rng.integers(3)) if rng.random() < 0.6 else None
    trial = some_trial(rng, mixed=mixed) if rng.random() < 0.6 else None
    world = World(
        learner,
        mode,
        displacement=displacement,
        sharing=sharing,
        promise=None if arm is None else Promising(),
    )
    asked = some_request(rng, number, groups=3, pins=pick(rng, (0, 0, 2)), deep=rng.random() < 0.2)
    return Case(
        world, asked, some_given(rng, arm=arm, trial=trial, **(some_accounts(rng) if sharing else {}))
    )


KINDS: Mapping[str, Callable[[Rng, int], Case]] = {
    "plain": plain,
    "pinned": pinned,
    "fair": fair,
    "promised": promised,
    "in holdout": in_holdout,
    "interleaved": interleaved,
    "displaced": displaced,
    "failed": failed,
    "advertised": advertised,
    "combined": combined,
}
GROUPS: Mapping[str, int] = {
    "plain": 14,
    "pinned": 5,
    "fair": 11,
    "promised": 5,
    "in holdout": 6,
    "interleaved": 5,
    "displaced": 4,
    "failed": 3,
    "advertised": 3,
    "combined": 4,
}
