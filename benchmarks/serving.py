"""A service in a process of its own, to be measured from outside."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Self


class Server:
    """`rankloop serve`, until the end of the block."""

    def __init__(self, folder: Path, *options: str, log: int | None = None) -> None:
        command = ["serve", "--port", "0", "--deadline", "10", "--quiet", "--data-dir", str(folder)]
        self._process = subprocess.Popen(
            [sys.executable, "-m", "rankloop", *command, *options],
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        )
        assert self._process.stdout is not None
        said = ""
        while "/v1/explain/" not in said:
            line = self._process.stdout.readline()
            if not line:
                sys.exit("the service did not start")
            said += line
        self.url = re.findall(r"http://\S+?:\d+", said)[0]
        self.keys = dict(re.findall(r"(page|rank|admin) +(rl_\S+)", said))

    @property
    def pid(self) -> int:
        """The process."""
        return self._process.pid

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()

    def stop(self) -> None:
        """Ask it to end, and wait."""
        self._end(signal.SIGTERM)

    def kill(self) -> None:
        """At any moment, without a word."""
        self._end(signal.SIGKILL)

    def _end(self, how: signal.Signals) -> None:
        self._process.send_signal(how)
        self._process.wait(60)
        if self._process.stdout:
            self._process.stdout.close()
