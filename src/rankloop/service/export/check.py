"""Check of exported files: read back, and re-scored by their own semantics."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from rankloop.service.export.export_formats import Format
from rankloop.service.export.portable_model import NotPortable, PortableModel
from rankloop.types import FloatArray

TOLERANCE = 1e-4  # of the largest score: the service and most engines compute in single precision


@dataclass(frozen=True, slots=True)
class Check:
    """On how many lists files were re-scored, and by how much they were off at most."""

    logged: int
    made_up: int
    candidates: int
    largest_error: float


def check_files(model: PortableModel, form: Format, files: Mapping[str, bytes]) -> Check:
    """Re-score the model's lists from files alone; `NotPortable` if they say something else.

    What is compared are differences within each list: a constant that a format adds to all of a list changes
    no order.
    """
    worst, candidates = 0.0, 0
    for number, each in enumerate(model.lists):
        found = form.score(files, model.names, each.features)
        error = float(np.abs(_centred(found) - _centred(each.scores)).max())
        if not error <= TOLERANCE * (1 + float(np.abs(each.scores).max())):
            kind = "logged" if number < model.logged else "made-up"
            raise NotPortable(
                f"in {form.name}, the scores of {kind} list {number + 1} would be off by up to {error:.3g}: "
                "nothing was written."
            )
        worst, candidates = max(worst, error), candidates + len(found)
    return Check(model.logged, len(model.lists) - model.logged, candidates, worst)


def _centred(scores: FloatArray) -> FloatArray:
    return np.asarray(scores - scores.mean())
