"""`python -m benchmarks.kills --kills 100`: a service is killed again and again, whatever it is doing.

Users search and click; an operator forgets clicks, rolls back, changes the mode, deletes a person, backs up
and rotates a key; SIGKILL comes at any moment, and the next process begins. Afterwards every acknowledged
event must be in the log once, every job done, and the weights those of a plain fold of the log, without any
snapshot, to the bit; no byte of a deleted person is left, backups are whole, the key shown last opens.

What the operator does are the lists `ACTIONS` and `BESIDE`: another thing that must survive is another entry.
"""

from __future__ import annotations

import argparse
import contextlib
import shutil
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

import numpy as np
from rich.console import Console

from benchmarks.mortal import Mortal
from rankloop.candidate import Candidate
from rankloop.cli.log_commands import findings
from rankloop.client import Client, ClientError
from rankloop.service import RankerSettings, UserEvent
from rankloop.service.core.checkpoint import checkpoint_name
from rankloop.service.core.history import History
from rankloop.service.extensions.registry import load_registry
from rankloop.service.operations.backup import back_up, restore
from rankloop.service.operations.data_directory import DataDirectory
from rankloop.service.service_facade import ServiceFacade
from rankloop.service.store import COUNTED, SqliteStore, write
from rankloop.types import State

CONSOLE = Console(highlight=False, soft_wrap=True)
RULES = RankerSettings(window=0.3)
USERS = 2
SHOP = "shop"  # the name of a key
END = 2**62  # beyond every entry


@dataclass
class Seen:
    """What the service has acknowledged."""

    events: list[str] = field(default_factory=list)
    jobs: set[int] = field(default_factory=set)
    refused: Counter[str] = field(default_factory=Counter)
    asked: Counter[str] = field(default_factory=Counter)
    deleted: list[str] = field(default_factory=list)  # clients
    key: str = ""  # the shop's, as it was shown last


class Actor(threading.Thread):
    """Someone who goes on whatever happens to the service."""

    scope = "rank"

    def __init__(self, server: Mortal, seed: int, seen: Seen, stop: threading.Event) -> None:
        super().__init__(name=f"{type(self).__name__}-{seed}")
        self.server, self.seen, self.stop = server, seen, stop
        self.rng, self.turn = np.random.default_rng(seed), 0

    def run(self) -> None:
        """One turn after the other, with a new connection after each death."""
        while not self.stop.is_set():
            client = Client(self.server.url, self.server.keys[self.scope], retries=0, timeout=30)
            with contextlib.suppress(ClientError), client:
                while not self.stop.is_set():
                    self.turn += 1
                    self.act(client)
            time.sleep(0.02)

    def act(self, client: Client) -> None:
        """One turn."""
        raise NotImplementedError


class User(Actor):
    """Searches and clicks, and sends again what was not acknowledged."""

    unsure: tuple[dict[str, object], ...] = ()

    def act(self, client: Client) -> None:
        """A list and two clicks."""
        xs = self.rng.random(6).tolist()
        shown = client.rank([Candidate(f"d{i}", {"x": x, "y": float(i)}) for i, x in enumerate(xs)])
        if not shown.query_id:
            raise ClientError("nobody is there")
        first = str(self.rng.choice(list(shown.object_ids)))
        click = {"action_name": "click", "query_id": shown.query_id, "event_id": f"{self.name}-{self.turn}"}
        self.unsure += (click | {"event_attributes": {"object": {"object_id": first}}},)
        receipts = client.events(self.unsure)
        counted = [each["event_id"] for each in receipts if each["verdict"] in (*COUNTED, "duplicate")]
        self.seen.events += counted
        self.unsure = ()
        time.sleep(0.01)


class Operator(Actor):
    """Does one action after the other; while a job is under way, what needs none."""

    scope = "admin"
    done = 0  # actions

    def act(self, client: Client) -> None:
        """The next action; what is refused for a reason is counted."""
        waits = any(each["state"] in ("waiting", "running") for each in client.jobs())
        actions = BESIDE if waits else ACTIONS
        action = actions[self.done % len(actions)]
        self.done += 1
        try:
            action(self, client)
            self.seen.asked[action.__name__] += 1
            time.sleep(0.2)
        except ClientError as error:
            if error.status in (0, 503):
                raise
            self.seen.refused[f"{action.__name__}: {str(error)[:60]}"] += 1

    def asked(self, job: dict[str, object]) -> None:
        """A job was acknowledged."""
        self.seen.jobs.add(int(str(job["id"])))


Action: TypeAlias = Callable[[Operator, Client], None]


def forget(operator: Operator, client: Client) -> None:
    """Some clicks that were acknowledged."""
    known = list(operator.seen.events)  # users go on adding to it
    if known:
        chosen = operator.rng.choice(known, min(len(known), 20), replace=False).tolist()
        operator.asked(client.forget(sorted(set(chosen))))


