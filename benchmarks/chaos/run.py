"""A run of chaos: parts are killed and cut off by chance, and then everything is looked through."""

from __future__ import annotations

import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence, Sized
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import httpx
import numpy as np
import psycopg

from benchmarks.chaos.clients import Notes, Visitor
from benchmarks.chaos.network import Network, network
from benchmarks.chaos.operators import Operator, unfinished
from benchmarks.chaos.replica import RANKER, Known, Orders, Replica
from rankloop.service.core.history import History
from rankloop.service.http import Keys
from rankloop.service.service_facade import ServiceFacade
from rankloop.service.store import COUNTED
from rankloop.service.store.postgres import PostgresStore
from tests.support.ports import free_port
from tests.support.postgres import Cluster

REPLICAS, CLIENTS = 3, 4
HOURS_OFF = (0.0, 2.0, -3.0)  # the clocks of two replicas are wrong: ahead, and behind
CUT = 9.0  # seconds
TAKEOVER = 10.0  # seconds that a new learner may take
REPLAYED = 60  # of the lists, made again
HOLDER = """SELECT application_name FROM pg_locks JOIN pg_stat_activity USING (pid)
    WHERE locktype = 'advisory' AND mode = 'ExclusiveLock' AND granted"""


@dataclass
class Findings:
    """What was seen, and what must not be."""

    network: str
    deeds: Counter[str] = field(default_factory=Counter)
    takeovers: list[float] = field(default_factory=list)  # seconds
    slow: int = 0  # learners that nobody replaced in time
    notes: list[Notes] = field(default_factory=list)
    unsure: int = 0  # events that were never acknowledged, however often they were sent
    lost: int = 0  # acknowledged, and not in the log
    twice: int = 0  # in the log, more than once
    missing: int = 0  # lists that were answered without a mark, and are not in the log
    altered: int = 0  # in the log otherwise than they were answered
    kept: int = 0  # marked, and in the log all the same
    orphans: int = 0  # clicks on lists without a mark that found no list
    asked: Counter[str] = field(default_factory=Counter)  # of operators, and acknowledged
    denied: Counter[str] = field(default_factory=Counter)  # of operators, and refused or not answered
    unfinished: int = 0  # jobs that were acknowledged, and have not ended
    unlike: int = 0  # lists that could not be made again to the bit, or not be audited
    replayed: int = 0
    known: list[Known] = field(default_factory=list)  # of every replica, and of a fresh fold
    skew: float = 0.0  # seconds between the log's time and the clock, at most
    seconds: float = 0.0

    def total(self, of: Callable[[Notes], Sized]) -> int:
        """A sum over the clients."""
        return sum(len(of(each)) for each in self.notes)

    def broken(self, *, durable: bool) -> list[str]:
        """The promises that were broken, in words."""
        found = {
            "events were never acknowledged": self.unsure,
            "acknowledged events are lost": self.lost,
            "events are there twice": self.twice,
            "lists are in the log otherwise than answered": self.altered,
            "lists could not be audited or made again": self.unlike,
            "learners were not replaced in time": self.slow,
            "jobs have not ended": self.unfinished,
            "answered lists are not in the log": self.missing if durable else 0,
            "clicks found no list": self.orphans if durable else 0,
            "models differ": len(set(self.known)) - 1,
        }
        return [f"{count} {what}" for what, count in found.items() if count]


