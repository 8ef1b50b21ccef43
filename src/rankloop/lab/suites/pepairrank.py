"""The figures of PePairRank, as far as they are about linear rankers.

Jia: Toward reliable decision-making in information systems. PhD thesis, University of Virginia 2022.
"""

from __future__ import annotations

from collections.abc import Mapping

from rankloop.lab.suites.as_printed import DIAGONAL_PAIRRANK, PAIRRANK, pepairrank
from rankloop.lab.suites.paper_items import Suite, preset_users

LINEAR = (  # few or several rankers with more or less noise, and what they are compared with
    "pepairrank",
    "PePairRank(rankers=5)",
    "PePairRank(variance=0.01)",
    "PePairRank(rankers=5, variance=0.01)",
    "pairrank",
    "PairRank(certainty=Width(alpha=0.1))",
    "PairRank(certainty=Width(alpha=0.1, diagonal=True))",
    *(pepairrank(rankers, 0.1) for rankers in (2, 5)),  # these four as printed
    PAIRRANK,
    DIAGONAL_PAIRRANK,
    "pdgd",
    "dbgd",
    "epsilon-greedy",
)

SUITES: Mapping[str, Suite] = {
    "pepairrank/fig2.9": Suite(
        title="Can rankers that disagree replace confidence widths?",
        about=("offline nDCG@10", "cumulative nDCG@10"),
        paper="PePairRank learns as well as PairRank and sooner, and both are far ahead of PDGD, DBGD and "
        "epsilon-greedy, offline and online; two rankers are enough, five are not better. With the diagonal "
        "of its matrix only, PairRank loses much, above all online.",
        policies=LINEAR,
        users=preset_users("click"),
    ),
}