def roll_back(operator: Operator, client: Client) -> None:
    """To a version of long ago."""
    versions = [each["version"] for each in client.models()["snapshots"]]
    operator.asked(client.rollback(to=versions[int(operator.rng.integers(len(versions)))]))


def freeze(operator: Operator, client: Client) -> None:
    """For a moment."""
    client.set_mode("frozen", reason="for a moment")
    client.set_mode("explore", reason=operator.name)


def delete(operator: Operator, client: Client) -> None:
    """Someone who has just searched and clicked."""
    who = f"goes-{operator.name}-{operator.turn}-x"
    shown = client.rank([Candidate(f"d{i}", {"x": float(i), "y": 1.0}) for i in range(6)], client_id=who)
    client.click(shown, shown.object_ids[-1], client_id=who)
    client.delete_people([{"client_id": who}])
    operator.seen.deleted.append(who)


def back_up_now(operator: Operator, client: Client) -> None:
    """Beside the service, which may be killed meanwhile."""
    client.models()  # it is there
    folder = operator.server.folder
    back_up(DataDirectory(folder), folder.with_name(f"backup-{operator.turn}.db"), said={"by": operator.name})


def rotate(operator: Operator, client: Client) -> None:
    """New bits for the shop's key; the old ones open for a while, as the answer may be lost."""
    operator.seen.key = client.rotate_key(SHOP, grace=3600.0)


ACTIONS: list[Action] = [delete, forget, rotate, roll_back, back_up_now, freeze]
BESIDE: list[Action] = [rotate, back_up_now, freeze]  # while a job is under way


def fill(folder: Path, lists: int) -> None:
    """A past that takes a while to be learned again."""
    rng = np.random.default_rng(1)
    with DataDirectory(folder).open() as store, ServiceFacade(store) as service:
        service.create("default", RULES)
        for start in range(0, lists, 500):
            events = []
            for number in range(start, min(start + 500, lists)):
                xs = rng.random(6).tolist()
                shown = service.rank([Candidate(f"d{i}", {"x": x, "y": float(i)}) for i, x in enumerate(xs)])
                events.append(
                    UserEvent(shown.query_id, shown.object_ids[number % 3], event_id=f"old-{number}")
                )
            service.record(events)
        service.flush("default")


@dataclass(frozen=True)
class Verdict:
    """What is left after all these deaths."""

    kills: int
    under_way: int  # of them, while a job was
    acknowledged: int
    lost: int
    doubled: int
    jobs: Counter[str]  # that were acknowledged, by what has become of them
    logged: Counter[str]  # all that are in the log: an answer may have been lost
    resumed: int  # jobs that outlived a process, and were done by another
    identical: bool  # weights, to those of a plain fold
    lists: int
    asked: Counter[str]
    refused: Counter[str]
    deleted: int
    left: int  # of those deleted, of whom a byte is left
    backups: int
    damaged: list[str]
    opens: bool  # the key that was shown last

    @property
    def well(self) -> bool:
        """Nothing acknowledged is lost, and everything is as the log says."""
        ended = set(self.jobs) | set(self.logged) <= {"done", "failed"}
        clean = not self.left and not self.damaged and self.opens
        return not self.lost and not self.doubled and self.identical and ended and clean

    def lines(self) -> Iterator[str]:
        """In words."""
        yield f"{self.kills} kills, {self.under_way} of them while a job was under way"
        yield f"events: {self.acknowledged:,} acknowledged, {self.lost} lost, {self.doubled} counted twice"
        yield f"jobs acknowledged: {dict(self.jobs)}; in the log: {dict(self.logged)}"
        yield f"{self.resumed} of them were under way when a process was killed, and done by a later one"
        yield f"weights after {self.lists:,} lists: {'the same to the bit' if self.identical else 'ANOTHER'}"
        yield f"acknowledged: {dict(self.asked)}; refused: {dict(self.refused)}"
        yield f"{self.deleted} people deleted, of {self.left} a byte is left"
        yield f"{self.backups} backups, damage in the last three: {self.damaged or 'none'}"
        yield f"the key that was shown last {'opens' if self.opens else 'DOES NOT OPEN'}"


