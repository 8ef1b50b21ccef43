"""The figures of the PairRank paper, and those of the thesis that are the same.

Jia, Wang, Guo, Wang: PairRank: online pairwise learning to rank by divide-and-conquer. WWW 2021 (`fig3` to
`fig7`). Jia: Toward reliable decision-making in information systems. PhD thesis, University of Virginia 2022
(`fig2.6` and `fig2.7`).
"""

from __future__ import annotations

from collections.abc import Mapping

from rankloop.lab.simulation.probes import make_probe
from rankloop.lab.suites.as_printed import PAIRRANK, RANDOM_PAIRRANK
from rankloop.lab.suites.classic import BASELINES
from rankloop.lab.suites.paper_items import Suite, preset_users

PAPERS = (PAIRRANK, RANDOM_PAIRRANK)  # criterion, λ, pairs and update as printed
PAIRRANKS = (
    "pairrank",
    "PairRank(exploration='random')",
    "PairRank(certainty=Width(alpha=0.1))",  # the paper's criterion with our prior
    "PairRank(certainty=Width())",
    *PAPERS,
)
RIVALS = (  # with all the widths that the paper tries, against every baseline of the paper
    *PAIRRANKS,
    "PairRank(certainty=Width(alpha=0.001))",
    "PairRank(certainty=Width(alpha=0.0001))",
    "PairRank(exploration='random', certainty=Width())",
    *BASELINES,
)
LINEAR = ("pairrank", "PairRank(exploration='random')", *PAPERS, "pepairrank", *BASELINES)
CERTAIN = (*PAIRRANKS, "pepairrank")  # those that know certain orders
OFFLINE = "OfflineRankNet(scorer=Linear(), learning_rate=0.01)"  # taught by the labels, a line of Figure 3

USERS = preset_users("click")
SMOOTH = 25  # checkpoints: with 5000 rounds, means over 200 of them, as in the paper

BLOCK_SIZES = Suite(
    title="How many documents may still be shown at ranks 1, 5 and 10?",
    about=("block size at rank 1", "block size at rank 5", "block size at rank 10"),
    paper="After some hundred rounds the blocks at the top hold one document; those at rank 10 shrink "
    "more slowly, and all more slowly under navigational users, who click least.",
    policies=PAIRRANKS,
    users=USERS,
    probes={"block-size(every=1)": make_probe("block-size", every=1)},
    checkpoints=SMOOTH,
)
BLOCKS_OF_LISTS = Suite(
    title="Where in the list is the order still open, and into how many blocks does it fall?",
    about=("block size by position", "blocks"),
    paper="Blocks are small at the top and at the bottom and large in the middle, at all times (7a, for "
    "informational users). The number of blocks grows, slowest under navigational users (7b).",
    policies=("pairrank", PAIRRANK),
    users=USERS,
    probes={
        "blocks(every=1)": make_probe("blocks", every=1),
        "block-size-by-position": make_probe("block-size-by-position"),
    },
    checkpoints=SMOOTH,
)

SUITES: Mapping[str, Suite] = {
    "pairrank/fig3": Suite(
        title="Does PairRank learn a better ranking than the others, and sooner?",
        about=("offline nDCG@10",),
        paper="PairRank is ahead of all baselines under all users, a little further with conservative than "
        "with random exploration; then PDGD and RankNet, close to each other; DBGD, MGD and "
        "epsilon-greedy are last.",
        policies=(*RIVALS, OFFLINE),
        users=USERS,
    ),
    "pairrank/fig4": Suite(
        title="What do users see while PairRank learns, compared with the others?",
        about=("cumulative nDCG@10",),
        paper="PairRank gives users most, and more with conservative exploration; RankNet gives more than "
        "PDGD, above all under navigational and informational users; epsilon-greedy pays for its "
        "exploration.",
        policies=(*RIVALS, OFFLINE),
        users=USERS,
    ),
    "pairrank/fig5": Suite(
        title="How close do the learned weights come to those that the true labels teach?",
        about=("cosine to offline RankNet",),
        paper="All pairwise policies come closer with every round, PairRank fastest and closest, RankNet "
        "faster than PDGD; DBGD and MGD stay far away.",
        policies=LINEAR,
        users=USERS,
        probes={"cosine": make_probe("cosine")},
    ),
    "pairrank/fig6": BLOCK_SIZES,
    "pairrank/fig2.6": BLOCK_SIZES,
    "pairrank/fig7": BLOCKS_OF_LISTS,
    "pairrank/fig2.7": BLOCKS_OF_LISTS,
    "pairrank/certain": Suite(
        title="How much of the top 10 is settled?",
        about=("certain pairs in the top 10",),
        paper="Figure 6 of the paper on neural rankers: the share of certain orders among the top 10 soon "
        "reaches a high level, slowest under navigational users.",
        policies=CERTAIN,
        users=USERS,
        probes={"certain(every=1)": make_probe("certain", every=1)},
        checkpoints=SMOOTH,
    ),
    "pairrank/regret": Suite(
        title="How far is the regret from its bounds?",
        about=(
            "pairwise regret",
            "bound on pairwise regret",
            "bound on pairwise regret by block",
            "uncertain pairs",
        ),
        paper="No figure: Equation 2 bounds the regret of a round by N(N+1)/2, summed over blocks with N "
        "uncertain pairs each, and by that of all together; Theorem 1 says that regret grows as the fourth "
        "power of the logarithm of the rounds.",
        policies=CERTAIN,
        users=USERS,
        probes={
            "regret-bound": make_probe("regret-bound"),
            "uncertain(every=1)": make_probe("uncertain", every=1),
        },
    ),
}
