"""A service in a process that can be killed; a process that has everything loaded starts it quickly."""

from __future__ import annotations

import multiprocessing
from multiprocessing.connection import Connection, wait
from pathlib import Path

from rankloop.service import RankerSettings
from rankloop.service.core import ranker
from rankloop.service.http import AppContext, Keys, bind, serve
from rankloop.service.operations.data_directory import DataDirectory
from rankloop.service.service_facade import ServiceFacade
from tests.support.serving import PATIENT

SPAWN = multiprocessing.get_context("forkserver")
SPAWN.set_forkserver_preload(["tests.support.killing"])


def life(folder: Path, keys: Keys, settings: RankerSettings, versions: int, port: Connection) -> None:
    """Serve until the end, which may come at any moment; a snapshot is kept after so many versions."""
    ranker.SNAPSHOT_EVERY = versions  # type: ignore[attr-defined]  # of this process
    with (
        bind("127.0.0.1", 0) as listening,
        DataDirectory(folder).open() as store,
        ServiceFacade(store, background=True) as service,
    ):
        service.create("default", settings)
        context = AppContext(service=service, keys=keys, settings=PATIENT)
        serve(context, listening, ready=lambda: port.send(listening.getsockname()[1]))


class Mortal:
    """A service that can be started again and again on the same folder."""

    def __init__(self, folder: Path, settings: RankerSettings, *, snapshot_every: int = 200) -> None:
        self.folder, self.settings, self.versions = folder, settings, snapshot_every
        self.kept, self.keys = Keys.fresh()
        self.url = ""

    def start(self) -> None:
        """Live again."""
        mine, port = SPAWN.Pipe(duplex=False)
        with mine, port:
            self._process = SPAWN.Process(
                target=life, args=(self.folder, self.kept, self.settings, self.versions, port)
            )
            self._process.start()
            wait([mine, self._process.sentinel], 120)
            assert mine.poll(), "the service did not start"
            self.url = f"http://127.0.0.1:{mine.recv()}"

    def kill(self) -> None:
        """SIGKILL."""
        self._process.kill()
        self._process.join()

    def stop(self) -> int | None:
        """SIGTERM; the exit code."""
        self._process.terminate()
        self._process.join()
        return self._process.exitcode
