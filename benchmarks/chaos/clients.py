"""Clients who search, click, send again what was not acknowledged, and note everything they were told."""

from __future__ import annotations

import hashlib
import threading
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import httpx
import numpy as np

TOGETHER = 20  # events in a request
TIMEOUT = 4.0  # seconds; then another replica is asked


@dataclass
class Notes:
    """What one client was told."""

    lists: dict[str, bytes] = field(default_factory=dict)  # by id: the digest of the answer, as it was given
    unlogged: dict[str, str] = field(default_factory=dict)  # by id: why it may not be in the log
    acknowledged: list[str] = field(default_factory=list)  # events, by id
    orphans: dict[str, str] = field(default_factory=dict)  # by id: their list
    refused: Counter[str] = field(default_factory=Counter)  # by what was said
    waits: list[float] = field(default_factory=list)  # seconds for a list


class Visitor(threading.Thread):
    """Asks one replica and clicks at another, by chance."""

    def __init__(self, urls: Sequence[str], key: str, seed: int, stop: threading.Event) -> None:
        super().__init__(daemon=True)
        self.notes, self._stop_it = Notes(), stop
        self._rng, self._sent = np.random.default_rng(seed), 0
        self._unsure: list[dict[str, Any]] = []
        headers = {"Authorization": f"Bearer {key}"}
        self._clients = [httpx.Client(base_url=url, headers=headers, timeout=TIMEOUT) for url in urls]

    def run(self) -> None:
        """Search and click until it is time to stop; then send until everything is acknowledged."""
        while not self._stop_it.is_set():
            self._search()
            self._report()
        end = time.monotonic() + 60
        while self._unsure and time.monotonic() < end:  # until everything is acknowledged
            self._report()
        for each in self._clients:
            each.close()

    @property
    def unsure(self) -> int:
        """How many events were never acknowledged."""
        return len(self._unsure)

    def _somebody(self) -> httpx.Client:
        return self._clients[int(self._rng.integers(len(self._clients)))]

    def _post(self, path: str, body: dict[str, Any]) -> httpx.Response | None:
        try:
            answer = self._somebody().post(path, json=body)
        except httpx.HTTPError as error:
            self.notes.refused[f"{path} {type(error).__name__}"] += 1
            time.sleep(0.02)
            return None
        if answer.status_code != 200:
            self.notes.refused[f"{path} {answer.status_code}"] += 1
            time.sleep(0.05)
            return None
        return answer

    def _search(self) -> None:
        features = self._rng.random((6, 2)).round(3).tolist()
        candidates = [
            {"object_id": f"d{row}", "features": {"x": x, "y": y}} for row, (x, y) in enumerate(features)
        ]
        began = time.perf_counter()
        answer = self._post("/v1/rank", {"candidates": candidates, "k": 6})
        if answer is None:
            return
        self.notes.waits.append(time.perf_counter() - began)
        shown = answer.json()
        query_id, why = shown["query_id"], shown["provenance"].get("unlogged")
        if why:
            self.notes.unlogged[query_id] = why
        else:
            self.notes.lists[query_id] = hashlib.blake2b(answer.content, digest_size=16).digest()
        for _ in range(int(self._rng.integers(3))):
            self._sent += 1
            self._unsure.append(
                {
                    "event_id": f"{self.name}-{self._sent}",
                    "action_name": "click",
                    "query_id": query_id,
                    "event_attributes": {"object": {"object_id": f"d{self._rng.integers(6)}"}},
                }
            )

    def _report(self) -> None:
        batch = self._unsure[:TOGETHER]
        answer = self._post("/v1/events", {"events": batch}) if batch else None
        if answer is None:
            return
        for event, receipt in zip(batch, answer.json()["receipts"], strict=True):
            if receipt["verdict"] in ("accepted", "late", "duplicate"):
                self.notes.acknowledged.append(event["event_id"])
            elif receipt["verdict"] == "orphan":
                self.notes.orphans[event["event_id"]] = event["query_id"]
            else:
                self.notes.refused[f"verdict {receipt['verdict']}"] += 1
        self._unsure = self._unsure[len(batch) :]
