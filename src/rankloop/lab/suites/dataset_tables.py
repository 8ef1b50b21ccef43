"""The table of generalisation bounds, with numbers.

Chaudhuri: Learning to rank: online learning, statistical theory and applications. PhD thesis, University of
Michigan 2016, chapter 4.
"""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from rankloop.lab.data import Dataset, take_queries
from rankloop.lab.suites.paper_items import PaperTable
from rankloop.lab.theory import ListNetLoss, RankSVMLoss, SmoothDCGLoss, Surrogate, compare_bounds

NORM = 5.0
QUERIES, FEW = 1000, 100


def table_4_1(dataset: Dataset | None, quick: bool = False) -> Mapping[str, pl.DataFrame]:
    """Every bound that holds for each loss, with what is measured."""
    assert dataset is not None, "this table is about data"
    count = FEW if quick else QUERIES
    sample, held_out = take_queries(dataset.train, 0, count), take_queries(dataset.test, 0, count)
    top = max(sample.grades, held_out.grades) - 1
    losses: tuple[Surrogate, ...] = (ListNetLoss(), SmoothDCGLoss(top), RankSVMLoss())
    return {
        loss.label: pl.DataFrame([row.row() for row in compare_bounds(loss, sample, held_out, norm=NORM)])
        for loss in losses
    }


TABLES: Mapping[str, PaperTable] = {
    "theory/table4.1": PaperTable(
        title="What does theory promise for rankers learned from a sample, and what is measured?",
        paper="No numbers: the bound for online gradient descent has the smallest constant, that for the "
        "regularised minimiser a small one, and that for any loss hides logarithms.",
        make=table_4_1,
        notes=(
            "Diagnostics, and no guarantee: the bounds hold for the worst world, and say little about this "
            "one. `rankloop lab bounds` explains the columns.",
        ),
        data="linear(queries=1000, test_queries=500)",
    ),
}
