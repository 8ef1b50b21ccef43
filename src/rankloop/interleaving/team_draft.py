"""Team draft: captains pick in turn."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankloop.interleaving.interleaving import Interleaved, Interleaving
from rankloop.types import IntArray


@dataclass(frozen=True)
class TeamDraft(Interleaving):
    """Team-draft interleaving and multileaving.

    In rounds, the rankers take turns in random order; each adds its best result that is not in the list
    yet and owns it. Results at the head on which all rankers agree are nobody's:
    a click there says nothing about who is better, and giving it to a random team only adds noise.

    >>> lists = np.array([[0, 1, 2], [0, 2, 1]])
    >>> shown = TeamDraft().combine(lists, k=3, rng=np.random.default_rng(0))
    >>> shown.order.tolist(), shown.owners.tolist()
    ([0, 2, 1], [[0.0, 0.0, 1.0], [0.0, 1.0, 0.0]])

    Radlinski, Kurup, Joachims: How does clickthrough data reflect retrieval quality? CIKM 2008.
    Schuth, Sietsma, Whiteson, Lefortier, de Rijke: Multileaved comparisons for fast online evaluation.
    CIKM 2014.
    """

    def combine(self, lists: IntArray, *, k: int, rng: np.random.Generator) -> Interleaved:
        """Let the teams pick until `k` results are in the list."""
        n_rankers, n_docs = lists.shape
        k = min(k, n_docs)
        wishes = lists[:, :k].tolist()  # at most k - 1 of a ranker's wishes can be taken before its turn
        agreed = _agreed_head(wishes)
        captains = rng.random((-(-k // n_rankers), n_rankers)).argsort(axis=1).ravel()[: k - agreed].tolist()
        order, owners = wishes[0][:agreed], np.zeros((n_rankers, k))
        taken, unread = set(order), [iter(each) for each in wishes]  # a wish that is taken stays so
        for position, captain in enumerate(captains, agreed):
            for pick in unread[captain]:
                if pick not in taken:
                    break
            taken.add(pick)
            order.append(pick)
            owners[captain, position] = 1.0
        return Interleaved(np.array(order), owners)


def _agreed_head(wishes: list[list[int]]) -> int:
    """How many results at the head are the same in every list."""
    for position, picks in enumerate(zip(*wishes, strict=True)):
        if picks.count(picks[0]) < len(picks):
            return position
    return len(wishes[0])
