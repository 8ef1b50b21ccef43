"""Suites: experiments by id, each of which answers one question, on any data."""

from collections.abc import Mapping

from rankloop.experiments.suites import (
    ads,
    classic,
    dsp,
    explicit,
    fair,
    neural,
    pair_theory,
    pairrank,
    pepairrank,
    recommend,
    running_time,
    safe,
    theory,
    topk,
    worth,
)
from rankloop.experiments.suites.base import (
    ComputedTable,
    PaperTable,
    Picture,
    SetsTable,
    Suite,
    preset_users,
)

SUITES: Mapping[str, Suite] = {
    **classic.SUITES,
    **pairrank.SUITES,
    **pepairrank.SUITES,
    **neural.SUITES,
    **dsp.SUITES,
    **explicit.SUITES,
    **topk.SUITES,
    **ads.SUITES,
    **fair.SUITES,
    **safe.SUITES,
}

PICTURES: Mapping[str, Picture] = {**neural.PICTURES}

TABLES: Mapping[str, ComputedTable] = {
    **topk.TABLES,
    **theory.TABLES,
    **pair_theory.TABLES,
    **fair.TABLES,
    **ads.TABLES,
    **recommend.TABLES,
    **running_time.TABLES,
    **worth.TABLES,
}

__all__ = [
    "PICTURES",
    "SUITES",
    "TABLES",
    "ComputedTable",
    "PaperTable",
    "Picture",
    "SetsTable",
    "Suite",
    "preset_users",
]