class Chaos:
    """Three replicas, four clients, one database."""

    def __init__(
        self,
        stack: ExitStack,
        *,
        seed: int,
        durable: bool,
        on_disk: bool,
        say: Callable[[str], object],
        promise: bool = False,
    ) -> None:
        self.say, self.promise = say, promise
        self.rng = np.random.default_rng(seed)
        self.cluster = Cluster(on_disk=on_disk, reachable="10.178.0.0/16")
        stack.callback(self.cluster.remove)
        self.network: Network = network(REPLICAS, self.cluster)
        stack.callback(self.network.close)
        self.url = self.cluster.url()
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        kept, self.keys = Keys.fresh()
        self.replicas = [Replica(self._orders(number, folder, durable), kept) for number in range(REPLICAS)]
        for each in self.replicas:
            each.start()
            stack.callback(each.kill)
        assert all(each.wait() for each in self.replicas), "a replica did not start"
        self.found = Findings(self.network.told)
        self.cut = -1  # the replica that is cut off

    def _orders(self, number: int, folder: Path, durable: bool) -> Orders:
        host, namespace = self.network.host(number), self.network.namespace(number)
        url = self.network.url(number, self.url)
        return Orders(url, host, free_port(), folder, durable, namespace, HOURS_OFF[number], self.promise)

    def learner(self) -> int | None:
        """The number of the replica that learns, if there is one; it may be cut off by now."""
        try:
            with psycopg.connect(self.url, autocommit=True) as connection:
                names = [str(name) for (name,) in connection.execute(HOLDER)]
        except psycopg.Error:
            return None
        for number, each in enumerate(self.replicas):
            if any(name.endswith(each.name) for name in names):
                return number
        return None

    def someone_learns(self) -> int:
        """The learner, for whom it is waited."""
        end = time.monotonic() + 60
        while (found := self.learner()) is None:
            assert time.monotonic() < end, "nobody learns"
            time.sleep(0.05)
        return found

    def kill_replica(self, number: int) -> None:
        """Kill one, and start it again."""
        self.replicas[number].kill()
        self._revive(number)

    def kill_learner(self) -> None:
        """Kill the learner, wait for another, and start it again."""
        number = self.someone_learns()
        self.replicas[number].kill()
        self._measure_takeover(number)
        self._revive(number)

    def kill_database(self) -> None:
        """An immediate shutdown, as good as a kill; it recovers from its own log."""
        self.cluster.stop("immediate")
        time.sleep(float(self.rng.uniform(0.1, 1.0)))
        self.cluster.start()

    def cut_learner_off(self) -> None:
        """Cut the learner's cable to the database for a while; clients still ask it."""
        number = self.someone_learns()
        began = time.monotonic()
        self.network.cut(number)
        self._measure_takeover(number)
        time.sleep(max(0.0, began + CUT - time.monotonic()))
        self.network.mend(number)

    def _measure_takeover(self, number: int) -> None:
        began = time.monotonic()
        while (found := self.learner()) is None or found == number:
            if time.monotonic() - began > TAKEOVER:
                self.found.slow += 1
                return
            time.sleep(0.02)
        self.found.takeovers.append(time.monotonic() - began)

    def _revive(self, number: int) -> None:
        self.replicas[number].start()
        while not self.replicas[number].wait():  # the database was away
            self.replicas[number].process.join()
            self.replicas[number].start()

    def deeds(self, kills: int, cuts: int) -> list[tuple[str, Callable[[], None]]]:
        """What is to be done, in which order: by chance, but every kind of kill has its share."""
        kinds: list[tuple[str, Callable[[], None]]] = []
        for number in range(kills):
            if number % 6 == 5:
                kinds.append(("database killed", self.kill_database))
            elif number % 3 == 1:
                kinds.append(("learner killed", self.kill_learner))
            else:
                victim = int(self.rng.integers(REPLICAS))
                kinds.append(("replica killed", partial(self.kill_replica, victim)))
        kinds = [kinds[place] for place in self.rng.permutation(len(kinds))]
        for number in range(cuts):
            at = (number + 1) * len(kinds) // (cuts + 1)
            kinds.insert(at, ("learner cut off", self.cut_learner_off))
        return kinds

    def live(self, kills: int, cuts: int, pause: float, operators: int = 0) -> None:
        """Let clients live while parts die."""
        stop = threading.Event()
        urls = [each.url for each in self.replicas]
        visitors = [Visitor(urls, self.keys["rank"], seed, stop) for seed in range(CLIENTS)]
        asking = [Operator(urls, self.keys["admin"], seed, stop, visitors) for seed in range(operators)]
        for each in (*visitors, *asking):
            each.start()
        for name, deed in self.deeds(kills, cuts):
            time.sleep(float(self.rng.uniform(0.2, 1.8) * pause))
            began = time.monotonic()
            deed()
            self.found.deeds[name] += 1
            self.say(f"{name}, {time.monotonic() - began:.1f} s")
        time.sleep(1.0)
        stop.set()
        for each in (*visitors, *asking):
            each.join()
        for operator in asking:
            self.found.asked += operator.asked
            self.found.denied += operator.refused
        jobs = {number for each in asking for number in each.jobs}
        if jobs:
            self.found.unfinished = unfinished(self.replicas[0].url, self.keys["admin"], jobs)
        self.found.notes = [each.notes for each in visitors]
        self.found.unsure = sum(each.unsure for each in visitors)

    # afterwards

    def settle(self) -> None:
        """Wait until every list has closed, and every replica knows it."""
        since, before, end = time.monotonic(), None, time.monotonic() + 60
        while time.monotonic() - since < 3.0:
            versions = [self._version(each) for each in self.replicas]
            if versions != before or len(set(versions)) > 1:
                since, before = time.monotonic(), versions
            assert time.monotonic() < end, f"replicas do not come to rest: {versions}"
            time.sleep(0.2)

    def _version(self, replica: Replica) -> object:
        headers = {"Authorization": f"Bearer {self.keys['admin']}"}
        try:
            return httpx.get(f"{replica.url}/v1/models", headers=headers, timeout=10).json()["version"]
        except (httpx.HTTPError, KeyError):
            return replica.url

    def look_through(self) -> None:
        """Hold what the clients were told against what is in the log."""
        found = self.found
        lists = {name: digest for each in found.notes for name, digest in each.lists.items()}
        unlogged = {name for each in found.notes for name in each.unlogged}
        chosen = self.rng.permutation(sorted(lists))[:REPLAYED].tolist()
        self._audit(chosen[: 6 * REPLICAS])
        found.known = [each.end() for each in self.replicas]
        with PostgresStore(self.url) as store:
            logged = {each.query_id: each for each in store.read_impressions(RANKER)}
            there = {name: each.digest for name, each in logged.items()}
            counted = Counter(each.event_id for each in store.read_events(None) if each.verdict in COUNTED)
            acknowledged = {event for each in found.notes for event in each.acknowledged}
            found.lost = len(acknowledged - counted.keys())
            found.twice = sum(count > 1 for count in counted.values())
            found.missing = len(lists.keys() - there.keys())
            found.altered = sum(there.get(name, digest) != digest for name, digest in lists.items())
            found.kept = len(unlogged & there.keys())
            found.orphans = sum(
                query_id in lists for each in found.notes for query_id in each.orphans.values()
            )
            found.skew = max((abs(store.lag(time.time())), _ahead(store)))
            service = ServiceFacade(store)
            ordered = sorted((name for name in chosen if name in there), key=lambda name: logged[name].model)
            again = [service.replay(name).identical for name in ordered]  # one walk through the past
            found.replayed, found.unlike = len(again), found.unlike + again.count(False)
            past = service.ranker(RANKER).history
            history = History(RANKER, store, past.registry, past.policy_kinds, uses_snapshots=False)
            found.known += [Known.of(service.model(RANKER)), Known.of(history.newest().model)]

    def _audit(self, names: Sequence[str]) -> None:
        """Any replica can say everything about any list."""
        headers = {"Authorization": f"Bearer {self.keys['admin']}"}
        for number, name in enumerate(names):
            url = self.replicas[number % REPLICAS].url
            answer = httpx.get(f"{url}/v1/audit/{name}", headers=headers, timeout=30)
            self.found.unlike += answer.status_code not in (200, 404)  # those that are missing are counted


def _ahead(store: PostgresStore) -> float:
    last = next(store.read_events(None, newest=1), None)
    return 0.0 if last is None else max(0.0, last.at - time.time())


def chaos(
    *,
    kills: int,
    cuts: int,
    seed: int = 0,
    durable: bool = True,
    pause: float = 1.0,
    on_disk: bool = False,
    operators: int = 0,
    promise: bool = False,
    say: Callable[[str], object] = lambda _: None,
) -> Findings:
    """Let everything happen, and say what was found."""
    began = time.monotonic()
    with ExitStack() as stack:
        world = Chaos(stack, seed=seed, durable=durable, on_disk=on_disk, say=say, promise=promise)
        say(f"{time.monotonic() - began:.1f} s: everything is up")
        world.live(kills, cuts, pause, operators)
        say(f"{time.monotonic() - began:.1f} s: clients are done")
        world.settle()
        say(f"{time.monotonic() - began:.1f} s: replicas are at rest")
        world.look_through()
    world.found.seconds = time.monotonic() - began
    return world.found
