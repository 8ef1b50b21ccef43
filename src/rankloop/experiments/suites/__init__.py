"""Experiments by name: each answers one question, on any data."""

from collections.abc import Mapping

from rankloop.experiments.suites import classic, dsp, neural, pairrank, pepairrank
from rankloop.experiments.suites.base import Suite, preset_users

SUITES: Mapping[str, Suite] = {
    **classic.SUITES,
    **pairrank.SUITES,
    **pepairrank.SUITES,
    **neural.SUITES,
    **dsp.SUITES,
}

__all__ = ["SUITES", "Suite", "preset_users"]
