"""Figures on learning from grades of whole lists.

Chaudhuri: Learning to rank: online learning, statistical theory and applications. PhD thesis, University of
Michigan 2016, chapter 2.
"""

from __future__ import annotations

from collections.abc import Mapping

from rankloop.lab.suites.paper_items import Suite
from rankloop.lab.users import LabelJudge

GRADERS = {"labels(whole_query=True)": LabelJudge(whole_query=True)}  # all candidates are shown and graded
MEASURES = ("average nDCG@10", "answerable nDCG@10", "offline nDCG@10")
# a margin of 0.1 where documents deviate by 1 in each of 20 features, all divided by the root of 20
SEPARABLE = "separable(queries=20000, margin=0.02236, spread=0.3)"

SUITES: Mapping[str, Suite] = {
    "explicit/fig2.1": Suite(
        title="Do perceptrons stop making mistakes where a ranker without mistakes exists?",
        about=MEASURES[:1],
        paper="The average nDCG@10 of both perceptrons rapidly goes to 1, with no visible difference; that "
        "of ListNet goes there more slowly.",
        policies=(
            "Slam(learning_rate=1.0)",
            "minimax",
            "listnet",
            "ListNet(step_size=InverseRoot(first=10.0))",
            "random",
        ),
        users=GRADERS,
        measures=MEASURES,
        data=(SEPARABLE,),
        rounds=20_000,
        quick=1000,
        k=20,
    ),
    "explicit/fig2.2": Suite(
        title="How good are perceptrons on data that no linear ranker can separate?",
        about=MEASURES[:2],
        paper="SLAM is about as good as ListNet (.25 and .22 on MSLR-WEB10K, .75 and .74 on Yahoo, the same "
        "on Yandex); the minimax perceptron is much worse on Yahoo and Yandex.",
        policies=(
            "slam",
            "Slam(averaged=True)",
            "minimax",
            "Minimax(averaged=True)",
            "ListNet(step_size=InverseRoot(first=0.01))",
            "listnet",
            "random",
        ),
        users=GRADERS,
        measures=MEASURES,
        rounds=10_000,
        quick=500,
    ),
}
