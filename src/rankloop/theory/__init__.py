"""Learning theory: bounds on what was learned, the constants in them, and the excess that is measured."""

from rankloop.theory.bounds import (
    Class,
    ogd_excess,
    optimistic_loss,
    rademacher_lipschitz,
    rademacher_smooth,
    regularisation,
    regularised_excess,
)
from rankloop.theory.excess import Comparison, compare
from rankloop.theory.minimise import minimise, total
from rankloop.theory.online_to_batch import average_iterate, gradient_descent, step_size
from rankloop.theory.surrogates import Constants, ListNetLoss, RankSVMLoss, SmoothDCGLoss, Surrogate

__all__ = [
    "Class",
    "Comparison",
    "Constants",
    "ListNetLoss",
    "RankSVMLoss",
    "SmoothDCGLoss",
    "Surrogate",
    "average_iterate",
    "compare",
    "gradient_descent",
    "minimise",
    "ogd_excess",
    "optimistic_loss",
    "rademacher_lipschitz",
    "rademacher_smooth",
    "regularisation",
    "regularised_excess",
    "step_size",
    "total",
]
