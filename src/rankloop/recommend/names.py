"""Recommenders by name: `fact`, `fact:rho=0.3`, `mter:preset=engineered`."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from pathlib import Path

from rankloop.errors import SettingError, suggest_name
from rankloop.recommend.bprmf import BPRMF
from rankloop.recommend.efm import EFM
from rankloop.recommend.evidence_als import EvidenceALS
from rankloop.recommend.fact import FacT
from rankloop.recommend.fmf import FMF
from rankloop.recommend.ials import IALS
from rankloop.recommend.jmars import JMARS
from rankloop.recommend.mter import MTER
from rankloop.recommend.mter_s import MTERS
from rankloop.recommend.mter_sa import MTERSA
from rankloop.recommend.nmf import NMF
from rankloop.recommend.popularity import MostPopular
from rankloop.recommend.recommender import Recommender
from rankloop.recommend.recommender_file import Saved
from rankloop.recommend.recommender_file import load as load_as
from rankloop.recommend.settings import check_settings

RECOMMENDERS: Mapping[str, type[Recommender]] = {
    kind.name: kind
    for kind in (MostPopular, IALS, EvidenceALS, FacT, BPRMF, MTER, MTERS, MTERSA, EFM, NMF, FMF, JMARS)
}


def load(path: str | Path) -> Saved:
    """Read a recommender that `save` wrote, of any kind that has a name."""
    return load_as(path, RECOMMENDERS)


def recommender(text: str) -> Recommender:
    """The recommender that a text stands for, with the settings after the colon.

    >>> recommender("fact:rho=0.3,depth=4").depth
    4
    >>> recommender("mter:preset=zeros").zeros
    1.0
    """
    name, _, rest = text.partition(":")
    if name not in RECOMMENDERS:
        raise SettingError(f"no recommender is called {name!r}: {suggest_name(name, RECOMMENDERS)}")
    kind = RECOMMENDERS[name]
    given = dict(_setting(part) for part in _split(rest))
    preset = given.pop("preset", None)
    check_settings(kind, given)
    if preset is None:
        return kind(**given)  # type: ignore[arg-type]  # settings are checked by the class
    if kind is not MTER:
        raise SettingError(f"only mter has presets, found one of {name}")
    return MTER.preset(str(preset), **given)


def _split(text: str) -> list[str]:
    """Parts at commas that are outside of parentheses."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter == "(") - (letter == ")")
        if letter == "," and not depth:
            parts.append("")
        else:
            parts[-1] += letter
    return [part for part in parts if part]


def _setting(text: str) -> tuple[str, object]:
    name, equals, value = text.partition("=")
    if not equals:
        raise SettingError(f"a setting is name=value, found {text!r}")
    if value in ("inf", "infinity", "nan"):
        return name, float(value)
    try:
        return name, ast.literal_eval(value)
    except (ValueError, SyntaxError):
        return name, value
