"""The figures of PePairRank, as far as they are about linear rankers.

Jia: Toward reliable decision-making in information systems. PhD thesis, University of Virginia 2022.
"""

from __future__ import annotations

from collections.abc import Mapping

from rankloop.experiments.suites.base import Suite, preset_users
from rankloop.policies import DBGD, PDGD, EpsilonGreedy, PairRank, PePairRank, Policy


def linear() -> dict[str, Policy]:
    """Few or several rankers with more or less noise, and what they are compared with."""
    return {
        "pepairrank": PePairRank(),
        "pepairrank:rankers=5": PePairRank(rankers=5),
        "pepairrank:variance=0.01": PePairRank(variance=0.01),
        "pepairrank:rankers=5,variance=0.01": PePairRank(rankers=5, variance=0.01),
        "pairrank": PairRank(),
        "pdgd": PDGD(),
        "dbgd": DBGD(),
        "epsilon-greedy": EpsilonGreedy(),
    }


SUITES: Mapping[str, Suite] = {
    "pepairrank/fig2.9": Suite(
        title="Can rankers that disagree replace confidence widths?",
        about=("offline nDCG@10", "cumulative nDCG@10"),
        paper="PePairRank learns as well as PairRank and sooner, and both are far ahead of PDGD, DBGD and "
        "epsilon-greedy, offline and online; two rankers are enough, five are not better.",
        policies=linear,
        users=preset_users("click"),
    ),
}
