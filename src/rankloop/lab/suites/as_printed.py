"""Policies as the papers print them, for the figures to show beside our defaults.

They are the papers' settings by name. The papers tune λ and α on validation queries, from 0.1 to 0.0001, and
say of no figure which it has. For linear rankers both are 0.1 here: with it the blocks of PairRank shrink as
the paper shows. Networks are small, since training them anew in every round takes long.
"""

from __future__ import annotations

PAIRRANK = "pairrank@paper(regularisation=0.1, certainty=Width(alpha=0.1))"
RANDOM_PAIRRANK = f"{PAIRRANK[:-1]}, exploration='random')"
DIAGONAL_PAIRRANK = "pairrank@paper(regularisation=0.1, certainty=Width(alpha=0.1, diagonal=True))"

SMALL = "scorer=MLP((16, 16))"
SMALL_PAPER = "scorer=MLP((16, 16), scale=1.0)"


def pepairrank(rankers: int, variance: float) -> str:
    """PePairRank with so many rankers and so much noise.

    >>> pepairrank(2, 0.1)
    'pepairrank@paper(regularisation=0.1, rankers=2, variance=0.1)'
    """
    return f"pepairrank@paper(regularisation=0.1, rankers={rankers}, variance={variance})"


def algorithm_2(rankers: int, variance: float) -> str:
    """P²NeurRank by Algorithm 2: networks trained anew in every round on freshly perturbed pairs.

    >>> algorithm_2(2, 0.1)
    'p2neurrank@paper(scorer=MLP((16, 16), scale=1.0), rankers=2, variance=0.1)'
    """
    return f"p2neurrank@paper({SMALL_PAPER}, rankers={rankers}, variance={variance})"
