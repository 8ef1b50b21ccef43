"""Operators who forget, learn again, roll back and change modes, at any replica and at the same time."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence

import httpx
import numpy as np

from benchmarks.chaos.clients import Visitor
from benchmarks.chaos.replica import RANKER

TIMEOUT = 10.0  # seconds
BETWEEN = 0.5  # seconds between two requests


class Operator(threading.Thread):
    """Asks one replica after the other for something that takes a while; two of them may meet."""

    def __init__(
        self, urls: Sequence[str], key: str, seed: int, stop: threading.Event, visitors: Sequence[Visitor]
    ) -> None:
        super().__init__(daemon=True)
        self.asked, self.refused = Counter[str](), Counter[str]()
        self.jobs: set[int] = set()  # that were acknowledged
        self._stop_it, self._visitors, self._rng = stop, visitors, np.random.default_rng(1000 + seed)
        headers = {"Authorization": f"Bearer {key}"}
        self._clients = [httpx.Client(base_url=url, headers=headers, timeout=TIMEOUT) for url in urls]

    def run(self) -> None:
        """One thing after the other until it is time to stop."""
        acts: list[Callable[[httpx.Client], httpx.Response | None]] = [
            self._forget,
            self._relearn,
            self._freeze,
            self._roll_back,
        ]
        turn = 0
        while not self._stop_it.wait(BETWEEN):
            act = acts[turn % len(acts)]
            client = self._clients[int(self._rng.integers(len(self._clients)))]
            turn += 1
            try:
                answer = act(client)
            except httpx.HTTPError as error:
                self.refused[f"{act.__name__.strip('_')} {type(error).__name__}"] += 1
                continue
            if answer is None:
                continue
            if answer.status_code < 300:
                self.asked[act.__name__.strip("_")] += 1
                if isinstance(number := answer.json().get("id"), int):
                    self.jobs.add(number)
            else:
                self.refused[f"{act.__name__.strip('_')} {answer.status_code}"] += 1
        for each in self._clients:
            each.close()

    def _forget(self, client: httpx.Client) -> httpx.Response | None:
        """Clicks that were acknowledged."""
        known = [event for each in self._visitors for event in list(each.notes.acknowledged)]
        if not known:
            return None
        chosen = self._rng.choice(known, min(5, len(known)), replace=False).tolist()
        return client.post("/v1/forget", json={"ranker": RANKER, "event_ids": sorted(set(chosen))})

    def _relearn(self, client: httpx.Client) -> httpx.Response:
        """The log, under other settings."""
        window = 0.3 + 0.01 * float(self._rng.integers(1, 20))
        path, said = f"/v1/rankers/{RANKER}/settings", {"relearn": "true", "reason": "chaos"}
        return client.patch(path, params=said, json={"window": window})

    def _freeze(self, client: httpx.Client) -> httpx.Response:
        """For a moment."""
        client.put("/v1/mode", json={"ranker": RANKER, "mode": "frozen", "reason": "chaos"})
        return client.put("/v1/mode", json={"ranker": RANKER, "mode": "explore", "reason": "chaos"})

    def _roll_back(self, client: httpx.Client) -> httpx.Response | None:
        """To a version that was kept."""
        kept = client.get("/v1/models", params={"ranker": RANKER})
        versions = [each["version"] for each in kept.json().get("snapshots", ())] if kept.is_success else []
        if not versions:
            return None
        to = versions[int(self._rng.integers(len(versions)))]
        return client.post("/v1/rollback", json={"ranker": RANKER, "to": to})


def unfinished(url: str, key: str, jobs: set[int], *, seconds: float = 60.0) -> int:
    """How many of these jobs have not ended after so many seconds, or are not known."""
    headers, until = {"Authorization": f"Bearer {key}"}, time.monotonic() + seconds
    while True:
        found = httpx.get(f"{url}/v1/jobs", headers=headers, timeout=30).json()
        states = {each["id"]: each["state"] for each in found}
        left = sum(states.get(number, "unknown") not in ("done", "failed", "cancelled") for number in jobs)
        if not left or time.monotonic() > until:
            return left
        time.sleep(0.2)
