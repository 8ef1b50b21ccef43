"""Suites: experiments by id, each of which answers one question, on any data."""

from collections.abc import Mapping

from rankloop.experiments.suites import classic, dsp, neural, pairrank, pepairrank
from rankloop.experiments.suites.base import Picture, Suite, preset_users

SUITES: Mapping[str, Suite] = {
    **classic.SUITES,
    **pairrank.SUITES,
    **pepairrank.SUITES,
    **neural.SUITES,
    **dsp.SUITES,
}

PICTURES: Mapping[str, Picture] = {**neural.PICTURES}

__all__ = ["PICTURES", "SUITES", "Picture", "Suite", "preset_users"]
