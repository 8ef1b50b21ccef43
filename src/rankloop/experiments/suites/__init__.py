"""Suites: experiments by id, each of which answers one question, on any data."""

from collections.abc import Mapping

from rankloop.experiments.suites import (
    classic,
    dsp,
    explicit,
    neural,
    pairrank,
    pepairrank,
    recommend,
    theory,
    topk,
)
from rankloop.experiments.suites.base import PaperTable, Picture, Suite, preset_users

SUITES: Mapping[str, Suite] = {
    **classic.SUITES,
    **pairrank.SUITES,
    **pepairrank.SUITES,
    **neural.SUITES,
    **dsp.SUITES,
    **explicit.SUITES,
    **topk.SUITES,
}

PICTURES: Mapping[str, Picture] = {**neural.PICTURES}

TABLES: Mapping[str, PaperTable] = {**topk.TABLES, **theory.TABLES, **recommend.TABLES}

__all__ = ["PICTURES", "SUITES", "TABLES", "PaperTable", "Picture", "Suite", "preset_users"]
