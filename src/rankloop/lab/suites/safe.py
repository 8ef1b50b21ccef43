"""Suites on safety: what the first visitors see, and how often a run ends far below the others."""

from __future__ import annotations

from collections.abc import Mapping

from rankloop.lab.suites.paper_items import Suite, preset_users
from rankloop.lab.users import PresetUser

SUITES: Mapping[str, Suite] = {
    "safe/start": Suite(
        title="What is it worth to start from the order that is there?",
        about=("first nDCG@10", "cumulative nDCG@10", "offline nDCG@10"),
        paper="No figure: a decent order should save the first lists, and a reversed one be found out.",
        policies=("PairRank(caller_order='decent')", "pairrank"),
        users=preset_users("click"),
        measures=("first nDCG@10", "cumulative nDCG@10", "offline nDCG@10"),
        data=("nonlinear", "nonlinear(caller_order='decent')", "nonlinear(caller_order='reversed')"),
        rounds=2000,
        checkpoints=8,
    ),
    "safe/lock-in": Suite(
        title="How many runs end far below the others?",
        about=("offline nDCG@10", "first nDCG@10", "cumulative nDCG@10"),
        paper="No figure: of runs under informational users 5 to 10 % end stuck, decided in the first lists. "
        "A run is low if it ends more than an eighth below the best policy's median of its world.",
        policies=(
            "pairrank",
            "PairRank(caller_order='decent')",
            "PairRank(caller_order='unknown')",
            "race",
            "Race(caller_order='decent')",
        ),
        users={"informational": PresetUser("informational")},
        measures=("first nDCG@10", "cumulative nDCG@10", "offline nDCG@10"),
        data=("nonlinear(seed=(0, 1, 2, 3, 4, 5, 6, 7, 8, 9), caller_order='decent')",),
        rounds=2000,
        seeds=10,
        checkpoints=2,
    ),
}
