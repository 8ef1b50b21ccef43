"""A sweep with a folder: what was asked, and what came out."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import polars as pl

from rankloop.lab.sweeps.counted_queries import count_test_queries
from rankloop.lab.sweeps.engines import Engine, Watch
from rankloop.lab.sweeps.execution import HERE, execute
from rankloop.lab.sweeps.files import write_json, write_parquet
from rankloop.lab.sweeps.sweep import Sweep


def conduct(
    sweep: Sweep, out: Path, *, engine: Engine = HERE, watch: Watch = lambda _: None, quick: bool = False
) -> pl.DataFrame:
    """Do a sweep and leave `spec.json` and `results.parquet` in a folder.

    Finished runs are kept in `runs/` on the way: after Ctrl-C or a crash the same call goes on where it
    stopped, and a call with more seeds or policies does only what is new. Files appear whole or not at all.
    The spec also says how many test queries there are, and whether this is only a `quick` look.
    """
    facts = {"test_queries": count_test_queries(sweep), **({"quick": True} if quick else {})}
    write_json(out / "spec.json", {**sweep.describe(), **facts})
    results = execute(sweep, ledger=out / "runs", engine=engine, watch=watch)
    write_parquet(out / "results.parquet", results)
    return results


def sweep_id(sweep: Sweep) -> str:
    """A short name that is the same for the same question."""
    return hashlib.sha256(json.dumps(sweep.describe(), sort_keys=True).encode()).hexdigest()[:8]
