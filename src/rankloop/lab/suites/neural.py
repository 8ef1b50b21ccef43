"""The figures of the papers on neural rankers.

Jia, Wang: Learning neural ranking models online from implicit user feedback. WWW 2022 (`neural/...`).
Jia: Toward reliable decision-making in information systems. PhD thesis, University of Virginia 2022
(`p2neurrank/...`, and `neural/fig2.3` to `fig2.5`).
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

from rankloop.lab.analysis.linear_view import draw_linear_view
from rankloop.lab.simulation.probes import make_probe
from rankloop.lab.suites.as_printed import SMALL, SMALL_PAPER, algorithm_2
from rankloop.lab.suites.paper_items import Picture, Suite, preset_users

FEW_NETWORKS = f"{SMALL}, networks=0, variance=0.1"
EXACT = "training=Exact(20)"
MUCH = "training=ReplayMemory(63, repeats=1000, steps=10), learning_rate=5e-4"

UNCERTAIN = (  # networks that explore only the pairs whose order is uncertain
    "p2neurrank",
    "ollambdarank",
    "OlLambdaRank(covariance=Diagonal())",
    "olranknet",
    "OlRankNet(covariance=Diagonal())",
)
RIVALS = (  # they, the baselines of the papers with a network, and the same with linear scores
    *UNCERTAIN,
    "PDGD(scorer=MLP(), learning_rate=0.003)",
    "EpsilonGreedy(scorer=MLP(), learning_rate=0.0003)",
    "DBGD(scorer=MLP())",
    "pairrank",
    "PairRank(prior=0.2)",
    "pdgd",
    "dbgd",
)

# by what was learned, the best first, each against the next; put together from several figures
JOINT_ORDER = (
    "p2neurrank",
    "OlLambdaRank(covariance=Diagonal())",
    "OlRankNet(covariance=Diagonal())",
    "pairrank",
    "pdgd",
    "dbgd",
)
NEW_WORLDS = "nonlinear(seed=(3, 4, 5, 6, 7, 8, 9, 10, 11, 12))"  # no setting was ever chosen on them


SKYLINES = ("offline-ranknet", "offline-lambdarank", "ollambdarank-gt")  # taught by the labels
COVARIANCES = (  # two sizes of network, and all ways to know what is uncertain
    "p2neurrank",
    "olranknet",
    "OlRankNet(covariance=Diagonal())",
    f"P2NeurRank({SMALL})",
    f"OlRankNet({SMALL})",
    f"OlRankNet({SMALL}, covariance=Full())",
    f"OlRankNet({SMALL}, covariance=Diagonal())",
)
# small networks that learn anew from everything in every round, as in the papers, or go on learning from
# everything, much, or little; the last two are held against the one before them
SCHEDULES: Mapping[str, tuple[str, ...]] = {
    algorithm_2(2, 0.1): (),
    f"olranknet@paper({SMALL_PAPER})": (),
    f"P2NeurRank({FEW_NETWORKS}, {EXACT})": (f"P2NeurRank({FEW_NETWORKS}, {MUCH})", f"P2NeurRank({SMALL})"),
    f"OlRankNet({SMALL}, {EXACT})": (f"OlRankNet({SMALL}, {MUCH})", f"OlRankNet({SMALL})"),
}


def ensembles(variance: float) -> tuple[str, ...]:
    """Few and many rankers with noise of one size: ours, and by Algorithm 2 of the thesis."""
    ours = (f"P2NeurRank(rankers={n}, variance={variance})" for n in (1, 2, 5, 10))
    return (*ours, *(algorithm_2(n, variance) for n in (1, 2, 5, 10)))


USERS = preset_users("click")
PERFECT = {"perfect": USERS["perfect"]}

LINEAR_VIEW = Picture(
    title="Could a linear ranker tell the grades apart?",
    paper="In the plane that separates the grades of MSLR-WEB10K and Yahoo best, they lie on top of each "
    "other: a linear model does not suffice.",
    draw=draw_linear_view,
)
PICTURES: Mapping[str, Picture] = {"neural/fig3": LINEAR_VIEW, "neural/fig2.3": LINEAR_VIEW}

LEARNED = Suite(
    title="Do networks learn a better ranking from clicks than linear rankers?",
    about=("offline nDCG@10",),
    paper="olRankNet and olLambdaRank start worse than PairRank and end a little ahead of it, "
    "olLambdaRank further, under all users; PDGD follows, and DBGD, linear or with a network, is last.",
    policies=(*RIVALS, *SKYLINES),
    users=USERS,
    against=dict(pairwise(JOINT_ORDER)),
)
SEEN = Suite(
    title="What do users see while networks learn?",
    about=("cumulative nDCG@10",),
    paper="olRankNet and olLambdaRank are ahead of all baselines, olLambdaRank by little; PDGD gives "
    "users less, above all with a network and under navigational and informational users; DBGD is last.",
    policies=(*RIVALS, *SKYLINES),
    users=USERS,
)

SUITES: Mapping[str, Suite] = {
    "neural/fig4": LEARNED,
    "neural/fig2.4": LEARNED,
    "neural/order": Suite(
        title="Does the order that the papers' figures amount to hold from one world to the next?",
        about=("offline nDCG@10",),
        paper="No figure has them all. By what was learned, one has olLambdaRank, olRankNet (both with the "
        "diagonal of their matrix), PairRank, PDGD, DBGD; another puts P²NeurRank above olRankNet. None "
        "compares P²NeurRank with olLambdaRank.",
        policies=JOINT_ORDER,
        users=USERS,
        against=dict(pairwise(JOINT_ORDER)),
        data=(NEW_WORLDS,),
        seeds=1,
    ),
    "neural/fig5": SEEN,
    "neural/fig2.5": SEEN,
    "neural/fig6": Suite(
        title="How much of the top 10 is settled?",
        about=("certain pairs in the top 10",),
        paper="The share of certain orders among the top 10 soon reaches a high level, slowest under "
        "navigational users.",
        policies=UNCERTAIN,
        users=USERS,
        probes={"certain(every=1)": make_probe("certain", every=1)},
        checkpoints=25,
    ),
    "neural/training": Suite(
        title="What does it cost to learn from a memory instead of from everything?",
        about=("offline nDCG@10", "cumulative nDCG@10"),
        paper="No figure: the paper trains on the whole history in every round and leaves cheaper ways open.",
        policies=[each for exact, others in SCHEDULES.items() for each in (exact, *others)],
        users=PERFECT,
        against={each: exact for exact, others in SCHEDULES.items() for each in others},
        rounds=1000,
        seeds=3,
    ),
    "p2neurrank/fig2.10": Suite(
        title="Can networks that disagree replace confidence widths?",
        about=("offline nDCG@10", "cumulative nDCG@10"),
        paper="P²NeurRank is ahead of olRankNet with the diagonal of its matrix, and both are far ahead of "
        "epsilon-greedy, DBGD, MGD and PDGD with networks; two rankers are enough.",
        policies=(*RIVALS, "P2NeurRank(rankers=5)", "MGD(scorer=MLP())"),
        users=USERS,
        against=dict(pairwise(JOINT_ORDER)),
    ),
    "p2neurrank/fig2.11": Suite(
        title="What does it cost to know only the diagonal of the matrix?",
        about=("offline nDCG@10",),
        paper="On MSLR-WEB10K with 16 x 16 units .4195 with the full matrix, .4073 with its diagonal and "
        ".4189 for P²NeurRank; with 100 x 100 units .4201 with the diagonal and .4318 for P²NeurRank.",
        policies=COVARIANCES,
        users=PERFECT,
    ),
    "p2neurrank/fig2.12": Suite(
        title="How many rankers are needed with much noise?",
        about=("offline nDCG@10", "cumulative nDCG@10"),
        paper="With a variance of 0.1, two rankers are better than five or ten.",
        policies=ensembles(0.1),
        users=USERS,
        rounds=1000,
        seeds=3,
    ),
    "p2neurrank/fig2.13": Suite(
        title="How many rankers are needed with little noise?",
        about=("offline nDCG@10", "cumulative nDCG@10"),
        paper="With a variance of 0.01, ten rankers are better than fewer.",
        policies=ensembles(0.01),
        users=USERS,
        rounds=1000,
        seeds=3,
    ),
}
