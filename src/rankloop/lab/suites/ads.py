"""Tables and figures on one ad for a visitor under sparse clicks.

Chaudhuri: Learning to rank: online learning, statistical theory and applications. PhD thesis, University of
Michigan 2016, chapter 5.
"""

from __future__ import annotations

from collections.abc import Mapping

from rankloop.lab.suites.ad_tables import fig_5_1, fig_5_2, table_5_1
from rankloop.lab.suites.paper_items import ComputedTable, SetsTable, Suite
from rankloop.lab.users import AdUser

SETS = ("optdigits", "isolet", "letter", "pendigits", "movement_libras")
UCI = ",".join(SETS)
REGRET, CLICKS = "pairwise regret", "online Precision@1"

SUITES: Mapping[str, Suite] = {
    "ads/online": Suite(
        title="Which policy for one ad learns fastest, and what does learning cost?",
        about=(REGRET, CLICKS),
        paper="No figure: the document trains from logs only. Of a list of one ad the pairwise regret is the "
        "number of visitors who did not see theirs.",
        policies=(
            "linucb",
            "thompson-logistic",
            "squarecb",
            "auc-ranker",
            "AUCRanker(threshold=Platt())",
            "ad-logistic",
            "AdForest(trees=50)",
            "random",
        ),
        users={"ads": AdUser()},
        measures=(REGRET, CLICKS),
        data=("optdigits", "letter"),
        rounds=10_000,
        quick=500,
        k=1,
        checkpoints=25,
    ),
}

TABLES: Mapping[str, ComputedTable] = {
    "ads/table5.1": SetsTable(
        title="How large are the sets, and how rare are clicks in them?",
        paper="OptDigits 5620 rows, 64 features, 10 classes; Isolet 7797, 617, 26; Letter 20000, 16, 26; "
        "PenDigits 10992, 16, 10; Movement-Libras 360, 91 (it has 90), 15; 10, 4, 4, 10 and 7 % positive.",
        over=table_5_1,
        data=UCI,
    ),
    "ads/fig5.1": SetsTable(
        title="Which policy, trained once from uniformly drawn ads, shows the right ad most often?",
        paper="a) Undersampling improves classifiers significantly and leaves rankers as they are; b) the "
        "linear ranker is uniformly better than the linear classifier; c) without undersampling it is better "
        "than the random forest, with undersampling competitive.",
        over=fig_5_1,
        notes=(
            "share of test rows whose class is the best ad, mean and standard deviation over repeats (other "
            "splits, other draws); λ of 0.01, 0.1, 1, 10: the best on test, as in the document, and chosen "
            "in each repeat by the importance-weighted click rate of a fifth of the log.",
        ),
        data=UCI,
    ),
    "ads/fig5.2": SetsTable(
        title="Which policy that explores gets most clicks when almost nobody clicks?",
        paper="On logs of banks and a hotel that cannot be had: the ranker has the highest importance-"
        "weighted click rate, by 15 to 25 % over the forest where clicks are very rare. Here in kind, on a "
        "simulated log.",
        over=fig_5_2,
        notes=(
            "visitors drawn with replacement, 4 % click on a match and 0.05 % otherwise, ads drawn "
            "uniformly; every policy shows the best with probability 0.8. True: what the simulation gives "
            "on average.",
        ),
        data="pendigits",
    ),
}
