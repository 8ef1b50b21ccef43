"""Indistinguishable worlds: two that look alike from the top result, and want different orders.

Whatever a learner that sees the grade of the first result only does, in one of the two it loses something on
every list: no policy has a regret that grows slower than the number of lists.

Chaudhuri: Learning to rank: online learning, statistical theory and applications. Thesis, 2016, Table B.1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankloop.lab.theory.objectives import DCGGain, Objective, best_dcg
from rankloop.lab.theory.observability import all_ranks
from rankloop.types import FloatArray, IntArray

GRADES: IntArray = np.array(
    [[0, 0, 0], [1, 1, 0], [1, 0, 1], [0, 1, 1], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1]]
)  # [8, 3] in the order of the table


@dataclass(frozen=True, eq=False)
class GradeDistribution:
    """A world of fixed items: how likely each row of grades is.

    >>> FIRST.mean_grades.round(2).tolist(), SECOND.mean_grades.round(2).tolist()
    ([0.45, 0.45, 0.4], [0.45, 0.45, 0.4])
    """

    grades: IntArray  # [n_rows, n_items]
    probabilities: FloatArray  # [n_rows]

    @property
    def mean_grades(self) -> FloatArray:
        """All that the grade of the first result can ever tell: [n_items]."""
        return self.probabilities @ self.grades

    @property
    def mean_normalised_gains(self) -> FloatArray:
        """What the best order for NDCG sorts by, the mean of $G(r) / Z(r)$: [n_items].

        >>> FIRST.mean_normalised_gains.round(4).tolist()
        [0.3533, 0.392, 0.3226]
        """
        best = best_dcg(self.grades)[:, None]
        return self.probabilities @ (DCGGain().worth(self.grades) / np.where(best > 0, best, 1.0))

    def regrets(self, objective: Objective) -> FloatArray:
        """How far each order, as in `all_ranks`, is from the best one on average: [n_items!]."""
        mean = objective.values(all_ranks(self.grades.shape[1]), self.grades) @ self.probabilities
        return np.asarray(mean - mean.min() if objective.is_loss else mean.max() - mean)


FIRST = GradeDistribution(GRADES, np.array([0.0, 0.1, 0.15, 0.05, 0.2, 0.3, 0.2, 0.0]))
SECOND = GradeDistribution(GRADES, np.array([0.0, 0.3, 0.0, 0.0, 0.15, 0.15, 0.4, 0.0]))


def least_regret(objective: Objective) -> float:
    """Compute what any fixed order, or any mixture, loses per list on average over the two worlds.

    >>> from rankloop.lab.theory.objectives import NDCGGain
    >>> round(least_regret(NDCGGain()), 4), round(least_regret(DCGGain()), 4)
    (0.0142, 0.0)
    """
    return float(((FIRST.regrets(objective) + SECOND.regrets(objective)) / 2).min())
