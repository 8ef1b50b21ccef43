"""Measures by name, for results that come without a table of theirs."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from rankloop.errors import SettingError
from rankloop.lab.simulation.learning_probes import TEACHERS
from rankloop.lab.simulation.measures import Measure, Measures, read_measure
from rankloop.lab.simulation.probes import PROBES, make_probe

NONE: Mapping[str, Measure] = {}


def find_measure(name: str, measures: Measures = NONE) -> Measure:
    """Find the measure of that name: a given one, one of the loop's, one of a probe's as it comes.

    Of any other nothing is known; it is taken for one of which more is better.

    >>> [find_measure(name).direction for name in ("offline nDCG@10", "pairwise regret", "blocks", "my own")]
    ['higher', 'lower', None, 'higher']
    """
    if found := measures.get(name) or _of_probes().get(name):
        return found
    try:
        return read_measure(name)
    except SettingError:
        return Measure(name, direction="higher")


@cache
def _of_probes() -> Measures:
    usual = [kind() for kind in PROBES.values()]
    taught = [make_probe("cosine", teacher=teacher) for teacher in TEACHERS]
    return {name: measure for each in (*usual, *taught) for name, measure in each.measures.items()}
