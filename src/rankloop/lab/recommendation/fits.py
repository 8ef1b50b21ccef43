"""Fits of recommenders: one model, one seed, and what users of the test reviews got; a pure function."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from threadpoolctl import threadpool_limits

from rankloop.lab.data.review_data import Parts
from rankloop.recommend import Recommender, top_lists
from rankloop.types import FloatArray

RELEASED = (10, 50)


@dataclass(frozen=True, slots=True)
class Fit:
    """A recommender that is to be fitted once, and the cutoffs at which it is measured."""

    model: Recommender
    seed: int
    ks: tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Measured:
    """What the users of the test reviews got from a recommender, in one fit or averaged over several."""

    plain: Mapping[int, FloatArray]  # A@k, [n_users]
    released: Mapping[int, FloatArray]  # C2@k, [n_users], NaN where it is not defined

    def mean(self, k: int) -> float:
        """A@k of all users."""
        return float(self.plain[k].mean())

    def released_mean(self, k: int) -> float:
        """C2@k of the users that count there."""
        known = self.released[k][~np.isnan(self.released[k])]
        return float(known.mean()) if len(known) else float("nan")


def fitted(parts: Parts, fit: Fit) -> Measured:
    """Fit, and recommend to everyone with a test review.

    On one core, wherever it is: sums do not depend on the number of cores then.
    """
    with threadpool_limits(limits=1):
        model = fit.model.fit(parts.train, np.random.default_rng(fit.seed))
        lists = top_lists(model, parts.test, known=[parts.train, parts.validation])
    return Measured(
        {k: lists.plain(k) for k in sorted({*fit.ks, *RELEASED})},
        {k: lists.released(k) for k in RELEASED},
    )


def averaged(fits: Sequence[Measured]) -> Measured:
    """The mean over fits of what each user got; by the other protocol, all of them together."""
    return Measured(
        {k: np.mean([each.plain[k] for each in fits], axis=0) for k in fits[0].plain},
        {k: np.concatenate([each.released[k] for each in fits]) for k in RELEASED},
    )
