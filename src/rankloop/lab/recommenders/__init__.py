"""Published recommenders that only the lab fits: one file each, and the table of all names."""

from collections.abc import Mapping

from rankloop.lab.recommenders.bprmf import BPRMF
from rankloop.lab.recommenders.efm import EFM
from rankloop.lab.recommenders.fmf import FMF
from rankloop.lab.recommenders.jmars import JMARS
from rankloop.lab.recommenders.mter_s import MTERS
from rankloop.lab.recommenders.mter_sa import MTERSA
from rankloop.lab.recommenders.nmf import NMF
from rankloop.naming import read_name
from rankloop.recommend import SERVED_RECOMMENDERS, Recommender

LAB_RECOMMENDERS: Mapping[str, type[Recommender]] = {
    kind.__name__: kind for kind in (BPRMF, EFM, FMF, JMARS, MTERS, MTERSA, NMF)
}
RECOMMENDERS: Mapping[str, type[Recommender]] = {**SERVED_RECOMMENDERS, **LAB_RECOMMENDERS}
PRESETS: Mapping[str, str] = {  # names of other settings
    "MTER@cornac": (
        "MTER(cells=50, pairs=1000, pair_weight=10.0, regularisation=0.1, mean=False, scaled=False)"
    ),
    "MTER@engineered": "MTER(signed=True, pair_weight=1000.0, hardest=16)",
    "MTER@zeros": "MTER(zeros=1.0)",
}

__all__ = [
    "BPRMF",
    "EFM",
    "FMF",
    "JMARS",
    "LAB_RECOMMENDERS",
    "MTERS",
    "MTERSA",
    "NMF",
    "PRESETS",
    "RECOMMENDERS",
    "read_recommender",
]


def read_recommender(text: str) -> Recommender:
    """Make the recommender that a text names.

    >>> read_recommender("FacT(leaf_weight=0.3, depth=4)").depth
    4
    >>> read_recommender("MTER@zeros").zeros
    1.0
    """
    kinds: dict[str, type[Recommender] | str] = {**RECOMMENDERS, **PRESETS}
    return read_name(text, kinds, noun="recommender")
