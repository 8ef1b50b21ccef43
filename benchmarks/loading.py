"""Loading a file of 150 MB: the first time, every later time, and the memory it takes."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import perf_counter

import numpy as np

from benchmarks.reference import read_plainly

MEGABYTES = 150
FEATURES = 136


def write_letor(path: Path, *, megabytes: float, seed: int = 1) -> None:
    """A file of MSLR's shape: 120 documents a query, 136 features, numbers as people print them."""
    rng = np.random.default_rng(seed)
    lines = [
        " ".join(f"{index}:{value:.6g}" for index, value in enumerate(row, 1))
        for row in rng.exponential(size=(1200, FEATURES)) * 10 ** rng.uniform(-2, 4, size=FEATURES)
    ]
    rows = int(megabytes * 1e6 / (sum(map(len, lines)) / len(lines) + 12))
    grades = rng.integers(5, size=rows).tolist()
    with path.open("w") as file:
        for number, grade in enumerate(grades):
            file.write(f"{grade} qid:{number // 120} {lines[number % len(lines)]}\n")


def timed(action: Callable[[], object]) -> float:
    """Seconds an action takes."""
    start = perf_counter()
    action()
    return perf_counter() - start


MEASURE = """
import sys
from pathlib import Path
import numpy as np
from rankloop.lab.data import read_cached
def peak():  # of this program alone; getrusage may tell the peak of the one that started it
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0])
before = peak()
queries = read_cached(sys.argv[1])
after = peak()
print((after - before) * 1024 / queries.features.nbytes, after * 1024 / queries.features.nbytes)
"""


def peak_ratio(path: Path, cache: Path) -> tuple[float, float]:
    """Peak memory of the first load over the size of the matrix: without and with the interpreter."""
    environment = {**os.environ, "RANKLOOP_CACHE": str(cache)}
    command = [sys.executable, "-c", MEASURE, str(path)]
    output = subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout
    without, with_interpreter = map(float, output.split())
    return without, with_interpreter


def result() -> dict[str, object]:
    """One row: seconds and memory, beside a reader that goes line by line."""
    from rankloop.lab.data import read_cached, read_letor  # noqa: PLC0415 - after the cache has its place

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        whole, part = folder / "whole.txt", folder / "part.txt"
        write_letor(whole, megabytes=MEGABYTES)
        write_letor(part, megabytes=MEGABYTES / 10)
        os.environ["RANKLOOP_CACHE"] = str(folder / "cache")
        plain = median(timed(lambda: read_plainly(part)) for _ in range(3))
        first_part = median(timed(lambda: read_letor(part)) for _ in range(3))
        first = timed(lambda: read_cached(whole))
        again = median(timed(lambda: read_cached(whole)) for _ in range(5))
        without, with_interpreter = peak_ratio(whole, folder / "other cache")
        return {
            "bench": "loading",
            "name": f"{whole.stat().st_size / 1e6:.0f} MB of LETOR text",
            "first_seconds": first,
            "again_seconds": again,
            "plain_seconds_for_a_tenth": plain,
            "ratio": plain / first_part,
            "peak_over_matrix": without,
            "peak_with_interpreter_over_matrix": with_interpreter,
        }
