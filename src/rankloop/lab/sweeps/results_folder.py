"""Finished runs on disk, so that nothing is run twice and nothing is half there."""

from __future__ import annotations

import hashlib
import inspect
import json
import marshal
import re
from collections.abc import Callable, Iterable
from dataclasses import fields, is_dataclass
from functools import cache, partial
from pathlib import Path
from types import FunctionType

import polars as pl

import rankloop
from rankloop.lab.data import Dataset
from rankloop.lab.simulation.loop import Record
from rankloop.lab.sweeps.files import write_parquet
from rankloop.lab.sweeps.sweep import Run, Sweep

SCHEMA = pl.Schema(
    {
        "data": pl.String(),
        "fold": pl.String(),
        "user": pl.String(),
        "policy": pl.String(),
        "seed": pl.Int64(),
        "round": pl.Int64(),
        "metric": pl.String(),
        "value": pl.Float64(),
    }
)


def rows(run: Run, records: Iterable[Record]) -> pl.DataFrame:
    """The records of a run as flat rows."""
    head = (run.data, run.fold, run.user, run.policy, run.seed)
    flat = [(*head, record.round, record.measure.name, record.value) for record in records]
    return pl.DataFrame(flat, schema=SCHEMA, orient="row")


class Ledger:
    """A folder with one file for each finished run.

    A file is found again only by a run that would give the same rows: its name holds a fingerprint of the
    settings, of the data's content and of the code that takes part.
    """

    def __init__(self, folder: Path, sweep: Sweep) -> None:
        self._folder = folder
        self._sweep = sweep

    def find(self, run: Run) -> pl.DataFrame | None:
        """The rows of a finished run, if it is there."""
        try:
            return pl.read_parquet(self.path(run))
        except (FileNotFoundError, pl.exceptions.PolarsError):  # missing, or damaged: it is done again
            return None

    def keep(self, run: Run, frame: pl.DataFrame) -> None:
        """Write down a finished run."""
        write_parquet(self.path(run), frame)

    def path(self, run: Run) -> Path:
        """Where a run's rows are kept: readable, and different for runs that differ in anything."""
        words = f"{run.fold}-{run.user}-{run.policy}-{run.seed}"
        return (
            self._folder
            / f"{re.sub(r'[^A-Za-z0-9.=_-]+', '_', words)[-80:]}-{self._fingerprint(run)}.parquet"
        )

    def _fingerprint(self, run: Run) -> str:
        sweep = self._sweep
        dataset = sweep.dataset(run.fold)
        facts = [
            (run.data, run.fold, run.user, run.policy, run.seed),
            repr(sweep.protocol),
            dataset.fingerprint,
            *self._taking_part(run, dataset),
            own_source(),
        ]
        return hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:16]

    def _taking_part(self, run: Run, dataset: Dataset) -> list[object]:
        """Who takes part in a run: all that they are, and the code that makes them so."""
        user, policy = self._sweep.teacher(run, dataset), self._sweep.policies[run.policy]
        probes = [probe for probe in self._sweep.probes.values() if probe.applies(policy)]
        state = [
            (name, str(value.dtype), value.shape, value.tobytes().hex())
            for name, value in policy.state().items()
        ]
        sources = [_source_of(type(value)) for value in (user, policy)]
        sources += [_source_of(probe.kind.function) for probe in probes]
        code = [_code_in(value) for value in (user, policy, *probes)]
        return [(repr(user), repr(policy)), state, [repr(probe) for probe in probes], sources, code]


def _source_of(kind: Callable[..., object]) -> str:
    """A digest of the file that defines a class or function: results of changed code are never reused."""
    try:
        file = inspect.getsourcefile(kind)
    except TypeError:  # defined at a prompt: there is no file
        file = None
    return _digest((Path(file),)) if file and Path(file).exists() else ""


def _code_in(value: object) -> list[str]:
    """What the functions and classes among a value's settings do: its repr only names them."""
    if is_dataclass(value) and not isinstance(value, type):
        return [code for each in fields(value) for code in _code_in(getattr(value, each.name))]
    if isinstance(value, partial):
        return [repr((value.args, value.keywords)), *_code_in(value.func)]
    if isinstance(value, FunctionType):
        around = [cell.cell_contents for cell in value.__closure__ or ()]
        given = repr((value.__defaults__, value.__kwdefaults__, around))
        code = hashlib.sha256(marshal.dumps(value.__code__, 2)).hexdigest()  # two may be in one file
        return [_source_of(value), code, given]
    return [_source_of(value)] if isinstance(value, type) else []


@cache
def own_source() -> str:
    """A digest of all of rankloop's code."""
    return _digest(sorted(Path(rankloop.__file__).parent.rglob("*.py")))


def _digest(paths: Iterable[Path]) -> str:
    return hashlib.sha256(b"\0".join(path.read_bytes() for path in paths)).hexdigest()
