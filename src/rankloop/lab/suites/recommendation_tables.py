"""Tables and figures on explainable recommendation, each computed from reviews that are split into parts.

Jia: Toward reliable decision-making in information systems. PhD thesis, University of Virginia 2022, chapter
4.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from math import inf
from typing import Any

import numpy as np
import polars as pl

from rankloop.lab.data.review_data import load_reviews
from rankloop.lab.recommendation import (
    cold_start,
    compare_recommenders,
    curve,
    feature_table,
    interleaved_votes,
    interview_curve,
    necessity_table,
    phrase_table,
    statements,
    statistics_of,
)
from rankloop.lab.recommendation.learning_curves import with_features, with_share
from rankloop.lab.recommendation.recommender_comparison import HERE
from rankloop.lab.recommenders import BPRMF, EFM, FMF, JMARS, MTERS, MTERSA, NMF, read_recommender
from rankloop.lab.sweeps.engines import Engine
from rankloop.recommend import IALS, MTER, EvidenceALS, FacT, MostPopular, Recommender

THESIS: dict[str, Any] = {"d": 20, "depth": 6, "min_leaf": 20, "attributes": False, "regularisation": 0.03}
SMALL: dict[str, Any] = {"d": 8, "depth": 3, "min_leaf": 5}
CLAIMS = (
    ("MostPopular", "NMF"),
    ("BPRMF", "NMF"),
    ("MTER", "BPRMF"),
    ("MTER", "JMARS"),
    ("MTER", "EFM"),
    ("BPRMF", "JMARS"),
    ("BPRMF", "EFM"),
    ("MTER", "MTER-S"),
    ("MTER", "MTER-SA"),
    ("MTER-S", "MTER-SA"),
    ("FacT, thesis", "MTER"),
    ("FacT, aspects", "MTER"),
    ("FacT", "FacT, aspects"),
    ("FacT", "iALS"),
    ("evidence ALS", "iALS"),
    ("evidence ALS", "FacT"),
)


def _models(quick: bool) -> dict[str, Recommender]:
    """The models of the comparison; small ones for a quick look."""
    steps: dict[str, Any] = {"iterations": 40, "validate_every": 20} if quick else {}
    small: dict[str, Any] = SMALL if quick else {}
    thesis: dict[str, Any] = {**THESIS, **small}
    return {
        "MostPopular": MostPopular(),
        "NMF": NMF(iterations=10 if quick else 100),
        "BPRMF": BPRMF(epochs=3 if quick else 30),
        "FMF": FMF(d=8 if quick else 20, min_leaf=5 if quick else 20),
        "JMARS": JMARS(rounds=1 if quick else 5),
        "EFM": EFM(iterations=10 if quick else 100),
        "MTER": MTER(**steps),
        "MTER, engineered": replace(read_recommender("MTER@engineered"), **steps),
        "MTER-S": MTERS(**steps),
        "MTER-SA": MTERSA(**steps),
        "FacT, thesis": FacT(
            **{**thesis, "pair_weight": 1.0, "item_depth": thesis["depth"], "leaf_weight": 0.3}
        ),
        "FacT, aspects": FacT(**{**thesis, "leaf_weight": 0.3}),
        "FacT, rules alone": FacT(leaf_weight=inf, **small),
        "FacT": FacT(**small),
        "iALS": IALS(d=8 if quick else 128),
        "evidence ALS": EvidenceALS(d=8 if quick else 128),
    }


def describe_reviews(data: str) -> Mapping[str, pl.DataFrame]:
    """Describe the reviews."""
    parts = load_reviews(data)
    return {"statistics": statistics_of(parts)}


def compare_recommenders_table(
    data: str, *, quick: bool = False, engine: Engine = HERE
) -> Mapping[str, pl.DataFrame]:
    """Compare all models by both protocols, and check the thesis' statements one by one."""
    parts = load_reviews(data)
    table, found = compare_recommenders(parts, _models(quick), seeds=1 if quick else 3, engine=engine)
    return {"models": table, "statements": statements(found, CLAIMS)}


