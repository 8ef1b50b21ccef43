"""Suites: experiments by id, each of which answers one question, on any data."""

from collections.abc import Mapping

from rankloop.lab.suites import (
    ads,
    classic,
    dsp,
    explicit,
    fair,
    neural,
    pairrank,
    pepairrank,
    recommend,
    safe,
    topk,
)
from rankloop.lab.suites import (
    dataset_tables as theory,
)
from rankloop.lab.suites import (
    exploration_bounds_table as pair_theory,
)
from rankloop.lab.suites import (
    running_times as running_time,
)
from rankloop.lab.suites import (
    trial_calibration as worth,
)
from rankloop.lab.suites.paper_items import (
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
