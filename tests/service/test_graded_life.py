"""Every policy for grades in service: when, how often and in which order ratings come changes nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from msgspec import structs

from rankloop.candidate import Candidate
from rankloop.policies.policy_names import read_policy
from rankloop.service import GradeSettings, RankerSettings, UserEvent
from rankloop.service.core.grades import Unrated
from rankloop.service.service_facade import ServiceFacade
from rankloop.service.store import SqliteStore, open_temporary_store
from rankloop.types import State
from tests.support.faults import settle
from tests.support.internals import copied, folded_anew
from tests.support.life import Clock, Ids, same, some_candidates, state
from tests.support.limits import keep_snapshots_every
from tests.support.serving import alive

frequent_snapshots = keep_snapshots_every(2)

POLICIES = (
    "slam",
    "minimax",
    "listnet",
    "rtopk",
    "RTopKItems(top_k=2)",
    "ThompsonItems(top_grade=5)",
    "UCBItems(top_grade=5)",
)
ROUNDS, SHOWN, STEP = 24, 5, 30.0
MEMORY = Path("/dev/shm")
RESTARTS = (0, 5, 6, 13, 20, ROUNDS)
OPEN = 3  # rounds after its own in which a list takes ratings
GRADES = GradeSettings(weights={"star": 1.0, "buy": 2.0, "flag": -9.0}, highest=5.0)
RULES = RankerSettings(
    grades=GRADES,
    window=(OPEN + 0.5) * STEP,
)


def name_of(number: int) -> str:
    """The id of the list of a round: `Ids` count from 1."""
    return f"q{number + 1}"


@dataclass(frozen=True, kw_only=True)
class Rating:
    """What someone did with a result of the list of one round, and in which round it was heard of."""

    about: int
    heard: int
    position: int
    action: str
    value: float | None

    @property
    def late(self) -> bool:
        return self.heard > self.about + OPEN

    def event(self, shown: Sequence[str]) -> dict[str, Any]:
        """In the shape of UBI."""
        attributes = {"object": {"object_id": shown[self.position - 1]}}
        return {
            "action_name": self.action,
            "query_id": name_of(self.about),
            "event_id": repr(self),
            "event_attributes": attributes | ({} if self.value is None else {"value": self.value}),
        }


def ratings(rng: np.random.Generator) -> list[Rating]:
    """Of most lists, none like another; some of them a lone thumb down, and some too late."""
    said: list[Rating] = []
    for about in range(ROUNDS - OPEN):
        for number in rng.permutation(3 * SHOWN)[: int(rng.integers(0, 5))].tolist():
            action = ("star", "star", "buy", "flag")[int(rng.integers(4))]
            value = None if action == "flag" else float(rng.integers(6))
            delay = int(rng.integers(OPEN + 1)) if rng.random() < 0.8 else OPEN + 2
            heard = min(about + delay, ROUNDS - 1)
            each = Rating(about=about, heard=heard, position=1 + number % SHOWN, action=action, value=value)
            said = [*(other for other in said if not _of_the_same(other, each)), each]
    return said


def _of_the_same(one: Rating, other: Rating) -> bool:
    """Of two such ratings the last one heard counts: then the order matters, and must."""
    return (one.about, one.position, one.action) == (other.about, other.position, other.action)


@dataclass(frozen=True)
class Desk:
    """Where a shop asks for lists and says what was done with them."""

    rank: Callable[[list[Candidate]], Sequence[str]]
    record: Callable[[list[dict[str, Any]]], list[str]]


@contextmanager
def in_process(service: ServiceFacade) -> Iterator[Desk]:
    yield Desk(
        lambda among: service.rank(among, ranker="shop", k=SHOWN).object_ids,
        lambda events: [str(each.verdict) for each in service.record(events)],
    )


@contextmanager
def over_http(service: ServiceFacade) -> Iterator[Desk]:
    with alive(service) as live:

        def rank(among: list[Candidate]) -> list[str]:
            candidates = [{"object_id": each.object_id, "features": dict(each.features)} for each in among]
            body = {"candidates": candidates, "ranker": "shop", "k": SHOWN}
            return [each["object_id"] for each in live["rank"].post("/v1/rank", json=body).json()["ranking"]]

        def record(events: list[dict[str, Any]]) -> list[str]:
            answer = live["page"].post("/v1/events", json={"events": events})
            return [each["verdict"] for each in answer.json()["receipts"]]

        yield Desk(rank, record)


Way = Callable[[ServiceFacade], AbstractContextManager[Desk]]


@dataclass
class Life:
    """A shop of some rounds, in one process or in several, each of which finds the file of a crash."""

    folder: Path
    rules: RankerSettings
    way: Way = in_process
    clock: Clock = field(default_factory=Clock)
    ids: Ids = field(default_factory=Ids)
    lists: list[Sequence[str]] = field(default_factory=list)
    verdicts: Counter[str] = field(default_factory=Counter)
    learned: State = field(default_factory=dict)
    known: int = 0  # lists that were learned

    def live(self, post: Sequence[Sequence[Sequence[Rating]]], *, crashes: bool) -> Life:
        """By round the calls in which ratings come."""
        self.folder.mkdir()
        stretches = pairwise(RESTARTS) if crashes else [(0, ROUNDS)]
        for start, end in stretches:
            with SqliteStore(self.folder / f"log{start}") as store:
                service = ServiceFacade(store, clock=self.clock, ids=self.ids)
                service.create("shop", self.rules)
                with self.way(service) as desk:
                    for number in range(start, end):
                        service.tick()
                        self._round(desk, number, post[number])
                settle(store)
                copied(self.folder / f"log{start}", self.folder / f"log{end}")
        self._end()
        return self

    def _round(self, desk: Desk, number: int, calls: Sequence[Sequence[Rating]]) -> None:
        among = some_candidates(np.random.default_rng(number), 7 + number % 3)
        self.lists.append(desk.rank(among))
        for call in calls:
            self.verdicts.update(desk.record([each.event(self.lists[each.about]) for each in call]))
        self.clock.now += STEP

    def _end(self) -> None:
        """A process that does nothing but close what is open."""
        with SqliteStore(self.folder / f"log{ROUNDS}") as store:
            service = ServiceFacade(store, clock=self.clock, ids=self.ids)
            service.flush("shop")
            self.learned, self.known = state(service), service.model("shop").lists
            assert service.health().ok
            assert same(folded_anew(service)[2], self.learned), "the fold of the log, without a snapshot"
            assert all(service.replay(name_of(number)).identical for number in range(ROUNDS))


def at_once(said: Sequence[Rating]) -> list[list[list[Rating]]]:
    """All that was done with a list is heard in one call, at once; what is late is late."""
    rounds = []
    for number in range(ROUNDS):
        prompt = [each for each in said if each.about == number and not each.late]
        rounds.append([prompt, [each for each in said if each.heard == number and each.late]])
    return rounds


def scattered(said: Sequence[Rating], rng: np.random.Generator) -> list[list[list[Rating]]]:
    """In the rounds in which they were heard, one by one in any order, and most of them again and again."""
    rounds = []
    for number in range(ROUNDS):
        late = [each for each in said if each.heard == number and each.late]
        prompt = [each for each in said if each.heard == number and not each.late]
        before = [each for each in said if each.heard < number and rng.random() < 0.3]
        mixed = [*prompt, *prompt, *before]
        first = [[mixed[index]] for index in rng.permutation(len(mixed)).tolist()]
        rounds.append([*first, *([each, each] for each in late)])
    return rounds


def lived(folder: Path, rules: RankerSettings, way: Way = in_process) -> tuple[Life, Life, list[Rating]]:
    """The same shop twice: once as simple as can be, once as bad as can be."""
    said = ratings(np.random.default_rng(1))
    heard = [each for each in said if rules.learn_late or not each.late]
    plain = Life(folder / "plain", rules).live(at_once(heard), crashes=False)
    bad = scattered(said, np.random.default_rng(2))
    return plain, Life(folder / "bad", rules, way).live(bad, crashes=True), said


@pytest.fixture
def folder() -> Iterator[Path]:
    """In memory, where there is such a thing: dozens of lives need not wait for a disk."""
    with TemporaryDirectory(prefix="rankloop-graded-", dir=MEMORY if MEMORY.is_dir() else None) as name:
        yield Path(name)


@pytest.mark.parametrize("learn_late", [False, True], ids=["late teaches nothing", "late teaches"])
@pytest.mark.parametrize("unrated", ["zero", "unknown"])
@pytest.mark.parametrize("policy", POLICIES)
def test_ratings_teach_the_same_whenever_and_however_often_they_come(
    folder: Path, policy: str, unrated: Unrated, learn_late: bool
) -> None:
    rules = structs.replace(
        RULES,
        policy=read_policy(policy),
        grades=structs.replace(GRADES, unrated=unrated),
        learn_late=learn_late,
    )
    plain, bad, said = lived(folder, rules)
    assert bad.lists == plain.lists
    assert same(bad.learned, plain.learned)
    late = sum(each.late for each in said)
    assert bad.verdicts["accepted"] == plain.verdicts["accepted"] == len(said) - late
    assert (bad.verdicts["late"], plain.verdicts["late"]) == (late, late * learn_late)
    assert bad.verdicts["duplicate"] > len(said)
    in_time = len({each.about for each in said if not each.late})
    assert bad.known == in_time + late * learn_late
    fresh = read_policy(rules.policy).state()
    assert not same({**fresh}, {name: bad.learned[name] for name in fresh})


def test_ratings_teach_the_same_over_http(folder: Path) -> None:
    rules = structs.replace(
        RULES,
        policy=read_policy("RTopKItems(top_k=2)"),
        grades=structs.replace(GRADES, unrated="unknown"),
        learn_late=True,
    )
    plain, bad, _ = lived(folder, rules, over_http)
    assert bad.lists == plain.lists
    assert bad.verdicts["duplicate"] > bad.verdicts["late"] > 0
    assert same(bad.learned, plain.learned)


@pytest.mark.parametrize("unrated", ["zero", "unknown"])
@pytest.mark.parametrize("policy", ["ThompsonItems(top_grade=5)", "UCBItems(top_grade=5)"])
def test_a_lone_thumb_down_lowers_what_was_liked(policy: str, unrated: Unrated) -> None:
    """The first result; read implicitly, the second was looked at, too, and the third never was."""
    service = ServiceFacade(open_temporary_store(), clock=Clock(), ids=Ids())
    service.create(
        "shop",
        structs.replace(RULES, policy=read_policy(policy), grades=structs.replace(GRADES, unrated=unrated)),
    )
    candidates = [Candidate(name, {}) for name in "abc"]

    def scores() -> dict[str, float]:
        return {each.object_id: each.score for each in service.rank(candidates, ranker="shop").ranking}

    shown = service.rank(candidates, ranker="shop")
    service.record([UserEvent(shown.query_id, name, "star", value=5.0) for name in "abc"])
    service.flush("shop")
    liked, shown = scores(), service.rank(candidates, ranker="shop")
    flagged, second, third = shown.object_ids
    service.record([UserEvent(shown.query_id, flagged, "flag")])
    service.flush("shop")
    after = scores()
    assert service.model("shop").lists == 2
    assert after[flagged] < liked[flagged]
    assert (after[second] < liked[second]) == (unrated == "zero")
    assert after[third] == liked[third]
