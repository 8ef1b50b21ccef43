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
from rankloop.theory.duels import DuelSteps, duel_losses
from rankloop.theory.excess import Comparison, compare
from rankloop.theory.minimise import minimise, total
from rankloop.theory.neural_widths import NeuralWidths
from rankloop.theory.online_to_batch import average_iterate, gradient_descent, step_size
from rankloop.theory.pair_constants import PairConstants, measure_constants
from rankloop.theory.surrogates import Constants, ListNetLoss, RankSVMLoss, SmoothDCGLoss, Surrogate
from rankloop.theory.tangent_kernel import effective_dimension, tangent_kernel
from rankloop.theory.uncertain_pairs import PairRankBounds, PePairRankBounds, copies_needed

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
