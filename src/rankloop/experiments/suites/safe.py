"""Suites on safety: what the first visitors see, and how often a run ends far below the others."""

from __future__ import annotations

from collections.abc import Mapping

from rankloop.experiments.suites.base import Suite, preset_users

SUITES: Mapping[str, Suite] = {
    "safe/start": Suite(
        title="What is it worth to start from the order that is there?",
        about=("first nDCG@10", "cumulative nDCG@10", "offline nDCG@10"),
        paper="No figure: a decent order should save the first lists, and a reversed one be found out.",
        policies=("pairrank:trust=decent", "pairrank"),
        users=preset_users("click"),
        measures=("first nDCG@10", "cumulative nDCG@10", "offline nDCG@10"),
        data=("synthetic:nonlinear", "synthetic:nonlinear@decent", "synthetic:nonlinear@reversed"),
        rounds=2000,
        checkpoints=8,
    ),
}
