"""Cells of a sweep: what it takes to run one, and the key of all that its rows depend on."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import polars as pl

from rankloop.lab.data import Dataset
from rankloop.lab.data.letor_cache import Hashes, remember_hashes
from rankloop.lab.simulation.loop import Record, simulate
from rankloop.lab.sweeps.code_digest import describe_arithmetic, digest_code, digest_functions, digest_source
from rankloop.lab.sweeps.sweep import Cell, Sweep
from rankloop.policies import Policy

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


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a cell is, and what was measured last; nothing, if it was finished before."""

    cell: Cell
    round: int
    record: Record | None = None


@dataclass(frozen=True, eq=False)
class FoldLoader:
    """Loader of a sweep's folds, in any process: files that were hashed before are not hashed again."""

    sweep: Sweep
    hashes: Hashes

    def __call__(self, fold: str) -> Dataset:
        """Load a fold."""
        remember_hashes(self.hashes)
        return self.sweep.dataset(fold)


def simulate_cell(
    sweep: Sweep, cell: Cell, dataset: Dataset, policy: Policy | None = None
) -> Iterator[Record]:
    """Let the policy of a cell meet its user; whoever wants it as it is afterwards gives it."""
    return simulate(
        policy or sweep.policy_of(cell, dataset),
        sweep.user_of(cell, dataset),
        dataset.train,
        dataset.test,
        seed=cell.seed,
        protocol=sweep.protocol,
        probes=sweep.probes_of(cell, dataset),
    )


def run_cell(sweep: Sweep, cell: Cell, dataset: Dataset) -> Generator[Progress, None, pl.DataFrame]:
    """Run a cell on its dataset: yield its progress, and return its rows, a function of these values."""
    records = []
    for record in simulate_cell(sweep, cell, dataset):
        records.append(record)
        yield Progress(cell, record.round, record)
    return to_rows(cell, records)


def to_rows(cell: Cell, records: Iterable[Record]) -> pl.DataFrame:
    """Write the records of a cell as flat rows."""
    head = (cell.data, cell.fold, cell.user, cell.policy, cell.seed)
    flat = [(*head, record.round, record.metric, record.value) for record in records]
    return pl.DataFrame(flat, schema=SCHEMA, orient="row")


def cell_key(sweep: Sweep, cell: Cell, dataset: Dataset) -> str:
    """Digest all that the rows of a cell depend on: settings, content of the data, code and arithmetic."""
    user, policy = sweep.user_of(cell, dataset), sweep.policies[cell.policy]
    probes = [probe for probe in sweep.probes.values() if probe.applies(policy)]
    metrics = [type(measure.metric) for measure in sweep.protocol.measured()]
    kinds: list[Any] = [type(user), type(policy), *metrics, *(probe.kind.function for probe in probes)]
    facts = [
        (cell.data, cell.fold, cell.user, cell.policy, cell.seed),
        repr(sweep.protocol),
        dataset.fingerprint,
        (repr(user), repr(policy), repr(probes)),
        [(name, str(each.dtype), each.shape, each.tobytes().hex()) for name, each in policy.state().items()],
        [digest_source(kind) for kind in kinds],
        [digest_functions(value) for value in (user, policy, *probes)],
        digest_code(),
        describe_arithmetic(),
    ]
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:16]
