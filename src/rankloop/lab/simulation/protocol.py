"""What every run of an experiment has in common."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankloop.bounds import Count, Factor, check_settings
from rankloop.lab.simulation.measures import Measure, index_by_name, usual_measures
from rankloop.metrics.metric import WithoutRelevant


@dataclass(frozen=True, kw_only=True)
class Protocol:
    r"""How long a run is, how many results are shown, and how success is counted.

    Unless other `measures` are named, online performance is
    $\sum_t \gamma^{t-1}\,\text{nDCG}(\text{list shown at } t)$, in which a query without a relevant document
    counts 0. Offline performance is the mean nDCG of the exploitation ranking over held-out queries, from
    which such queries are left out unless `without_relevant` says otherwise.

    >>> Protocol(rounds=100, checkpoints=4).checkpoint_rounds()
    [0, 1, 3, 10, 25, 50, 75, 100]
    """

    rounds: Count = 1000
    k: Count = 10  # results shown, and cutoff of the usual measures
    discount: Factor = 0.9995  # γ
    checkpoints: Count = 50
    without_relevant: WithoutRelevant = "skip"
    measures: tuple[Measure, ...] = ()  # the usual ones, if none are named

    def __post_init__(self) -> None:
        """Refuse experiments that cannot be run."""
        check_settings(self)
        index_by_name(self.measured())  # refuses two of one name

    def measured(self) -> tuple[Measure, ...]:
        """List what is measured on the way.

        >>> [measure.name for measure in Protocol(k=5).measured()]
        ['offline nDCG@5', 'online nDCG@5', 'cumulative nDCG@5', 'pairwise regret']
        """
        return self.measures or usual_measures(self.k, self.discount)

    def checkpoint_rounds(self) -> list[int]:
        """When to measure: evenly over the run, and more often at the start, where most happens.

        After the first even step, nothing comes close to another: a mean over few rounds is mostly luck.
        """
        evenly = np.linspace(0, self.rounds, self.checkpoints + 1)
        early = 10 ** np.arange(0, np.log10(self.rounds), 0.5)
        apart = np.abs(np.subtract.outer(early, evenly)).min(axis=1) >= evenly[1] / 2
        chosen = early[(early < evenly[1]) | apart]
        return sorted({round(float(number)) for number in (*evenly, *chosen)})