def suffer(folder: Path, *, kills: int, lists: int, seed: int = 0, seconds: float = 300.0) -> Verdict:
    """Live and die so many times, but no longer than so many seconds."""
    fill(folder, lists)
    server, seen, stop, rng = Mortal(folder), Seen(), threading.Event(), np.random.default_rng(seed)
    server.start()
    with Client(server.url, server.keys["admin"], timeout=60) as client:
        seen.key = client.create_key(SHOP, "rank")
    actors: list[Actor] = [User(server, seed * 10 + number, seen, stop) for number in range(USERS)]
    actors.append(Operator(server, seed, seen, stop))
    for actor in actors:
        actor.start()
    began, died, under_way, resumed = time.monotonic(), 0, 0, set[int]()
    while died < kills and time.monotonic() - began < seconds:
        time.sleep(float(rng.exponential(0.7)))
        waiting = _waiting(server)
        server.kill()
        died, under_way = died + 1, under_way + bool(waiting)
        resumed |= waiting
        server.start()
    stop.set()
    for actor in actors:
        actor.join()
    while _waiting(server):
        time.sleep(0.1)
    opens = _ended(server, seen.key)
    if server.stop():
        sys.exit("it did not end well")
    return _verdict(folder, seen, died, under_way, resumed, opens=opens)


def _ended(server: Mortal, key: str) -> bool:
    """Wait for deletions to be finished; whether a key opens."""
    with Client(server.url, server.keys["admin"], timeout=30) as client:
        while not all(each["done"] for each in client.deletions()):
            time.sleep(0.1)
    with contextlib.suppress(ClientError), Client(server.url, key, retries=0, timeout=60) as shop:
        return bool(shop.rank([Candidate("a", {"x": 1.0, "y": 1.0})]).query_id)
    return False


def _traces(folder: Path, people: Sequence[str]) -> int:
    """Of how many a byte is left in the files of the folder."""
    raw = b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())
    return sum(who.encode() in raw for who in people)


def _damage(backup: Path) -> list[str]:
    """What is wrong with a backup, once it is restored."""
    copy = DataDirectory(backup.with_suffix(""))
    restore(backup, copy, load_registry().part_types)
    return findings(copy.path, "", 20)


def _waiting(server: Mortal) -> set[int]:
    """The jobs that are not done."""
    with contextlib.suppress(ClientError), Client(server.url, server.keys["admin"], timeout=30) as client:
        return {each["id"] for each in client.jobs() if each["state"] in ("waiting", "running")}
    return set()


def _verdict(
    folder: Path, seen: Seen, kills: int, under_way: int, resumed: set[int], *, opens: bool
) -> Verdict:
    backups = sorted(folder.parent.glob("backup-*.db"))
    left, damaged = _traces(folder, seen.deleted), [each for path in backups[-3:] for each in _damage(path)]
    plain = folder.with_name("plain.db")
    with SqliteStore(folder / "log.db") as store:
        events = Counter(each.event_id for each in store.read_events("default") if each.verdict in COUNTED)
        service = ServiceFacade(store)
        service.tick()
        fold, jobs = service.ranker("default").fold, {each.id: each.state for each in service.jobs()}
        write(store, lambda transaction: transaction.list_rankers())  # whatever was in the queue is written
        for ending in ("", "-wal"):
            if (folder / f"log.db{ending}").exists():
                shutil.copy(folder / f"log.db{ending}", f"{plain}{ending}")
        with SqliteStore(plain) as copy:
            for name in ("default", checkpoint_name("default")):
                write(copy, lambda job, name=name: job.delete_snapshots(name, before=END))  # type: ignore[misc]
            anew = _plain_fold(copy, service, fold.spec.without)
        here = fold.learned.policy.state()
        same = here.keys() == anew.keys() and all(
            here[each].tobytes() == anew[each].tobytes() for each in here
        )
    return Verdict(
        kills=kills,
        under_way=under_way,
        acknowledged=len(set(seen.events)),
        lost=len(set(seen.events) - events.keys()),
        doubled=sum(count > 1 for count in events.values()),
        jobs=Counter(jobs.get(number, "lost") for number in seen.jobs),
        logged=Counter(jobs.values()),
        resumed=sum(jobs.get(number) == "done" for number in resumed),
        identical=same,
        lists=fold.learned.lists,
        asked=seen.asked,
        refused=seen.refused,
        deleted=len(seen.deleted),
        left=left,
        backups=len(backups),
        damaged=damaged,
        opens=opens,
    )


def _plain_fold(store: SqliteStore, service: ServiceFacade, without: frozenset[str]) -> State:
    """The state by the log alone: one pass, without what was forgotten."""
    past = service.ranker("default").history
    history = History("default", store, past.registry, past.policy_kinds, uses_snapshots=False)
    return dict(history.rebuild(history.spec(END, without=without)).learned.policy.state())


def main() -> None:
    """Suffer, look, and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--lists", type=int, default=300, help="of the past that jobs learn again")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        began = time.monotonic()
        found = suffer(Path(folder) / "data", kills=options.kills, lists=options.lists, seed=options.seed)
        for line in found.lines():
            CONSOLE.print(line)
        CONSOLE.print(f"{time.monotonic() - began:.0f} s")
        sys.exit(0 if found.well else 1)


if __name__ == "__main__":
    main()
