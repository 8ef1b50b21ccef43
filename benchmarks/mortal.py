"""A service to be killed and started again quickly: forked from a process that has everything loaded."""

from __future__ import annotations

import multiprocessing
import os
import re
import sys
import time
from pathlib import Path

from rankloop.cli import app

FORK = multiprocessing.get_context("forkserver")
FORK.set_forkserver_preload(
    ["benchmarks.mortal", "rankloop.cli.serve_commands", "rankloop.service.pages", "rankloop.service.http"]
)


def life(folder: Path, said: Path) -> None:
    """`rankloop serve`, until the end, which may come at any moment; what it says goes to a file."""
    with said.open("w", buffering=1) as out:
        for stream in (1, 2):
            os.dup2(out.fileno(), stream)
        sys.stdout = out
        options = ["--port", "0", "--deadline", "10", "--data-dir", str(folder), "--quiet"]
        app(["serve", *options], prog_name="rankloop")


class Mortal:
    """A service that is started again and again on the same folder."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.url, self.starts = folder, "", 0
        self.keys: dict[str, str] = {}

    def start(self) -> None:
        """Live again."""
        self.starts += 1
        said = self.folder.with_name(f"said-{self.starts}")
        self._process = FORK.Process(target=life, args=(self.folder, said))
        self._process.start()
        text = ""
        while "/v1/explain/" not in text:
            if not self._process.is_alive():
                sys.exit("the service did not start")
            time.sleep(0.01)
            text = said.read_text() if said.exists() else ""
        self.keys |= dict(re.findall(r"(page|rank|admin) +(rl_\S+)", text))
        self.url = re.findall(r"http://\S+?:\d+", text)[0]

    def kill(self) -> None:
        """SIGKILL."""
        self._process.kill()
        self._process.join()

    def stop(self) -> int | None:
        """SIGTERM; the exit code."""
        self._process.terminate()
        self._process.join()
        return self._process.exitcode
