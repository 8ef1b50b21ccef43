"""Tables of one dataset: what the theory of generalisation promises, and how large groups are.

Chaudhuri: Learning to rank: online learning, statistical theory and applications. PhD thesis, University of
Michigan 2016, chapter 4. Jia: Toward reliable decision-making in information systems. PhD thesis, University
of Virginia 2022, chapter 3.
"""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from rankloop.errors import DataError
from rankloop.lab.data import FeatureGroups, load, take_queries
from rankloop.lab.theory import ListNetLoss, RankSVMLoss, SmoothDCGLoss, Surrogate, compare_bounds
from rankloop.query_set import QuerySet

NORM = 5.0
QUERIES, FEW = 1000, 100
WAYS = {  # to divide documents into two groups
    "inlinks in MSLR": FeatureGroups(feature=128, threshold=0.0),
    "PageRank in MSLR": FeatureGroups(feature=130, threshold=0.12),
    "PageRank in MQ2008": FeatureGroups(feature=41, threshold=0.4),
    "inlinks in MQ2008": FeatureGroups(feature=42, threshold=0.0),
    "128 in the nonlinear world": FeatureGroups(feature=128, threshold=0.3),
    "130 in the nonlinear world": FeatureGroups(feature=130, threshold=0.5),
}


def tabulate_generalisation(data: str, *, quick: bool = False) -> Mapping[str, pl.DataFrame]:
    """Tabulate every bound that holds for each loss, with what is measured."""
    dataset, count = load(data), FEW if quick else QUERIES
    sample, held_out = take_queries(dataset.train, 0, count), take_queries(dataset.test, 0, count)
    top = max(sample.grades, held_out.grades) - 1
    losses: tuple[Surrogate, ...] = (ListNetLoss(), SmoothDCGLoss(top), RankSVMLoss())
    return {
        loss.label: pl.DataFrame([row.row() for row in compare_bounds(loss, sample, held_out, norm=NORM)])
        for loss in losses
    }


def tabulate_groups(data: str) -> Mapping[str, pl.DataFrame]:
    """Tabulate how large the groups are, and their mean grade, for each way to divide the documents."""
    rows = []
    for name, groups in WAYS.items():
        try:
            train = load(data, groups=groups).train
        except DataError:  # no such feature
            continue
        rows.append({"groups": name, "feature": groups.feature, "threshold": groups.threshold, **_row(train)})
    return {"groups": pl.DataFrame(rows or [{"groups": "none: too few features"}])}


def _row(queries: QuerySet) -> dict[str, float]:
    frame = pl.DataFrame({"group": queries.groups, "grade": queries.relevance})
    found = {}
    for group in ("A", "B"):
        grades = frame.filter(pl.col("group") == group)["grade"]
        found[f"{group}, %"] = 100 * len(grades) / len(frame)
        found[f"{group}, utility"] = float(grades.sum()) / max(len(grades), 1)
    return found | {"beta": found["A, utility"] / found["B, utility"] if found["B, utility"] else 0.0}
