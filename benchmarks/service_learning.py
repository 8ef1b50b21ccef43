"""Does the service learn what the simulator learns? Everything goes over HTTP, as from a real site.

A tenth of the clicks come twice, a tenth come late, and one in twenty names a list that never was. Run it:
`python -m benchmarks.service_learning --data "mq2008(fold=1)" --rounds 3000`; it starts a service of its own.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.serving import Server
from rankloop.candidate import Candidate
from rankloop.client import Client
from rankloop.lab.data import Dataset, load
from rankloop.lab.simulation.loop import simulate
from rankloop.lab.simulation.protocol import Protocol
from rankloop.lab.users import PresetUser, UserModel
from rankloop.metrics import NDCG
from rankloop.policies import PairRank
from rankloop.query_set import JudgedQuery, QuerySet
from rankloop.types import Feedback, Query, Ranking

TWICE, LATE, ORPHAN = 0.10, 0.10, 0.05


@dataclass
class Site:
    """A web site that only knows the service's address, and its visitors."""

    client: Client
    user: UserModel
    rng: np.random.Generator
    clock: Callable[[], float]
    window: float
    held: list[tuple[float, dict[str, Any]]] = field(default_factory=list)  # events that will come late
    sent: int = 0

    def visit(self, judged: JudgedQuery) -> None:
        """Someone searches, looks, clicks."""
        shown = self.client.rank(items(judged.query), k=10)
        assert shown.fallback is None, shown.fallback
        order = np.array([int(name) for name in shown.object_ids])
        response = self.user.respond(Ranking(judged.query, order), judged.relevance, self.rng)
        self._send(shown.query_id, shown.object_ids, response)

    def _send(self, query_id: str, object_ids: Any, response: Feedback) -> None:
        now = self.clock()
        events = [self._event(query_id, object_ids[index]) for index in np.flatnonzero(response.clicks)]
        if events and self.rng.random() < LATE:
            self.held += [(now + 1.5 * self.window, event) for event in events]
            events = []
        events += [event for event in events if self.rng.random() < TWICE]
        events += [self._event("nobody-knows", "0") for _ in range(int(self.rng.random() < ORPHAN))]
        events += [event for due, event in self.held if due <= now]
        self.held = [(due, event) for due, event in self.held if due > now]
        if events:
            self.client.events(events)

    def _event(self, query_id: str, object_id: str) -> dict[str, Any]:
        self.sent += 1
        return {
            "event_id": f"e{self.sent}",
            "query_id": query_id,
            "action_name": "click",
            "event_attributes": {"object": {"object_id": object_id}},
        }


def items(query: Query) -> list[Candidate]:
    """Candidates with raw features by name."""
    return [
        Candidate(str(row), {f"f{column}": value for column, value in enumerate(values)})
        for row, values in enumerate(query.features.tolist())
    ]


def offline(client: Client, test: QuerySet) -> float:
    """Mean nDCG@10 of what the service shows without exploring; it stands frozen meanwhile."""
    before = client.rankers()["default"]["mode"]
    client.set_mode("frozen", reason="measuring")
    ndcg, values = NDCG(k=10), []
    for judged in test:
        if judged.relevance.any():
            shown = client.rank(items(judged.query), k=10)
            values.append(ndcg(np.array([int(name) for name in shown.object_ids]), judged.relevance))
    client.set_mode(before)
    return float(np.mean(values))


def in_the_simulator(data: Dataset, user: UserModel, *, rounds: int, seeds: int) -> list[float]:
    """What the same policy reaches where feedback is immediate and complete."""
    protocol = Protocol(rounds=rounds, checkpoints=1)
    reached = []
    for seed in range(seeds):
        records = simulate(PairRank(), user, data.train, data.test, seed=seed, protocol=protocol)
        reached.append([each.value for each in records if each.metric == "offline nDCG@10"][-1])
    return reached


def over_http(site: Site, train: QuerySet, *, rounds: int) -> None:
    """Visit after visit."""
    for _ in range(rounds):
        site.visit(train[int(site.rng.integers(len(train)))])


@contextmanager
def started(window: float) -> Iterator[Server]:
    """A service in a process of its own."""
    with (
        tempfile.TemporaryDirectory() as folder,
        Server(Path(folder) / "data", "--window", str(window)) as found,
    ):
        yield found


def main() -> None:
    """Learn over HTTP and compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", default="mq2008(fold=1)")
    parser.add_argument("--rounds", type=int, default=3000)
    parser.add_argument("--user", default="navigational")
    parser.add_argument("--seeds", type=int, default=5, help="of the simulator")
    chosen = parser.parse_args()
    raw, prepared = load(chosen.data, prepared=False), load(chosen.data)
    user, window = PresetUser(chosen.user).for_grades(raw.train.grades), 2.0
    with started(window) as server:
        client = Client(server.url, server.keys["admin"], timeout=30)
        site = Site(client, user, np.random.default_rng(0), time.time, window)
        began = time.time()
        over_http(site, raw.train, rounds=chosen.rounds)
        print(f"{chosen.rounds:,} queries and {site.sent:,} events in {time.time() - began:.0f} s")
        while client.rankers()["default"]["open"]:
            time.sleep(0.5)
        print(f"verdicts: {client.doctor()['tally']['verdicts']}")
        print(f"learned from {client.rankers()['default']['lists']:,} lists")
        print(f"over HTTP:        offline nDCG@10 {offline(client, raw.test):.4f}")
    values = in_the_simulator(prepared, user, rounds=chosen.rounds, seeds=chosen.seeds)
    print(f"in the simulator: offline nDCG@10 {np.mean(values):.4f} ± {np.std(values, ddof=1):.4f} (sd)")


if __name__ == "__main__":
    main()
