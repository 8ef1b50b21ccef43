"""Team draft: captains pick in turn."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankloop.interleaving.base import Interleaved
from rankloop.types import IntArray


@dataclass(frozen=True)
class TeamDraft:
    """Team-draft interleaving and multileaving.

    In rounds, the rankers take turns in random order; each adds its best result that is not in the list
    yet and owns it. Results at the head on which all rankers agree are nobody's, unless `credit_agreed`:
    a click there says nothing about who is better, and giving it to a random team only adds noise.

    >>> lists = np.array([[0, 1, 2], [0, 2, 1]])
    >>> shown = TeamDraft().combine(lists, k=3, rng=np.random.default_rng(0))
    >>> shown.order.tolist(), shown.owners.tolist()
    ([0, 2, 1], [[0.0, 0.0, 1.0], [0.0, 1.0, 0.0]])

    Radlinski, Kurup, Joachims: How does clickthrough data reflect retrieval quality? CIKM 2008.
    Schuth, Sietsma, Whiteson, Lefortier, de Rijke: Multileaved comparisons for fast online evaluation.
    CIKM 2014.
    """

    credit_agreed: bool = False

    def combine(self, lists: IntArray, *, k: int, rng: np.random.Generator) -> Interleaved:
        """Let the teams pick until `k` results are in the list."""
        n_rankers, n_docs = lists.shape
        k = min(k, n_docs)
        agreed = 0 if self.credit_agreed else _agreed_head(lists[:, :k])
        captains = rng.random((-(-k // n_rankers), n_rankers)).argsort(axis=1).ravel()[: k - agreed].tolist()
        wishes = lists[:, :k].tolist()  # at most k - 1 of a ranker's wishes can be taken before its turn
        order = wishes[0][:agreed]
        taken = set(order)
        for captain in captains:
            pick = next(doc for doc in wishes[captain] if doc not in taken)
            taken.add(pick)
            order.append(pick)
        owners = np.zeros((n_rankers, k))
        owners[captains, range(agreed, k)] = 1.0
        return Interleaved(np.array(order), owners)


def _agreed_head(lists: IntArray) -> int:
    """How many results at the head are the same in every list."""
    differs = (lists != lists[0]).any(axis=0)
    return int(differs.argmax()) if differs.any() else lists.shape[1]
