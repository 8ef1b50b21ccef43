"""Figures and tables on learning from the grades of the first k results.

Chaudhuri: Learning to rank: online learning, statistical theory and applications. PhD thesis, University of
Michigan 2016, chapter 3 and appendix B.
"""

from __future__ import annotations

from collections.abc import Mapping

from rankloop.lab.suites.fixed_item_tables import table_3_1, table_b_1
from rankloop.lab.suites.paper_items import PaperTable, Suite
from rankloop.lab.users import LabelJudge, PresetUser

LISTS = 10_000
ITEMS = ("items(queries=10000)",)  # 20 items, 5 relevant, each grade flipped with probability 0.1
FIXED = {"labels": LabelJudge()}
CLICKS = {"perfect": PresetUser("perfect")}
REGRET, AVERAGE, ANSWERABLE = "regret DCG", "average nDCG@10", "answerable nDCG@10"


def blocks(count: int, *, top_k: int = 1) -> str:
    """The fixed-item policy with so many blocks, as the document draws it.

    >>> blocks(200)
    "RTopKItems(top_k=1, schedule=Planned(10000, 200), rest='random')"
    """
    return f"RTopKItems(top_k={top_k}, schedule=Planned({LISTS}, {count}), rest='random')"


FULL = f"RTopKItems(top_k=20, schedule=Planned({LISTS}, {LISTS}))"  # every list shows every grade
SCHEDULE = "step=DocumentSchedule()"
CONTEXTUAL = (  # top 1, and top 2 for pairs, by the document's schedule
    f"RTopK(loss=Squared(), {SCHEDULE}, top_k=1)",
    f"RTopK(loss=ObservedSquared(), {SCHEDULE}, top_k=1)",
    f"RTopK(loss=UnnormalisedKL(), {SCHEDULE}, top_k=1)",
    f"RTopK(loss=UnnormalisedKL(top_grade=4.0), {SCHEDULE}, top_k=1)",  # grades divided by 4
    f"RTopK(loss=SmoothDCG(), {SCHEDULE}, top_k=1)",
    "RTopK(loss=RankSVM(), step=DocumentSchedule(scale=1000.0), top_k=2)",
)
PAPERS_LISTNET = "ListNet(step_size=InverseRoot(first=0.01))"
ALL, WHOLE = "rtopk", "listnet"
TAUGHT = {
    "RTopK(top_k=2)": LabelJudge(top_k=2),
    "RTopK(top_k=5)": LabelJudge(top_k=5),
    ALL: LabelJudge(),
    WHOLE: LabelJudge(whole_query=True),
}
TUNED = {  # three settings each, the default among them, and as many for those who learn from clicks
    **{
        f"RTopK(step=AdaGrad({rate}), top_k={top_k})": LabelJudge(top_k=top_k)
        for top_k in (2, 5)
        for rate in (0.03, 0.1, 0.3)
    },
    **{f"ListNet(step_size=InverseRoot({first}))": LabelJudge(whole_query=True) for first in (0.3, 1.0, 3.0)},
}
TUNED_CLICKS = (
    *(f"PDGD(learning_rate={rate})" for rate in (0.1, 0.3, 1.0)),
    *(f"PairRank(prior={prior})" for prior in (0.2, 0.4, 0.8)),
)


def fixed_items(title: str, paper: str, *policies: str, users: Mapping[str, LabelJudge] = FIXED) -> Suite:
    """A suite on the document's world of fixed items, all of which are shown."""
    return Suite(
        title=title,
        about=(REGRET,),
        paper=paper,
        policies=policies,
        users=users,
        measures=(REGRET,),
        data=ITEMS,
        rounds=LISTS,
        quick=LISTS,  # a horizon cannot be cut short
        k=20,
    )


