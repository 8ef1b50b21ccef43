"""Learning in one look: how sure the model of now is of the orders in the lists that were shown last."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from rankloop.service.core.lists.order_certainty import Grade
from rankloop.service.reports.settled_pairs import settled_pairs
from rankloop.service.service_facade import ServiceFacade

LAST = 20  # lists
GRADES: tuple[Grade, ...] = ("settled", "likely", "leaning")


@dataclass(frozen=True, slots=True)
class LearnedSoFar:
    """Pairs of results in the last lists by how sure the model of now is of their order."""

    lists: int
    pairs: int
    grades: Mapping[Grade, int]
    open: int | None  # of them, those that may be tried either way; None: the policy tries out otherwise

    def share(self, grade: Grade) -> float:
        """Of all pairs."""
        return self.grades[grade] / self.pairs


def learned_so_far(service: ServiceFacade, ranker: str, last: int = LAST) -> LearnedSoFar | None:
    """What is known of the last lists; None if there are none, or if the policy cannot say how sure it is."""
    model = service.model(ranker)
    lists = service.lists(ranker, last=last)
    counts, tried, pairs = dict.fromkeys(GRADES, 0), 0, 0
    for shown in lists:
        found = settled_pairs(shown, model)
        if found.grades is None:
            return None
        above = np.triu_indices(len(found.shown), 1)
        for grade in np.array(found.grades)[above].tolist():
            counts[grade] += 1
        tried += found.open_pairs or 0
        pairs += found.pairs
    return LearnedSoFar(len(lists), pairs, counts, tried) if pairs else None
