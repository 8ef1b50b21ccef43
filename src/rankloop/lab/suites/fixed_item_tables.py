"""Tables on fixed items that are computed from their definition."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import polars as pl

from rankloop.lab.theory.indistinguishable import FIRST, GRADES, SECOND, least_regret
from rankloop.lab.theory.objectives import (
    APGain,
    AUCLoss,
    DCGGain,
    NDCGGain,
    PairwiseLoss,
    PrecisionGain,
    SumLoss,
)
from rankloop.lab.theory.observability import (
    all_grades,
    all_ranks,
    feedback_matrix,
    observability,
    value_matrix,
)
from rankloop.types import Array

MEASURES = (SumLoss(), PairwiseLoss(), DCGGain(), NDCGGain(), APGain(), AUCLoss())


def tabulate_losses() -> Mapping[str, pl.DataFrame]:
    """Tabulate the matrices of losses and of feedback for three items.

    >>> tabulate_losses()["losses"].row(2)
    ('213', 0, 3, 1, 4, 2, 5, 3, 6)
    """
    return {"losses": _matrix(value_matrix(SumLoss(), 3)), "feedback": _matrix(feedback_matrix(3))}


def tabulate_indistinguishable() -> Mapping[str, pl.DataFrame]:
    """Tabulate the probabilities of two worlds, what each shows of an item, and what no order can avoid.

    >>> tabulate_indistinguishable()["means"].row(2)
    ('G/Z, p', 0.3533, 0.392, 0.3226)
    """
    worlds = {"p": FIRST, "p~": SECOND}
    probabilities = {"world": list(worlds)} | {
        _digits(row): [float(world.probabilities[column]) for world in worlds.values()]
        for column, row in enumerate(GRADES)
    }
    means = [
        *((f"grade, {name}", *world.mean_grades.round(4).tolist()) for name, world in worlds.items()),
        *((f"G/Z, {name}", *world.mean_normalised_gains.round(4).tolist()) for name, world in worlds.items()),
    ]
    regrets = [(kind.name, round(least_regret(kind), 4)) for kind in (NDCGGain(), DCGGain())]
    return {
        "probabilities": pl.DataFrame(probabilities),
        "means": pl.DataFrame(means, schema=["mean", "item 1", "item 2", "item 3"], orient="row"),
        "regrets": pl.DataFrame(regrets, schema=["objective", "least average regret"], orient="row"),
    }


def tabulate_observability(*, quick: bool = False) -> Mapping[str, pl.DataFrame]:
    """Tabulate from how many grades on each measure can be learned, and how regret grows with the first.

    The answer holds for binary grades and every policy: it is about the worst world.

    >>> list(tabulate_observability(quick=True)["measures"].filter(pl.col("measure") == "AP").row(0))
    [3, 'AP', 2, 3, 'T']
    """
    found = [
        observability(measure, k=1, items=items)
        for items in ((3,) if quick else (3, 4, 5))
        for measure in (*MEASURES, *map(PrecisionGain, range(1, items)))
    ]
    rows = [
        (each.items, each.objective.name, each.smallest_k, each.smallest_local_k, each.rate) for each in found
    ]
    columns = ["items", "measure", "learned from k", "fast from k", "regret, one grade"]
    return {"measures": pl.DataFrame(rows, schema=columns, orient="row")}


def _matrix(values: Array) -> pl.DataFrame:
    """A row for every order, by the ranks of its items, and a column for all grades."""
    whole = np.asarray(values).astype(np.int64)
    columns = {_digits(grades): whole[:, column] for column, grades in enumerate(all_grades(3))}
    return pl.DataFrame({"order": [_digits(ranks) for ranks in all_ranks(3)], **columns})


def _digits(numbers: Array) -> str:
    return "".join(map(str, numbers.tolist()))
