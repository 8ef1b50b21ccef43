"""Probabilistic interleaving: every ranker may put any result anywhere, its best ones most likely."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankloop.bounds import NonNegative, check_settings
from rankloop.interleaving.interleaving import Interleaved, Interleaving
from rankloop.types import IntArray


@dataclass(frozen=True)
class Probabilistic(Interleaving):
    r"""Probabilistic interleaving and multileaving with exact credit.

    Each ranker turns its list into a distribution over documents, $P_r(d) \propto 1/\text{rank}_r(d)^\tau$,
    renormalised as documents are taken. Each position is filled by a ranker drawn uniformly (with
    replacement), so the document follows the average of the distributions, and given the list
    $P(\text{owner} = r) = P_r(d) / \sum_{r'} P_{r'}(d)$, independently for each position.

    >>> lists = np.array([[0, 1], [1, 0]])
    >>> shown = Probabilistic().combine(lists, k=2, rng=np.random.default_rng(0))
    >>> shown.order.tolist(), shown.owners.round(3).tolist()
    ([1, 0], [[0.111, 0.5], [0.889, 0.5]])

    Hofmann, Whiteson, de Rijke: A probabilistic method for inferring preferences from clicks. CIKM 2011.
    Schuth et al.: Probabilistic multileave for online retrieval evaluation. SIGIR 2015.
    """

    tau: NonNegative = 3.0

    def __post_init__(self) -> None:
        check_settings(self)

    def combine(self, lists: IntArray, *, k: int, rng: np.random.Generator) -> Interleaved:
        """Fill position after position from the average of what the rankers would put there."""
        n_rankers, n_docs = lists.shape
        k = min(k, n_docs)
        weights = np.empty((n_rankers, n_docs))
        weights[np.arange(n_rankers)[:, None], lists] = np.arange(1.0, n_docs + 1) ** -self.tau
        order = np.empty(k, dtype=np.int64)
        owners = np.empty((k, n_rankers))
        for position, coin in enumerate(rng.random(k).tolist()):
            scale = 1.0 / weights.sum(axis=1)
            chances = (scale @ weights).cumsum()
            # `side=right` never lands on a taken document: its chance is 0, so the sum does not move there
            doc = order[position] = chances.searchsorted(coin * chances[-1], side="right")
            owners[position] = weights[:, doc] * scale
            weights[:, doc] = 0.0
        return Interleaved(order, (owners / owners.sum(axis=1, keepdims=True)).T)
