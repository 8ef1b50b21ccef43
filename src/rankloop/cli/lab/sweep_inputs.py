"""What options of sweeps stand for: users, measures, datasets, engines, and a spec that was kept."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from rankloop.cli.own_policies import read_any_policy
from rankloop.errors import DataError, SettingError
from rankloop.lab.data import change_name
from rankloop.lab.simulation.measures import Measure, read_measure
from rankloop.lab.sweeps.engines import Engine, Pool
from rankloop.lab.sweeps.ray_engine import Ray
from rankloop.lab.sweeps.sweep import Sweep
from rankloop.lab.sweeps.sweep_spec import read_sweep
from rankloop.lab.users import NamedUser, PresetUser, read_user
from rankloop.naming import find_kind, split_names

STOPS: Mapping[str, Sequence[str]] = {"click": ("click",), "every": ("every",), "both": ("click", "every")}


def read_users(text: str, stop: str) -> dict[str, NamedUser]:
    """Read users from a comma-separated list, under a reading of *stop* or under both.

    Who grades or reads to the end never stops, and is there once.

    >>> list(read_users("perfect,navigational", "both"))
    ['perfect', 'navigational', 'navigational(stop_at=every)']
    """
    chosen: dict[str, NamedUser] = {}
    for reading in find_kind(stop, STOPS, "reading of stop"):
        for name in split_names(text):
            found = read_user(name)
            stops = isinstance(found, PresetUser) and "(" not in name
            full = f"{name}(stop_at={reading})" if stops and reading != "click" else name
            if not (name in chosen and isinstance(found, PresetUser) and found.never_stops):
                chosen[full] = read_user(full)
    return chosen


def read_measures(text: str) -> tuple[Measure, ...]:
    """Read measures from a comma-separated list.

    >>> read_measures("offline ERR@10, online MRR")
    (Measure('offline ERR@10'), Measure('online MRR'))
    """
    return tuple(read_measure(name) for name in split_names(text))


def add_caller_orders(data: Sequence[str], orders: str) -> list[str]:
    """Name the datasets with each of these orders of the caller.

    >>> add_caller_orders(["mq2008"], "none,decent"), add_caller_orders(["mq2008"], "")
    (['mq2008', "mq2008(caller_order='decent')"], ['mq2008'])
    """
    wanted = split_names(orders) or ["none"]
    return [
        name if each == "none" else change_name(name, caller_order=each) for name in data for each in wanted
    ]


def read_spec_file(path: Path) -> Sweep:
    """Read the sweep that a `spec.json` describes, policies of one's own included."""
    try:
        return read_sweep(json.loads(path.read_text(encoding="utf-8")), read_any_policy)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise DataError(f"{path} is no spec that can be run again: {error}") from error


def make_engine(name: str, workers: int | None, runs: int) -> Engine:
    """Make the engine of a name, for so many runs.

    >>> make_engine("pool", 4, runs=2)
    Pool(workers=2)
    """
    address = _read_address(name)
    if address is None:
        return Pool(min(workers or os.cpu_count() or 1, runs))
    if address and workers:
        raise SettingError("a cluster has the workers it has: --workers is for this machine")
    return Ray(address, workers and min(workers, runs))


def make_fit_engine(name: str, workers: int | None) -> Engine | None:
    """Make the engine of a name for fits of recommenders; none, if nobody asks for more than this process.

    >>> make_fit_engine("pool", None), make_fit_engine("pool", 2)
    (None, Pool(workers=2))
    """
    address = _read_address(name)
    if address is not None:
        return Ray(address, workers)
    return Pool(workers) if workers else None


def _read_address(name: str) -> str | None:
    """Read the address of a Ray cluster, empty for one of this machine; None for a pool of processes."""
    kind, _, address = name.partition(":")
    if name != "pool" and kind != "ray":
        raise SettingError(f"an engine is named pool, ray or ray:address, found {name!r}")
    return None if name == "pool" else address
