"""The figures and the table of chapter 3 of Jia's thesis, on fair exposure.

Jia: Toward reliable decision-making in information systems. PhD thesis, University of Virginia 2022.
"""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from rankloop.errors import DataError
from rankloop.lab.data import Dataset, FeatureGroups, load
from rankloop.lab.simulation.probes import make_probe
from rankloop.lab.suites.paper_items import PaperTable, Suite
from rankloop.lab.users import PresetUser
from rankloop.query_set import QuerySet

USERS = {"informational": PresetUser("informational")}  # those of the thesis: they click a lot
INLINKS = FeatureGroups(feature=128, threshold=0.0)
PAGERANK = FeatureGroups(feature=130, threshold=0.12)
HALVES = FeatureGroups(feature=41, threshold=0.4)  # PageRank of MQ2008: 47 % and 53 %
FEW = FeatureGroups(feature=42, threshold=0.0)  # inlinks of MQ2008: 94 % and 6 %
MIXED = FeatureGroups(feature=128, threshold=0.3)  # of the nonlinear world: 70 % and 30 %
BETTER = FeatureGroups(feature=130, threshold=0.5)  # half and half, the first of a higher grade
RARE = FeatureGroups(feature=130, threshold=0.1)  # 92 % and 8 %
SHORT = ("nonlinear(queries=300, min_documents=5, max_documents=20)",)
UNFAIRNESS, SEEN, LEARNED = "unfairness", "cumulative nDCG@10", "offline nDCG@10"


def fair(beta: float, *changes: str, of: str = "FairExpPairRank", tolerance: float = 0.1) -> str:
    """FairExp with a wanted ratio, as the thesis has it but for these changes.

    What differs stands first, to be seen in a legend.

    >>> fair(1.0, "ties='least'")
    "FairExpPairRank(ties='least', beta=1.0, tolerance=0.1, examination='measured')"
    """
    rules = (*changes, f"beta={beta}", f"tolerance={tolerance}", "examination='measured'")
    return f"{of}({', '.join(rules)})"


def control(beta: float) -> tuple[str, str]:
    """FairCo with its own target, and with the one that is measured.

    >>> control(1.0)[1]
    "FairCo(exposure='total', merit=(('A', 1.0), ('B', 1.0)), examination='measured')"
    """
    told = f"merit=(('A', {beta}), ('B', 1.0))"
    return "FairCo(examination='measured')", f"FairCo(exposure='total', {told}, examination='measured')"


def rivals(beta: float) -> tuple[str, ...]:
    """FairExp in its variants and all that it is compared with."""
    return (
        fair(beta),
        fair(beta, "ties='least'"),
        fair(beta, tolerance=10.0),
        fair(beta, of="FairSwapPairRank"),
        "pairrank",
        *control(beta),
        "IPS(examination='measured')",
        "pdgd",
        "random",
    )


def figure(
    title: str,
    paper: str,
    *more: str,
    beta: float,
    groups: FeatureGroups,
    own_groups: FeatureGroups,
    data: tuple[str, ...] = ("nonlinear",),
) -> Suite:
    """A figure of unfairness, of what users see and of what is learned."""
    return Suite(
        title=title,
        paper=paper,
        about=(UNFAIRNESS, SEEN, LEARNED),
        policies=(*rivals(beta), *more),
        users=USERS,
        probes={
            f"exposure(beta={beta})": make_probe("exposure", beta=beta),
            "violated": make_probe("violated"),
        },
        groups=groups,
        own_groups=own_groups,
        data=data,
    )