def compare_parent_factors(
    data: str, *, quick: bool = False, engine: Engine = HERE
) -> Mapping[str, pl.DataFrame]:
    """Compare FacT with and without factors from parent nodes."""
    parts = load_reviews(data)
    small: dict[str, Any] = SMALL if quick else {}
    variants = {
        f"{name}, {'with' if parent else 'without'} parent factors": FacT(
            **{**settings, **small, "leaf_weight": rho, "parent_factors": parent}
        )
        for name, settings, rho in (
            ("rules", {}, inf),
            ("rules and past", {}, 0.1),
            ("aspects, rules", THESIS, inf),
        )
        for parent in (True, False)
    }
    return {"parent factors": compare_recommenders(parts, variants, seeds=1, engine=engine)[0]}


def vary_pair_weight(data: str, *, quick: bool = False, engine: Engine = HERE) -> Mapping[str, pl.DataFrame]:
    """Fit MTER with ever more weight on ranked pairs."""
    parts = load_reviews(data)
    steps: dict[str, Any] = {"iterations": 40, "validate_every": 20} if quick else {"iterations": 1000}
    models = {"MTER": lambda weight: MTER(pair_weight=weight, **steps)}
    values = (1.0, 100.0) if quick else (0.01, 1.0, 10.0, 100.0, 1000.0, 10_000.0)
    return {"pairs": curve(parts, "λ_B", models, values, engine=engine)}


def vary_dimensions(data: str, *, quick: bool = False, engine: Engine = HERE) -> Mapping[str, pl.DataFrame]:
    """Fit models with ever more latent dimensions."""
    parts = load_reviews(data)
    tree: dict[str, Any] = {"min_leaf": 5} if quick else {}
    models: dict[str, Callable[[float], Recommender]] = {
        "FMF": lambda d: FMF(d=int(d), **tree),
        "NMF": lambda d: NMF(latent=int(d), iterations=10 if quick else 60),
        "BPRMF": lambda d: BPRMF(d=int(d), epochs=3 if quick else 20),
        "FacT": lambda d: FacT(d=int(d), **tree),
        "iALS": lambda d: IALS(d=int(d)),
    }
    return {"dimensions": curve(parts, "d", models, (4, 8) if quick else (5, 10, 20, 50, 100), engine=engine)}


def vary_features(data: str, *, quick: bool = False, engine: Engine = HERE) -> Mapping[str, pl.DataFrame]:
    """Fit models that know ever more features."""
    parts = load_reviews(data)
    total = len(parts.train.features)
    settings: dict[str, Any] = {**THESIS, **(SMALL if quick else {}), "leaf_weight": inf}
    models: dict[str, Callable[[float], Recommender]] = {
        "FacT, aspects, rules": lambda _: FacT(**settings),
        "EFM": lambda _: EFM(iterations=10 if quick else 60),
        "MTER": lambda _: MTER(iterations=40 if quick else 1000),
    }
    values = sorted({min(count, total) for count in ((4, 8) if quick else (5, 10, 20, 40, total))})
    return {"features": curve(parts, "features", models, values, change=with_features, engine=engine)}


def vary_user_depth(data: str, *, quick: bool = False, engine: Engine = HERE) -> Mapping[str, pl.DataFrame]:
    """Fit trees of users of ever more depth."""
    parts = load_reviews(data)
    leaf: dict[str, Any] = {"min_leaf": 5, "d": 8} if quick else {}
    models: dict[str, Callable[[float], Recommender]] = {
        "FMF": lambda depth: FMF(depth=int(depth), **leaf),
        "FacT, aspects, rules": lambda depth: FacT(
            **{**THESIS, **leaf, "depth": int(depth), "leaf_weight": inf}
        ),
        "FacT, rules": lambda depth: FacT(**{**leaf, "depth": int(depth), "leaf_weight": inf}),
        "FacT": lambda depth: FacT(**{**leaf, "depth": int(depth)}),
    }
    return {"depth": curve(parts, "depth", models, (0, 2) if quick else (0, 1, 2, 3, 4, 6, 8), engine=engine)}


