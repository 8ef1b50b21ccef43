"""Values of single runs at the end: what a mean is made of, and may hide."""

from __future__ import annotations

from typing import TypeAlias

import polars as pl

from rankloop.lab.analysis.policy_summaries import CELL, final_values

CellKey: TypeAlias = tuple[str, str, str, str]  # data, user, metric, policy
SingleRuns: TypeAlias = dict[CellKey, tuple[float, ...]]


def single_runs(results: pl.DataFrame) -> SingleRuns:
    """Every run's value at the round that `summarise` reports, by data, user, metric and policy."""
    cells = results.partition_by(*CELL, maintain_order=True, as_dict=True)
    return {
        (str(data), str(user), str(metric), policy): tuple(runs[key] for key in sorted(runs))
        for (data, user, metric), cell in cells.items()
        for policy, runs in final_values(cell)[1].items()
    }
