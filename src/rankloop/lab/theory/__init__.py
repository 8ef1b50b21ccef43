"""Learning theory: bounds on what was learned, the constants in them, and the excess that is measured."""

from rankloop.lab.theory.bound_comparison import Comparison, compare
from rankloop.lab.theory.duel_bounds import DuelSteps, duel_losses
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
from rankloop.lab.theory.neural_widths import NeuralWidths
from rankloop.lab.theory.online_to_batch import average_iterate, gradient_descent, step_size
from rankloop.lab.theory.pair_constants import PairConstants, measure_constants
from rankloop.lab.theory.pairrank_bounds import PairRankBounds, PePairRankBounds, copies_needed
from rankloop.lab.theory.surrogate_losses import (
    Constants,
    ListNetLoss,
    RankSVMLoss,
    SmoothDCGLoss,
    Surrogate,
)
from rankloop.lab.theory.tangent_kernel import effective_dimension, tangent_kernel

__all__ = [
    "Class",
    "Comparison",
    "Constants",
    "DuelSteps",
    "ListNetLoss",
    "NeuralWidths",
    "PairConstants",
    "PairRankBounds",
    "PePairRankBounds",
    "RankSVMLoss",
    "SmoothDCGLoss",
    "Surrogate",
    "average_iterate",
    "compare",
    "copies_needed",
    "duel_losses",
    "effective_dimension",
    "gradient_descent",
    "measure_constants",
    "minimise",
    "ogd_excess",
    "optimistic_loss",
    "rademacher_lipschitz",
    "rademacher_smooth",
    "regularisation",
    "regularised_excess",
    "step_size",
    "tangent_kernel",
    "total",
]
