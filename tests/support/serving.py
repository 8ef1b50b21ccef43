"""Services to talk to: one in this process, one in a process of its own that can be killed."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from rankloop.service.http import AppContext, HttpSettings, Keys, running
from rankloop.service.service_facade import ServiceFacade

PATIENT = HttpSettings(deadline=30.0, patience=60.0)  # a busy machine is no fallback


@dataclass
class Live:
    """A service in this process, behind a real socket."""

    url: str
    context: AppContext
    keys: dict[str, str]
    clients: dict[str, httpx.Client] = field(default_factory=dict)

    def __getitem__(self, scope: str) -> httpx.Client:
        """A client with one of the keys, or with none."""
        if scope not in self.clients:
            headers = {"Authorization": f"Bearer {self.keys[scope]}"} if scope in self.keys else {}
            self.clients[scope] = httpx.Client(base_url=self.url, headers=headers, timeout=60)
        return self.clients[scope]

    def metric(self, name: str, **labels: str) -> float:
        """A number that Prometheus would see; 0 if it is not there yet."""
        for line in self["rank"].get("/metrics").text.splitlines():
            found = re.fullmatch(rf"{name}(?:\{{(.*)\}})? (\S+)", line)
            if found and dict(re.findall(r'(\w+)="([^"]*)"', found[1] or "")) == labels:
                return float(found[2])
        return 0.0


@contextmanager
def alive(service: ServiceFacade, settings: HttpSettings = PATIENT, **options: Any) -> Iterator[Live]:
    """Serve a service until the test ends."""
    keys, shown = Keys.fresh()
    context = AppContext(service=service, keys=keys, settings=settings, **options)
    with running(context) as url:
        live = Live(url, context, {str(scope): key for scope, key in shown.items()})
        try:
            yield live
        finally:
            for client in live.clients.values():
                client.close()


class Process:
    """`rankloop serve` in a process of its own; its log goes to a file beside its data."""

    def __init__(self, folder: Path, *options: str) -> None:
        self.folder, self.options = folder, options
        self.keys: dict[str, str] = {}
        self.url, self.printed = "", ""
        self._process: subprocess.Popen[str] | None = None

    def start(self) -> Process:
        """Start, and wait until it answers."""
        command = [
            sys.executable,
            "-W",
            "error",
            "-m",
            "rankloop",
            "serve",
            "--port",
            "0",
            "--deadline",
            "30",
        ]
        with self.log.open("a") as log:
            self._process = subprocess.Popen(
                [*command, "--data-dir", str(self.folder), *self.options],
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                env={**os.environ, "OMP_NUM_THREADS": "1"},
            )
        assert self._process.stdout is not None
        self.printed = ""
        while "/v1/explain/" not in self.printed:
            line = self._process.stdout.readline()
            assert line, self.log.read_text()
            self.printed += line
        self.url = re.findall(r"http://\S+?:\d+", self.printed)[0]
        self.keys |= dict(re.findall(r"(page|rank|admin) +(rl_\S+)", self.printed))
        return self

    @property
    def log(self) -> Path:
        return self.folder.with_suffix(".log")

    def lines(self) -> list[dict[str, Any]]:
        """What it logged."""
        return [json.loads(line) for line in self.log.read_text().splitlines() if line.startswith("{")]

    def client(self, scope: str) -> httpx.Client:
        return httpx.Client(
            base_url=self.url, headers={"Authorization": f"Bearer {self.keys[scope]}"}, timeout=60
        )

    def kill(self) -> None:
        """At any moment, without a word."""
        self._end(signal.SIGKILL)

    def stop(self) -> int:
        """Ask it to end; its exit code."""
        return self._end(signal.SIGTERM)

    def _end(self, how: int) -> int:
        assert self._process is not None
        assert self._process.stdout is not None
        self._process.send_signal(how)
        code = self._process.wait(60)
        self.printed += self._process.stdout.read()
        self._process.stdout.close()
        self._process = None
        return code

    def __enter__(self) -> Process:
        return self.start()

    def __exit__(self, *error: object) -> None:
        if self._process is not None:
            self.kill()


def click(query_id: str, object_id: str, **more: Any) -> dict[str, Any]:
    """A click in the shape of UBI."""
    attributes = {"object": {"object_id": object_id}}
    return {"action_name": "click", "query_id": query_id, "event_attributes": attributes, **more}


def request(n: int = 4, **more: Any) -> dict[str, Any]:
    """A request to rank a few candidates."""
    candidates = [{"object_id": f"d{i}", "features": {"price": i, "age": n - i}} for i in range(n)]
    return {"candidates": candidates, **more}
