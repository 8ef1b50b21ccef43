"""Seconds to fit recommenders on a made-up shop, and milliseconds of an iteration of MTER."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from statistics import median
from time import perf_counter

import numpy as np

from rankloop.lab.data.review_data import AccessoryShop
from rankloop.lab.recommenders import read_recommender
from rankloop.recommend import IALS, MTER, EvidenceALS, FacT, Recommender

CORNAC = replace(read_recommender("MTER@cornac"), iterations=200, validation_share=0.0)  # type: ignore[call-arg]
MODELS: Mapping[str, tuple[Recommender, int]] = {  # with the number of iterations that a time is divided by
    "ials": (IALS(), 1),
    "evidence-als": (EvidenceALS(), 1),
    "fact": (FacT(), 1),
    "mter, an iteration": (MTER(iterations=200, validation_share=0.0), 200),
    "mter as in cornac, an iteration": (CORNAC, 200),
}


def result(name: str, *, users: int = 6000, items: int = 3000, repeats: int = 3) -> dict[str, object]:
    """The median time of some fits."""
    reviews = AccessoryShop(users=users, items=items).reviews()
    model, parts = MODELS[name]
    times = []
    for seed in range(repeats):
        start = perf_counter()
        model.fit(reviews, np.random.default_rng(seed))
        times.append(perf_counter() - start)
    return {"bench": "recommend", "name": name, "reviews": len(reviews), "ms": 1e3 * median(times) / parts}
