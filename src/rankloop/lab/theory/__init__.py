"""Learning theory: bounds on what was learned, the constants in them, and the excess that is measured."""

from rankloop.lab.theory.bound_comparison import BoundComparison, compare_bounds
from rankloop.lab.theory.duel_bounds import DuelSteps, duel_losses
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
from rankloop.lab.theory.neural_widths import NeuralWidths
from rankloop.lab.theory.pair_constants import PairConstants, measure_pair_constants
from rankloop.lab.theory.pairrank_bounds import PairRankBounds, PePairRankBounds, draws_needed
from rankloop.lab.theory.surrogate_losses import (
    Constants,
    ListNetLoss,
    RankSVMLoss,
    SmoothDCGLoss,
    Surrogate,
)
from rankloop.lab.theory.tangent_kernel import effective_dimension, tangent_kernel

__all__ = [
    "BoundComparison",
    "Constants",
    "DuelSteps",
    "LinearClass",
    "ListNetLoss",
    "NeuralWidths",
    "PairConstants",
    "PairRankBounds",
    "PePairRankBounds",
    "RankSVMLoss",
    "SmoothDCGLoss",
    "Surrogate",
    "average_iterate",
    "bound_lipschitz_complexity",
    "bound_ogd_excess",
    "bound_optimistic_loss",
    "bound_regularised_excess",
    "bound_smooth_complexity",
    "compare_bounds",
    "draws_needed",
    "duel_losses",
    "effective_dimension",
    "find_regularisation",
    "find_step_size",
    "gradient_descent",
    "mean_loss",
    "measure_pair_constants",
    "minimise_in_ball",
    "tangent_kernel",
]
