"""A small shop with its recommender, and newcomers whose taste nobody knows but they."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from rankloop.lab.data.review_data import AccessoryShop
from rankloop.lab.recommenders import BPRMF, FMF
from rankloop.recommend import (
    IALS,
    MTER,
    Catalogue,
    EvidenceALS,
    FacT,
    FittedRecommender,
    MostPopular,
    Recommender,
)
from rankloop.types import FloatArray

REVIEWS = AccessoryShop(users=300, items=120).reviews()
CATALOGUE = Catalogue.of(REVIEWS)
ROWS = {name: row for row, name in enumerate(CATALOGUE.items)}
PHONES = ("alpa", "borea", "cirro", "dune")
KINDS: dict[str, Recommender] = {
    "fact": FacT(d=16, depth=4, min_leaf=10),
    "rules": FacT(d=8, depth=3, min_leaf=10, leaf_weight=float("inf")),
    "fmf": FMF(d=8, depth=3, min_leaf=10),
    "ials": IALS(d=8),
    "evidence-als": EvidenceALS(d=8),
    "most-popular": MostPopular(),
    "bprmf": BPRMF(d=4, epochs=1),
    "mter": MTER(dims=(4, 4, 3, 3), iterations=5),
}


@cache
def fitted(name: str, seed: int = 0) -> Recommender:
    return KINDS[name].fit(REVIEWS, np.random.default_rng(seed))


def saved(name: str = "fact", seed: int = 0) -> FittedRecommender:
    return FittedRecommender(fitted(name, seed), CATALOGUE, digest=f"digest of {name} {seed}")


@dataclass(frozen=True)
class Newcomer:
    """Owns a phone and cares for some features: that much of each item's praise is what they like of it."""

    phone: str
    features: tuple[str, ...]

    def liking(self) -> FloatArray:
        """How much they like each item."""
        good, bad = CATALOGUE.good.toarray(), CATALOGUE.bad.toarray()
        praise = (good + 1) / (good + bad + 2)
        fits = CATALOGUE.attributes.toarray()[:, CATALOGUE.tokens.index(self.phone)] > 0
        cared = [CATALOGUE.features.index(name) for name in self.features]
        return np.asarray(fits + praise[:, cared].sum(axis=1))

    def answer(self, question: str) -> str:
        """What they say in an interview."""
        kind, name = question.split(":", 1)
        if kind == "feature":
            return "much" if name in self.features else "little"
        return ("much" if name == self.phone else "little") if name in PHONES else "skip"


NEWCOMERS = (
    Newcomer("alpa", ("fit", "button")),
    Newcomer("borea", ("sound", "price")),
    Newcomer("cirro", ("battery", "weight")),
    Newcomer("dune", ("screen", "colour")),
)
