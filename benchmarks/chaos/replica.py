"""A replica in a process of its own: in a network of its own, with a clock of its own, mortal."""

from __future__ import annotations

import ctypes
import hashlib
import multiprocessing
import os
import sys
import time
from dataclasses import dataclass, field
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from msgspec import structs

from rankloop.service import PromiseSettings, RankerSettings
from rankloop.service.core.model import Model
from rankloop.service.http import AppContext, HttpSettings, Keys, bind, serve
from rankloop.service.http.access_log import log_to_stderr
from rankloop.service.operations.data_directory import DataDirectory
from rankloop.service.service_facade import ServiceFacade

SPAWN = multiprocessing.get_context("forkserver")
SPAWN.set_forkserver_preload(["benchmarks.chaos.preload"])
CLONE_NEWNET = 0x40000000
RULES = RankerSettings(window=0.3)
RANKER = "default"


@dataclass(frozen=True)
class Orders:
    """Where a replica finds its database and is found, and how wrong its clock is."""

    url: str
    host: str
    port: int
    folder: Path
    durable: bool = True
    namespace: str = ""
    hours: float = 0.0
    promise: bool = False  # of clicks


@dataclass(frozen=True)
class Known:
    """What a process has learned, in a form to compare."""

    version: int
    lists: int
    digest: str

    @classmethod
    def of(cls, model: Model) -> Known:
        """A model's arrays, to the bit."""
        state = {**model.policy.state(), **{f"scale.{k}": v for k, v in model.scale.state().items()}}
        digest = hashlib.blake2b(digest_size=16)
        for name in sorted(state):
            digest.update(f"{name} {state[name].dtype} {state[name].shape}".encode())
            digest.update(state[name].tobytes())
        return cls(model.version, model.lists, digest.hexdigest())


def life(orders: Orders, keys: Keys, word: Connection) -> None:
    """Serve as `rankloop serve` does, until the end; if it is asked to end, it says what it knows."""
    if orders.namespace:
        enter(orders.namespace)
    if orders.hours:
        right = time.time
        time.time = lambda: right() + 3600 * orders.hours
    with (orders.folder / f"{orders.port}.log").open("a") as log_file:
        os.dup2(log_file.fileno(), sys.stderr.fileno())
    log_to_stderr(quiet=True)
    settings = HttpSettings(deadline=2.0, patience=10.0, durable_lists=orders.durable)
    with (
        bind("0.0.0.0" if orders.namespace else orders.host, orders.port) as listening,
        DataDirectory(orders.folder, orders.url).join() as log,
        ServiceFacade(log.store, clock=log.clock, election=log.election, background=True) as service,
    ):
        log.listen(partial(service.learn, ()))
        if RANKER not in service.rankers():  # operators may have changed its settings since
            service.create(
                RANKER, structs.replace(RULES, promise=PromiseSettings()) if orders.promise else RULES
            )
        context = AppContext(service=service, keys=keys, settings=settings)
        serve(context, listening, ready=lambda: word.send("ready"))
        service.tick()
        word.send(Known.of(service.model(RANKER)))


def enter(namespace: str) -> None:
    """Go into a network namespace, this process alone and for good."""
    with open(f"/run/netns/{namespace}") as file:  # noqa: PTH123
        if ctypes.CDLL(None, use_errno=True).setns(file.fileno(), CLONE_NEWNET):
            raise OSError(ctypes.get_errno(), f"no way into the network namespace {namespace}")


@dataclass
class Replica:
    """One that can be killed and started again, at the same address."""

    orders: Orders
    keys: Keys
    process: Any = None
    word: Any = field(default=None, repr=False)

    @property
    def url(self) -> str:
        """Where clients find it."""
        return f"http://{self.orders.host}:{self.orders.port}"

    @property
    def name(self) -> str:
        """As the database knows it."""
        return f":{self.process.pid}"

    def start(self) -> None:
        """Start it; `wait` says when it answers."""
        self.word, theirs = SPAWN.Pipe(duplex=False)
        self.process = SPAWN.Process(target=life, args=(self.orders, self.keys, theirs), daemon=True)
        self.process.start()
        theirs.close()

    def wait(self) -> bool:
        """Whether it answers now; False: it died on the way, as without a database."""
        try:
            return bool(self.word.recv())
        except EOFError:
            return False

    def kill(self) -> None:
        """SIGKILL."""
        self.process.kill()
        self.process.join()

    def end(self) -> Known:
        """SIGTERM; what it knew."""
        os.kill(self.process.pid, 15)
        known: Known = self.word.recv()
        self.process.join()
        return known
