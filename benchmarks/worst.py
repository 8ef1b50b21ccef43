"""Worst runs of finished experiments: `python -m benchmarks.worst results/safe-start results/lock-in`.

For every data set, user and policy: the mean with its 95 % interval, the worst run, and the share of low
ones, which end more than 15 % below the median of the best policy on their world and user.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import polars as pl
from rich.console import Console
from rich.table import Table
from scipy.stats import t as student

LOW = 0.85
MEASURES = ("first nDCG@10", "cumulative nDCG@10", "offline nDCG@10")


def final(folder: Path) -> pl.DataFrame:
    """The last value of every run, by data without its base order, fold, user, policy and measure."""
    rows = pl.read_parquet(folder / "results.parquet")
    return rows.filter(pl.col("metric").is_in(MEASURES), pl.col("round") == pl.col("round").max())


def with_low(values: pl.DataFrame) -> pl.DataFrame:
    """Whether a run is low, among those of its world, user and measure."""
    world = pl.col("fold").str.replace(r"@.*$", "").alias("world")
    medians = values.with_columns(world).group_by("world", "user", "metric", "data", "policy")
    of_policies = medians.agg(pl.col("value").median())
    best = of_policies.group_by("world", "user", "metric").agg(best=pl.col("value").max())
    joined = values.with_columns(world).join(best, on=["world", "user", "metric"])
    return joined.with_columns((pl.col("value") < LOW * pl.col("best")).alias("low"))


def table(folder: Path) -> Table:
    """A line for every data set, user and policy."""
    shown = Table(title=str(folder), box=None)
    for heading in ("data", "user", "policy", "runs", *MEASURES, "worst offline", "low offline"):
        shown.add_column(heading, justify="left" if heading in ("data", "user", "policy") else "right")
    runs = with_low(final(folder))
    for (data, user, policy), part in runs.group_by("data", "user", "policy", maintain_order=True):
        by_measure = {name: part.filter(pl.col("metric") == name) for name in MEASURES}
        offline = by_measure["offline nDCG@10"]
        cells = [interval(each["value"].to_numpy()) for each in by_measure.values()]
        values, is_low = offline["value"].to_numpy(), offline["low"].to_numpy()
        worst, low = f"{values.min():.3f}", f"{is_low.mean():.0%}"
        shown.add_row(str(data), str(user), str(policy), str(offline.height), *cells, worst, low)
    return shown


def interval(values: np.ndarray) -> str:
    """The mean and half of its 95 % interval."""
    if len(values) < 2:
        return f"{values.mean():.3f}" if len(values) else "–"
    half = student.ppf(0.975, len(values) - 1) * values.std(ddof=1) / np.sqrt(len(values))
    return f"{values.mean():.3f} ± {half:.3f}" if values.mean() < 10 else f"{values.mean():.0f} ± {half:.0f}"


if __name__ == "__main__":
    for name in sys.argv[1:]:
        Console(width=180).print(table(Path(name)))
