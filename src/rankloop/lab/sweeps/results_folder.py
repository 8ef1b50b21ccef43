"""Results in a folder: finished cells, the spec and all rows, in files that are whole or not there."""

from __future__ import annotations

import io
import json
import os
import re
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from rankloop.lab.data import Dataset
from rankloop.lab.data.letor_cache import known_hashes
from rankloop.lab.sweeps.code_digest import describe_arithmetic
from rankloop.lab.sweeps.engines import Engine, InProcess, ignore
from rankloop.lab.sweeps.sweep import Cell, Sweep
from rankloop.lab.sweeps.sweep_cells import FoldLoader, Progress, cell_key, run_cell
from rankloop.lab.sweeps.sweep_spec import write_spec

IN_PROCESS = InProcess()


def run_sweep(
    sweep: Sweep,
    folder: Path | None = None,
    *,
    engine: Engine = IN_PROCESS,
    report: Callable[[Progress], None] = ignore,
    quick: bool = False,
) -> pl.DataFrame:
    """Run every cell of a sweep; the rows are the same, in the same order, by any engine.

    With a folder, it leaves `spec.json` and `results.parquet` there. Finished cells are kept in `runs/` on
    the way: after Ctrl-C or a crash the same call goes on where it stopped, and a call with more seeds or
    policies does only what is new. The spec also has the number of test queries, the arithmetic of this
    machine, and whether this is only a `quick` look.

    >>> from rankloop.lab.simulation.protocol import Protocol
    >>> from rankloop.policies import Random
    >>> from rankloop.lab.users import PresetUser
    >>> sweep = Sweep(
    ...     data=["linear"], users={"perfect": PresetUser("perfect")},
    ...     policies={"random": Random()}, seeds=[1], protocol=Protocol(rounds=10, checkpoints=1),
    ... )
    >>> run_sweep(sweep)["metric"].unique(maintain_order=True).to_list()
    ['offline nDCG@10', 'online nDCG@10', 'cumulative nDCG@10', 'pairwise regret']
    """
    cells = list(dict.fromkeys(map(sweep.representative, sweep.cells())))
    kept = _prepare(sweep, cells, folder, quick) if folder else None
    done = {cell: frame for cell in cells if kept and (frame := kept.find(cell)) is not None}
    for cell in done:
        report(Progress(cell, sweep.protocol.rounds))
    missing = [cell for cell in cells if cell not in done]
    load = FoldLoader(sweep, known_hashes())
    for number, frame in engine.map(partial(run_cell, sweep), missing, load=load, report=report):
        done[missing[number]] = frame
        if kept:
            kept.keep(missing[number], frame)
    results = pl.concat([_rows_of(cell, done[sweep.representative(cell)]) for cell in sweep.cells()])
    if folder:
        write_parquet(folder / "results.parquet", results)
    return results


class ResultsFolder:
    """A folder with one file for each finished cell, found again only by a cell with the same key."""

    def __init__(self, folder: Path, keys: dict[Cell, str]) -> None:
        self._folder, self._keys = folder, keys

    def find(self, cell: Cell) -> pl.DataFrame | None:
        """Find the rows of a finished cell, if they are there."""
        try:
            return pl.read_parquet(self.path(cell))
        except (FileNotFoundError, pl.exceptions.PolarsError):  # missing, or damaged: it is done again
            return None

    def keep(self, cell: Cell, frame: pl.DataFrame) -> None:
        """Keep the rows of a finished cell."""
        write_parquet(self.path(cell), frame)

    def path(self, cell: Cell) -> Path:
        """Say where the rows of a cell are kept: the name is readable, and its own."""
        words = f"{cell.fold}-{cell.user}-{cell.policy}-{cell.seed}"
        return self._folder / f"{re.sub(r'[^A-Za-z0-9.=_-]+', '_', words)[-80:]}-{self._keys[cell]}.parquet"


def _prepare(sweep: Sweep, cells: Iterable[Cell], folder: Path, quick: bool) -> ResultsFolder:
    """Load every fold once, for the keys of its cells and the number of its test queries; write the spec."""
    by_fold: dict[str, list[Cell]] = {}
    for cell in cells:
        by_fold.setdefault(cell.fold, []).append(cell)
    keys, counts = dict[Cell, str](), dict[str, int]()
    for fold, inside in by_fold.items():
        dataset = sweep.dataset(fold)
        keys |= {cell: cell_key(sweep, cell, dataset) for cell in inside}
        counts[fold] = count_test_queries(dataset, leave_out=sweep.protocol.without_relevant == "skip")
    folds: dict[str, dict[str, int]] = {}
    for cell in sweep.cells():
        folds.setdefault(cell.data, {})[cell.fold] = counts[sweep.representative(cell).fold]
    test_queries = {data: list(found.values()) for data, found in folds.items()}
    facts = {"test_queries": test_queries, "arithmetic": describe_arithmetic()}
    mark = {"quick": True} if quick else {}
    write_json(folder / "spec.json", write_spec(sweep) | facts | mark)
    return ResultsFolder(folder / "runs", keys)


def count_test_queries(dataset: Dataset, *, leave_out: bool) -> int:
    """Count the test queries that enter offline means: all, or only those with a relevant document."""
    best = np.maximum.reduceat(dataset.test.relevance, dataset.test.offsets[:-1])
    return int((best > 0).sum()) if leave_out else len(dataset.test)


def _rows_of(cell: Cell, found: pl.DataFrame) -> pl.DataFrame:
    """Give the rows of a cell, which may have been found for another one."""
    return found.with_columns(data=pl.lit(cell.data), fold=pl.lit(cell.fold), user=pl.lit(cell.user))


def write_whole(path: Path, write: Callable[[Path], object]) -> None:
    """Let `write` fill a temporary file beside `path`, then put it in place in one step."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        write(part)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def write_json(path: Path, value: Any) -> None:
    """Write plain values, readable and with a stable order."""
    text = json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    write_whole(path, lambda part: part.write_text(text, encoding="utf-8"))


def write_parquet(path: Path, frame: pl.DataFrame) -> None:
    """Write a frame as Parquet."""
    made = io.BytesIO()  # Polars' own threads would go on writing a file after Ctrl-C, when it was removed
    frame.write_parquet(made, compression="zstd", statistics=False)
    write_whole(path, lambda part: part.write_bytes(made.getvalue()))