def vary_both_depths(data: str, *, quick: bool = False, engine: Engine = HERE) -> Mapping[str, pl.DataFrame]:
    """Fit trees of users and of items, each of several depths."""
    parts = load_reviews(data)
    leaf: dict[str, Any] = {"min_leaf": 5, "d": 8} if quick else {}
    depths = (1, 2) if quick else (2, 4, 6)

    def make(item_depth: int, depth: float) -> Recommender:
        return FacT(**{**THESIS, **leaf, "depth": int(depth), "item_depth": item_depth, "leaf_weight": 0.3})

    models = {f"items' tree of depth {depth}": partial(make, depth) for depth in depths}
    return {"depths": curve(parts, "users' depth", models, depths, engine=engine)}


def vary_training_share(
    data: str, *, quick: bool = False, engine: Engine = HERE
) -> Mapping[str, pl.DataFrame]:
    """Fit models that learn from ever more of the reviews."""
    parts = load_reviews(data)
    models = {
        name: (lambda _, model=model: model)
        for name, model in _models(quick).items()
        if name in ("MostPopular", "FMF", "NMF", "BPRMF", "FacT", "iALS", "evidence ALS")
    }
    shares = (0.4, 0.8) if quick else (0.3, 0.4, 0.5, 0.6, 0.7, 0.8)
    return {"training data": curve(parts, "share", models, shares, change=with_share, engine=engine)}


def compare_newcomers(data: str, *, quick: bool = False) -> Mapping[str, pl.DataFrame]:
    """Compare what is recommended to newcomers, by observations and by questions."""
    parts = load_reviews(data)
    small: dict[str, Any] = {"d": 8, "min_leaf": 5} if quick else {}
    few: dict[str, Any] = {"d": 8} if quick else {}
    trees: dict[str, FacT | FMF] = {
        "FMF": FMF(**small),
        "FacT, aspects": FacT(**{**THESIS, **small, "leaf_weight": inf}),
        "FacT, attributes": FacT(leaf_weight=inf, **small),
    }
    models = {
        "MostPopular": MostPopular(),
        **trees,
        "FacT and past items": FacT(**small),
        "iALS": IALS(**few),
        "evidence ALS": EvidenceALS(**few),
    }
    share = 0.2 if quick else 0.05
    return {
        "observations": cold_start(parts, models, share=share),
        "questions": interview_curve(parts, trees, share=share, questions=3 if quick else 8),
    }


def compare_interviews(data: str, *, quick: bool = False) -> Mapping[str, pl.DataFrame]:
    """Compare interviews by FMF and by FacT, whose lists are interleaved for simulated newcomers."""
    parts = load_reviews(data)
    small: dict[str, Any] = {"d": 8, "min_leaf": 5} if quick else {}
    rng, share = np.random.default_rng(45), 0.2 if quick else 0.1
    return {
        "aspects": interleaved_votes(
            parts,
            {"FMF": FMF(**small), "FacT": FacT(**{**THESIS, **small, "leaf_weight": inf})},
            rng,
            share=share,
        ),
        "attributes": interleaved_votes(
            parts, {"FMF": FMF(**small), "FacT": FacT(leaf_weight=inf, **small)}, rng, share=share
        ),
    }


def compare_explanations(data: str, *, quick: bool = False) -> Mapping[str, pl.DataFrame]:
    """Compare features, words and past items as explanations."""
    parts = load_reviews(data)
    steps: dict[str, Any] = {"iterations": 40, "validate_every": 20} if quick else {}
    small: dict[str, Any] = SMALL if quick else {}
    models = {
        "MTER": MTER(**steps),
        "EFM": EFM(iterations=10 if quick else 100),
        "FacT, paths": FacT(**{**THESIS, **small, "leaf_weight": inf}),
    }
    fitted = {name: model.fit(parts.train, np.random.default_rng(0)) for name, model in models.items()}
    tensors = {"MTER": MTER(**steps), "MTER, zeros": MTER(zeros=1.0, **steps)}
    exact: dict[str, IALS | FacT] = {
        "evidence ALS": EvidenceALS(d=8 if quick else 128),
        "FacT": FacT(**small),
    }
    return {
        "features": feature_table(parts, fitted, d=8 if quick else 64),
        "words": phrase_table(parts, tensors),
        "past items": necessity_table(parts, exact, users=10 if quick else 100),
    }
