"""`python -m benchmarks.fair_life`: a marketplace's life over HTTP, and whether its account was kept.

A service in a process of its own ranks for sellers of very different size. Users search, reload, turn the
page and click, several at once; results are pinned; the operator changes modes and guardrails, rolls back,
forgets clicks, restarts the service, and now and then it is killed. Afterwards its log is read, see
`benchmarks.fair_verdict`.
"""

from __future__ import annotations

import argparse
import itertools
import tempfile
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from benchmarks.fair_verdict import verdict
from benchmarks.serving import Server
from rankloop.client import Client, ClientError

CONSOLE = Console()
FAIR = {"shares": {"large": 0.5, "small": 0.3}, "tolerance": 5, "cap": 50}
RULES: dict[str, Any] = {"window": 2.0, "fair": FAIR}
GUARDS: tuple[dict[str, Any], ...] = (
    {"guardrails": {"max_displacement": 3}},
    {},
)
MODES = ("exploit", "explore", "frozen", "explore", "passthrough", "explore", "shadow", "explore")
SELLERS, SIZES = ("large", "small", "tiny", ""), (0.66, 0.25, 0.06, 0.03)
NAMES = ("price", "rating", "age", "stock", "match")
BATCH = 100  # lists between two things that the operator does
USERS = 4


@dataclass
class Tally:
    """What users saw; several of them write into it."""

    shown: list[str] = field(default_factory=list)  # ids of lists that were answered
    events: list[str] = field(default_factory=list)  # acknowledged
    unanswered: int = 0
    reloads: int = 0  # that gave the same list
    pages: int = 0  # that continued it
    troubles: list[str] = field(default_factory=list)


