"""Bounds beside what is measured: algorithms of the theory run on a sample, tried on held-out queries."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from rankloop.errors import DataError
from rankloop.lab.theory.empirical_risk import minimise, total
from rankloop.lab.theory.generalisation_bounds import (
    Class,
    ogd_excess,
    optimistic_loss,
    rademacher_lipschitz,
    rademacher_smooth,
    regularisation,
    regularised_excess,
)
from rankloop.lab.theory.online_to_batch import average_iterate, gradient_descent, step_size
from rankloop.lab.theory.surrogate_losses import Constants, Surrogate
from rankloop.query_set import QuerySet


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """A bound, and what it bounds as it was measured."""

    bound: str
    algorithm: str
    any_loss: bool  # whether it holds for losses that are not convex
    bounds: str  # what it is a bound on
    value: float
    printed: float  # by the document's constants
    measured: float

    def row(self) -> dict[str, str | float]:
        """The comparison as a line of a table, by column."""
        return {
            "theorem": self.bound.replace("Theorem", "Thm").replace("Corollary", "Cor"),
            "applies to": self.algorithm,
            "losses": "any" if self.any_loss else "convex",
            "on": self.bounds,
            "bound": self.value,
            "as printed": self.printed,
            "measured": self.measured,
        }


def compare(
    loss: Surrogate, sample: QuerySet, held_out: QuerySet, *, norm: float = 5.0, delta: float = 0.05
) -> Iterator[Comparison]:
    r"""The bounds that hold for a loss, one after the other.

    The excess is the loss on held-out queries above the smallest there is for them in the ball. That one is
    found with their grades, so what is measured is rather too large than too small.

    >>> from rankloop.lab.theory.surrogate_losses import ListNetLoss
    >>> rng = np.random.default_rng(0)
    >>> grades, offsets = rng.integers(0, 3, 400), np.arange(0, 401, 10)
    >>> queries = QuerySet(rng.random((400, 5)), offsets, grades, tuple(map(str, range(40))))
    >>> [row.bound for row in compare(ListNetLoss(), queries, queries)]
    ['Theorem 35', 'Theorem 36', 'Corollary 37', 'Corollary 43', 'Theorem 44']
    """
    ball, longest = ball_of(sample, held_out, norm), longest_list(sample, held_out)
    ours, printed = loss.constants(ball.reach, longest), loss.printed(ball.reach, longest)
    if loss.convex:
        best = total(loss, minimise(loss, held_out, norm=norm), held_out)
        yield from _convex(loss, sample, held_out, ball, ours, printed, best)
    weights = minimise(loss, sample, norm=norm)
    seen, unseen = total(loss, weights, sample), total(loss, weights, held_out)
    yield from _uniform(ball, ours, printed, seen, unseen, delta)


def _convex(
    loss: Surrogate,
    sample: QuerySet,
    held_out: QuerySet,
    ball: Class,
    ours: Constants,
    printed: Constants,
    best: float,
) -> Iterator[Comparison]:
    """Those for one algorithm each."""
    step = step_size(ball, ours.lipschitz)
    average = average_iterate(gradient_descent(loss, sample, step=step))
    yield Comparison(
        bound="Theorem 35",
        algorithm="OGD, averaged",
        any_loss=False,
        bounds="excess",
        value=ogd_excess(ball, ours.lipschitz),
        printed=ogd_excess(ball, printed.lipschitz),
        measured=total(loss, average, held_out) - best,
    )
    weights = minimise(loss, sample, norm=ball.norm, weight=regularisation(ball, ours.lipschitz))
    yield Comparison(
        bound="Theorem 36",
        algorithm="regularised ERM",
        any_loss=False,
        bounds="excess",
        value=regularised_excess(ball, ours.lipschitz),
        printed=regularised_excess(ball, printed.lipschitz),
        measured=total(loss, weights, held_out) - best,
    )


def _uniform(
    ball: Class, ours: Constants, printed: Constants, seen: float, unseen: float, delta: float
) -> Iterator[Comparison]:
    """Those for every ranker in the ball, tried on the minimiser."""
    yield Comparison(
        bound="Corollary 37",
        algorithm="ERM",
        any_loss=True,
        bounds="complexity",
        value=rademacher_lipschitz(ball, ours.lipschitz, ours.largest),
        printed=rademacher_lipschitz(ball, printed.lipschitz, printed.largest),
        measured=unseen - seen,
    )
    if ours.smoothness is None or printed.smoothness is None:
        return
    yield Comparison(
        bound="Corollary 43",
        algorithm="ERM",
        any_loss=True,
        bounds="complexity",
        value=rademacher_smooth(ball, ours.smoothness, ours.largest, seen),
        printed=rademacher_smooth(ball, printed.smoothness, printed.largest, seen),
        measured=unseen - seen,
    )
    yield Comparison(
        bound="Theorem 44",
        algorithm="ERM",
        any_loss=True,
        bounds="loss",
        value=optimistic_loss(ball, ours.smoothness, ours.largest, seen, delta=delta),
        printed=optimistic_loss(ball, printed.smoothness, printed.largest, seen, delta=delta),
        measured=unseen,
    )


def ball_of(sample: QuerySet, held_out: QuerySet, norm: float) -> Class:
    """The class of a sample; features are as long as the longest of both sets."""
    if not sample.n_features:
        raise DataError("bounds of linear rankers need features, and these queries have none")
    longest = (np.sqrt(np.square(part.features).sum(axis=1).max()) for part in (sample, held_out))
    return Class(
        norm=norm, radius=float(max(longest)), queries=len(sample), documents=int(sample.offsets[-1])
    )


def longest_list(*parts: QuerySet) -> int:
    """The most documents that a query has."""
    return int(max(np.diff(part.offsets).max() for part in parts))
