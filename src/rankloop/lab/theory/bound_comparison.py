"""Bounds beside what is measured: algorithms of the theory run on a sample, tried on held-out queries."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from rankloop.errors import DataError
from rankloop.lab.theory.empirical_risk import (
    average_iterate,
    find_step_size,
    gradient_descent,
    mean_loss,
    minimise_in_ball,
)
from rankloop.lab.theory.generalisation_bounds import (
    LinearClass,
    bound_lipschitz_complexity,
    bound_ogd_excess,
    bound_optimistic_loss,
    bound_regularised_excess,
    bound_smooth_complexity,
    find_regularisation,
)
from rankloop.lab.theory.surrogate_losses import Constants, Surrogate
from rankloop.query_set import QuerySet


@dataclass(frozen=True, kw_only=True)
class BoundComparison:
    """A bound, and what it bounds as it was measured."""

    bound: str
    algorithm: str
    any_loss: bool  # whether it holds for losses that are not convex
    bounds: str  # what it is a bound on
    value: float
    as_printed: float  # by the document's constants
    measured: float

    def row(self) -> dict[str, str | float]:
        """Give the comparison as a line of a table, by column."""
        return {
            "theorem": self.bound.replace("Theorem", "Thm").replace("Corollary", "Cor"),
            "applies to": self.algorithm,
            "losses": "any" if self.any_loss else "convex",
            "on": self.bounds,
            "bound": self.value,
            "as printed": self.as_printed,
            "measured": self.measured,
        }


def compare_bounds(
    loss: Surrogate, sample: QuerySet, held_out: QuerySet, *, norm: float = 5.0, delta: float = 0.05
) -> Iterator[BoundComparison]:
    r"""Compare the bounds that hold for a loss, one after the other.

    The excess is the loss on held-out queries above the smallest there is for them in the ball. That one is
    found with their grades, so what is measured is rather too large than too small.

    >>> from rankloop.lab.theory.surrogate_losses import ListNetLoss
    >>> rng = np.random.default_rng(0)
    >>> grades, offsets = rng.integers(0, 3, 400), np.arange(0, 401, 10)
    >>> queries = QuerySet(rng.random((400, 5)), offsets, grades, tuple(map(str, range(40))))
    >>> [row.bound for row in compare_bounds(ListNetLoss(), queries, queries)]
    ['Theorem 35', 'Theorem 36', 'Corollary 37', 'Corollary 43', 'Theorem 44']
    """
    ball, longest = measure_class(sample, held_out, norm), longest_list(sample, held_out)
    known = loss.constants(ball.reach, longest), loss.as_printed(ball.reach, longest)
    if loss.convex:
        yield from _compare_convex(loss, sample, held_out, ball, known)
    weights = minimise_in_ball(loss, sample, norm=norm)
    seen, unseen = mean_loss(loss, weights, sample), mean_loss(loss, weights, held_out)
    yield from _compare_uniform(ball, known, seen, unseen, delta)


def _compare_convex(
    loss: Surrogate,
    sample: QuerySet,
    held_out: QuerySet,
    ball: LinearClass,
    known: tuple[Constants, Constants],
) -> Iterator[BoundComparison]:
    """Bounds for one algorithm each."""
    best = mean_loss(loss, minimise_in_ball(loss, held_out, norm=ball.norm), held_out)
    lipschitz = known[0].lipschitz
    average = average_iterate(gradient_descent(loss, sample, step=find_step_size(ball, lipschitz)))
    excess = mean_loss(loss, average, held_out) - best
    bound = _of_each(known, lambda constants: bound_ogd_excess(ball, constants.lipschitz))
    yield _describe("Theorem 35", "OGD, averaged", "excess", bound, excess)
    weights = minimise_in_ball(loss, sample, norm=ball.norm, weight=find_regularisation(ball, lipschitz))
    excess = mean_loss(loss, weights, held_out) - best
    bound = _of_each(known, lambda constants: bound_regularised_excess(ball, constants.lipschitz))
    yield _describe("Theorem 36", "regularised ERM", "excess", bound, excess)


def _compare_uniform(
    ball: LinearClass, known: tuple[Constants, Constants], seen: float, unseen: float, delta: float
) -> Iterator[BoundComparison]:
    """Bounds for every ranker in the ball, tried on the minimiser."""
    bound = _of_each(known, lambda each: bound_lipschitz_complexity(ball, each.lipschitz, each.largest))
    yield _describe("Corollary 37", "ERM", "complexity", bound, unseen - seen)
    smooth = [(each.smoothness, each.largest) for each in known if each.smoothness is not None]
    if len(smooth) < len(known):
        return
    complexities = [bound_smooth_complexity(ball, smoothness, most, seen) for smoothness, most in smooth]
    yield _describe("Corollary 43", "ERM", "complexity", complexities, unseen - seen)
    losses = [bound_optimistic_loss(ball, smoothness, most, seen, delta=delta) for smoothness, most in smooth]
    yield _describe("Theorem 44", "ERM", "loss", losses, unseen)


def _of_each(known: tuple[Constants, Constants], bound: Callable[[Constants], float]) -> list[float]:
    return [bound(constants) for constants in known]


def _describe(
    bound: str,
    algorithm: str,
    bounds: Literal["excess", "complexity", "loss"],
    values: list[float],
    measured: float,
) -> BoundComparison:
    value, as_printed = values
    return BoundComparison(
        bound=bound,
        algorithm=algorithm,
        any_loss=bounds != "excess",
        bounds=bounds,
        value=value,
        as_printed=as_printed,
        measured=measured,
    )


def measure_class(sample: QuerySet, held_out: QuerySet, norm: float) -> LinearClass:
    """Measure the class of a sample; features are as long as the longest of both sets."""
    if not sample.n_features:
        raise DataError("bounds of linear rankers need features, and these queries have none")
    longest = (np.sqrt(np.square(part.features).sum(axis=1).max()) for part in (sample, held_out))
    return LinearClass(
        norm=norm, radius=float(max(longest)), queries=len(sample), documents=int(sample.offsets[-1])
    )


def longest_list(*parts: QuerySet) -> int:
    """Count the most documents that a query has."""
    return int(max(np.diff(part.offsets).max() for part in parts))