SUITES: Mapping[str, Suite] = {
    "fair/fig3.2": Suite(
        title="Does fair exposure also work for policies that learn every query by itself?",
        paper="On ten queries FairExp keeps TopRank and PairRank almost perfectly fair, FairCo is less fair "
        "than those without any control; TopRank gives users least, and FairExp downgrades it further (3.3, "
        "on Yahoo: the same).",
        about=(UNFAIRNESS, SEEN),
        policies=(
            "toprank",
            fair(1.0, of="FairExpTopRank"),
            fair(1.0, "learned_pairs='block'", of="FairExpTopRank"),
            "pairrank",
            fair(1.0),
            *control(1.0),
        ),
        users=USERS,
        probes={"exposure(beta=1.0)": make_probe("exposure", beta=1.0), "violated": make_probe("violated")},
        groups=INLINKS,
        own_groups=MIXED,
        train_queries=10,
        rounds=10_000,
        quick=300,
    ),
    "fair/fig3.4": figure(
        "What does it cost to give two groups of the same merit the same exposure?",
        "On MSLR-WEB10K by inlinks (β = 1), FairExp-PairRank stays fair, gives users less than PairRank and "
        "more than most others, and learns more slowly; FairCo is much less fair and gives users less.",
        beta=1.0,
        groups=INLINKS,
        own_groups=MIXED,
    ),
    "fair/fig3.5": figure(
        "What does it cost to give exposure in the ratio of merit?",
        "On MSLR-WEB10K by PageRank (β = 1.22), as by inlinks, but there is almost no impact on what is "
        "learned: PairRank's own lists are nearly fair.",
        beta=1.22,
        groups=PAGERANK,
        own_groups=BETTER,
    ),
    "fair/fig3.6": figure(
        "What if lists are short?",
        "On Yahoo by feature 9 (β = 1), unfairness grows even with FairExp: many queries have too few "
        "candidates of a group.",
        beta=0.799,
        groups=HALVES,
        own_groups=BETTER,
        data=SHORT,
    ),
    "fair/fig3.7": figure(
        "What if one group is small?",
        "On Yahoo by feature 471 (86 % and 14 %, β = 0.477), FairExp learns clearly less than PairRank.",
        "FairExpPairRank(shares='candidates', tolerance=0.1, examination='measured')",
        beta=1.0,
        groups=FEW,
        own_groups=RARE,
        data=SHORT,
    ),
    "fair/fig3.8": Suite(
        title="How many certain orders must a fair list turn round?",
        paper="Violations go on at a constant rate; how many there are depends on the groups.",
        about=("violated certain orders",),
        policies=rivals(1.0)[:4],
        users=USERS,
        probes={
            "violated(every=1)": make_probe("violated", every=1),
            "exposure(beta=1.0)": make_probe("exposure", beta=1.0),
        },
        groups=INLINKS,
        own_groups=MIXED,
        checkpoints=25,
    ),
}


def table_3_1(dataset: Dataset | None, quick: bool = False) -> Mapping[str, pl.DataFrame]:
    """How large the groups are, and their mean grade, for each way to divide the documents."""
    del quick
    assert dataset is not None, "this table is about data"
    ways = {
        "inlinks in MSLR": INLINKS,
        "PageRank in MSLR": PAGERANK,
        "PageRank in MQ2008": HALVES,
        "inlinks in MQ2008": FEW,
        "128 in the nonlinear world": MIXED,
        "130 in the nonlinear world": BETTER,
    }
    rows = []
    for name, groups in ways.items():
        try:
            train = load(dataset.name, groups=groups).train
        except DataError:  # no such feature
            continue
        rows.append({"groups": name, "feature": groups.feature, "threshold": groups.threshold, **_row(train)})
    return {"groups": pl.DataFrame(rows or [{"groups": "none: too few features"}])}


def _row(queries: QuerySet) -> dict[str, float]:
    frame = pl.DataFrame({"group": queries.groups, "grade": queries.relevance})
    found = {}
    for group in ("A", "B"):
        grades = frame.filter(pl.col("group") == group)["grade"]
        found[f"{group}, %"] = 100 * len(grades) / len(frame)
        found[f"{group}, utility"] = float(grades.sum()) / max(len(grades), 1)
    return found | {"beta": found["A, utility"] / found["B, utility"] if found["B, utility"] else 0.0}


TABLES: Mapping[str, PaperTable] = {
    "fair/table3.1": PaperTable(
        title="How large are the groups, and how good are their documents?",
        paper="MSLR-WEB10K by inlinks 64.85 % with .6665 and 35.15 % with .6776, by PageRank 50.57 % with "
        ".7302 and 49.43 % with .6093; Yahoo by feature 9 49.22 % with 1.2371 and 50.78 % with .5893, by "
        "feature 471 85.75 % with 1.2384 and 14.25 % with 1.2239.",
        make=table_3_1,
        notes=(
            "The βs of the figures are the ratios of the mean grades; those of Yahoo do not fit the table "
            "(2.1 and 1.0 for β = 1 and 0.477).",
        ),
        data="nonlinear",
    ),
}