class Shop:
    """A service on a folder, which can be ended in two ways and begun again."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._keys: dict[str, str] = {}
        self.guards: Mapping[str, Any] = {}
        self.begin()

    def begin(self) -> None:
        """Start the process."""
        self.server = Server(self._folder)
        self._keys |= self.server.keys

    def client(self, scope: str) -> Client:
        """Somebody with a key."""
        return Client(self.server.url, self._keys[scope], timeout=60, retries=0)


class User(threading.Thread):
    """Somebody who searches so many times, each time in a session of their own."""

    def __init__(self, shop: Shop, seed: int, searches: int, tally: Tally) -> None:
        super().__init__()
        self._shop, self._searches, self._tally = shop, searches, tally
        self._seed, self._rng = seed, np.random.default_rng(seed)

    def run(self) -> None:
        """Search; a service that is gone is not waited for."""
        with self._shop.client("rank") as client:
            for number in range(self._searches):
                try:
                    self._search(client, f"s{self._seed}-{number}")
                except ClientError as error:
                    self._tally.unanswered += 1
                    if error.status:
                        self._tally.troubles.append(str(error))

    def _search(self, client: Client, session: str) -> None:
        body = self._request(session)
        first = self._ask(client, body, 10)
        chance = self._rng.random()
        if chance < 0.1:
            self._compare(first, self._ask(client, body, 10), "a reload")
            self._tally.reloads += 1
        elif chance < 0.2 and "guardrails" not in self._shop.guards:  # it looks beyond the page
            self._compare(first, self._ask(client, body, 20), "the next page")
            self._tally.pages += 1
        if chance > 0.5:
            self._click(client, body, first)

    def _ask(self, client: Client, body: Mapping[str, Any], k: int) -> dict[str, Any]:
        found: dict[str, Any] = client._transport.send("POST", "/v1/rank", {**body, "k": k}, patient=False)
        self._tally.shown.append(found["query_id"])
        return found

    def _compare(self, first: dict[str, Any], other: dict[str, Any], what: str) -> None:
        """The same beginning, unless the model or what is in force has changed in between."""
        terms = [
            [each["provenance"][name] for name in ("model", "settings", "mode")] for each in (first, other)
        ]
        lists = [[result["object_id"] for result in each["ranking"]][:10] for each in (first, other)]
        if terms[0] == terms[1] and lists[0] != lists[1]:
            self._tally.troubles.append(f"{what} is another list: {lists}")

    def _request(self, session: str) -> dict[str, Any]:
        n = int(self._rng.integers(12, 40))
        rows, sellers = (
            self._rng.random((n, len(NAMES))).round(4).tolist(),
            self._rng.choice(SELLERS, n, p=SIZES),
        )
        candidates: list[dict[str, Any]] = [
            {"object_id": f"d{row}", "features": dict(zip(NAMES, rows[row], strict=True)), "group": name}
            for row, name in enumerate(sellers.tolist())
        ]
        if self._rng.random() < 0.15:
            candidates[int(self._rng.integers(n))]["pinned_at"] = int(self._rng.integers(1, 12))
        query = f"query {self._rng.integers(30)}"
        return {"session_id": session, "user_query": query, "candidates": candidates}

    def _click(self, client: Client, body: Mapping[str, Any], shown: dict[str, Any]) -> None:
        """On what matches best."""
        match = {each["object_id"]: each["features"]["match"] for each in body["candidates"]}
        best = max((each["object_id"] for each in shown["ranking"]), key=match.__getitem__)
        event = {
            "event_id": f"{shown['query_id']}-click",
            "query_id": shown["query_id"],
            "action_name": "click",
            "event_attributes": {"object": {"object_id": best}},
        }
        client.events([event])
        self._tally.events.append(str(event["event_id"]))


class Operator:
    """Whoever runs the shop: does something after each batch of lists."""

    ACTS = ("mode", "guards", "forget", "mode", "kill", "rollback", "guards", "restart")

    def __init__(self, shop: Shop, tally: Tally) -> None:
        self._shop, self._tally = shop, tally
        self._modes, self._guards = itertools.cycle(MODES), itertools.cycle(GUARDS)

    def act(self, what: str) -> None:
        """Do something; after a kill, which happened in the middle of the batch, begin again."""
        if what == "restart":
            self._shop.server.stop()
        if what in ("kill", "restart"):
            self._shop.begin()
            return
        with self._shop.client("admin") as client:
            if what == "mode":
                client.set_mode(next(self._modes))
            elif what == "guards":
                self.configure(client, next(self._guards))
            elif what == "rollback":
                versions = client.models()["snapshots"]
                client.rollback(to=versions[len(versions) // 2]["version"])
            elif self._tally.events:
                client.forget([self._tally.events[len(self._tally.events) // 2]])

    def configure(self, client: Client, guards: Mapping[str, Any]) -> None:
        """Other guardrails; fairness stays."""
        self._shop.guards = guards
        client.change({**RULES, "guardrails": None, **guards})


def live(folder: Path, lists: int, *, seed: int = 0, batch: int = BATCH) -> Tally:
    """A life of about so many lists, with a quiet end: time to make up for what went before."""
    shop, tally, numbers = Shop(folder), Tally(), itertools.count(seed * 10**6)
    operator = Operator(shop, tally)
    with shop.client("admin") as client:
        operator.configure(client, {})
    for act in itertools.cycle(Operator.ACTS):
        if len(tally.shown) >= lists:
            break
        users = [User(shop, next(numbers), batch // USERS, tally) for _ in range(USERS)]
        for user in users:
            user.start()
        if act == "kill":
            time.sleep(0.1)  # in the middle of it
            shop.server.kill()
        for user in users:
            user.join()
        operator.act(act)
    with shop.client("admin") as client:
        operator.configure(client, {})
        client.set_mode("explore")
    User(shop, next(numbers), 2 * batch, tally).run()
    shop.server.stop()
    return tally


def main() -> None:
    """Live, look, and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lists", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        began = time.perf_counter()
        tally = live(Path(folder) / "data", options.lists, seed=options.seed)
        CONSOLE.print(f"{len(tally.shown):,} lists were answered in {time.perf_counter() - began:.0f} s")
        CONSOLE.print(f"{tally.unanswered} requests met no service")
        CONSOLE.print(f"{tally.reloads} reloads, {tally.pages} next pages: {len(tally.troubles)} troubles")
        CONSOLE.print("\n".join(tally.troubles[:10]))
        for line in verdict(Path(folder) / "data" / "log.db", tally.shown).lines():
            CONSOLE.print(line)


if __name__ == "__main__":
    main()
