"""Engines by name: where the runs of a sweep are done."""

from __future__ import annotations

import os

from rankloop.errors import SettingError
from rankloop.lab.sweeps.engines import Engine, Pool
from rankloop.lab.sweeps.ray_engine import Ray


def engine(name: str, workers: int | None, runs: int) -> Engine:
    """The engine of that name, for so many runs.

    >>> engine("pool", 4, runs=2)
    Pool(workers=2)
    """
    kind, _, address = name.partition(":")
    if kind == "ray":
        if address and workers:
            raise SettingError("a cluster has the workers it has: --workers is for this machine")
        return Ray(address, workers and min(workers, runs))
    if name != "pool":
        raise SettingError(f"an engine is named pool, ray or ray:address, found {name!r}")
    return Pool(min(workers or os.cpu_count() or 1, runs))


def mapper(name: str, workers: int | None) -> Engine | None:
    """The engine of that name for fits of recommenders; none, if nobody asked for more than this process.

    >>> mapper("pool", None), mapper("pool", 2)
    (None, Pool(workers=2))
    """
    if name == "pool":
        return Pool(workers) if workers else None
    if name != "ray" and not name.startswith("ray:"):
        raise SettingError(f"an engine is named pool, ray or ray:address, found {name!r}")
    return Ray(name.partition(":")[2], workers)


def describe_engine(chosen: Engine) -> str:
    """Where the runs will be done, in words.

    >>> describe_engine(Pool(2))
    '2 at a time'
    """
    if isinstance(chosen, Pool):
        return f"{chosen.workers} at a time"
    where = getattr(chosen, "address", "")
    return f"on the Ray cluster at {where}" if where else "on a Ray cluster of this machine"