def contextual(title: str, paper: str) -> Suite:
    """A suite with features, by the document's losses and schedule."""
    return Suite(
        title=title,
        about=(AVERAGE, ANSWERABLE),
        paper=paper,
        policies=(*CONTEXTUAL, PAPERS_LISTNET, "random"),
        users={"labels(whole_query=True)": LabelJudge(whole_query=True)},
        measures=(AVERAGE, ANSWERABLE, "offline nDCG@10"),
        rounds=20_000,
        quick=500,
    )


SUITES: Mapping[str, Suite] = {
    "topk/fig3.1": fixed_items(
        "How long should a block be, of which every item is shown on top once?",
        "With 200 blocks regret drops fastest and becomes steady; with 10 it drops later, then sharply, and "
        "with 400 the policy explores most of the time and is much worse.",
        *(blocks(count) for count in (10, 50, 200, 400)),
    ),
    "topk/fig3.2": fixed_items(
        "What does it bring to see more grades of each list?",
        "With 200 blocks, regret is the smaller the more results are graded: 1, 5 or 10.",
        *(blocks(200, top_k=top_k) for top_k in (1, 5, 10)),
    ),
    "topk/fig3.3": fixed_items(
        "How far is a policy that sees one grade of each list from one that sees all?",
        "From 1000 lists on, following the perturbed leader with all grades has a much smaller regret.",
        blocks(200),
        FULL,
    ),
    "topk/peers": fixed_items(
        "Are there better ways to learn fixed items from a few grades?",
        "No figure: the document has no other policy to compare with.",
        *(f"RTopKItems(top_k={top_k})" for top_k in (1, 5, 10)),  # each for the user who grades so many
        "thompson-items",
        "ucb-items",
        users={f"labels(top_k={top_k})": LabelJudge(top_k=top_k) for top_k in (1, 5, 10)},
    ),
    "topk/fig3.4": contextual(
        "How good is a ranker that is taught by the top one or two grades of each list?",
        "On Yahoo, ListNet with all grades is ahead; RankSVM from the top 2 and KL from the top 1 are very "
        "close to it, squared error is behind them, SmoothDCG is poor, and all are above random lists.",
    ),
    "topk/fig3.5": contextual(
        "Does that hold on other data?",
        "On Yandex, as on Yahoo; here KL and squared error are about the same.",
    ),
    "topk/one-protocol": Suite(
        title="Are a few grades of each list worth more than clicks?",
        about=(AVERAGE, ANSWERABLE, "offline nDCG@10"),
        paper="No figure: the document compares with no policy that learns from clicks.",
        policies=("pairrank", "pdgd", "PDGD(learning_rate=0.3)", *TAUGHT, "random"),
        users=CLICKS,
        taught=TAUGHT,
        measures=(AVERAGE, ANSWERABLE, "offline nDCG@10"),
        data=("nonlinear(seed=(3, 4, 5, 6, 7))",),
        rounds=10_000,
        seeds=1,
    ),
    "topk/tuning": Suite(
        title="Which settings suit each policy of that comparison, on data that it is not measured on?",
        policies=(*TUNED, *TUNED_CLICKS),
        users=CLICKS,
        taught=TUNED,
        data=("nonlinear(seed=(100, 101, 102))",),
        rounds=10_000,
        quick=100,
        seeds=1,
    ),
}

TABLES: Mapping[str, PaperTable] = {
    "topk/table3.1": PaperTable(
        title="What do the orders of three items lose, and what does the top one show? (Tables 3.1 and 3.2)",
        paper="The loss matrix and the feedback matrix of SumLoss with the grade of the first result; these "
        "are they, entry by entry.",
        make=table_3_1,
    ),
    "topk/tableB.1": PaperTable(
        title="Which two worlds look alike from the top, and want different orders?",
        paper="Two distributions of grades with the same means, (.45, .45, .40), and different means of G/Z, "
        "(.3533, .3920, .3226) and (.3339, .3339, .4000): NDCG cannot be learned from the top grade.",
        make=table_b_1,
    ),
}
