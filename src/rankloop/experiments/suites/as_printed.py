"""Policies as the papers print them, for the figures to show beside our defaults.

The papers tune λ and α on validation queries, from 0.1 to 0.0001, and say of no figure which it has. Here
both are 0.1: with it the blocks of PairRank shrink as the paper shows.
"""

from __future__ import annotations

PAIRS = "pairing=adjacent,update=exact,regularisation=0.1"
PAIRRANK = f"pairrank:{PAIRS},certainty=width(0.1)"
RANDOM_PAIRRANK = f"pairrank:{PAIRS},certainty=width(0.1),exploration=random"
DIAGONAL_PAIRRANK = f"pairrank:{PAIRS},certainty=diagonal(0.1)"

SMALL = "scorer=mlp((16,16))"
RESTART = "pairing=adjacent,training=exact(20,restart=True),learning_rate=0.01,regularisation=1"


def pepairrank(rankers: int, variance: float) -> str:
    """PePairRank with exact updates, adjacent pairs and the papers' λ.

    >>> pepairrank(2, 0.1)
    'pepairrank:pairing=adjacent,update=exact,regularisation=0.1,rankers=2,variance=0.1'
    """
    return f"pepairrank:{PAIRS},rankers={rankers},variance={variance}"


def algorithm_2(rankers: int, variance: float) -> str:
    """P²NeurRank by Algorithm 2: small networks, each trained anew in every round on freshly perturbed pairs.

    >>> algorithm_2(2, 0.1).partition(":")[0]
    'p2neurrank'
    """
    return f"p2neurrank:{SMALL},{RESTART},rankers={rankers},variance={variance}"
