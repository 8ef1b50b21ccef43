"""One table of settings: each refuses what is outside its bound, and the error names the bound."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from math import inf, nan
from typing import Any, get_type_hints

import numpy as np
import pytest

from rankloop.bounds import describe_bound, fits, list_kinds, list_options
from rankloop.errors import SettingError
from rankloop.interleaving import Probabilistic
from rankloop.lab.baselines import ALL_POLICIES
from rankloop.learning.certainty import Posterior, Theory, Width
from rankloop.learning.projection import DocumentSpace
from rankloop.learning.training import Exact, ReplayMemory
from rankloop.metrics import METRICS
from rankloop.policies.policy_names import POLICIES
from rankloop.scorers import MLP

NEEDED = {Theory: {"longest_weights": 1.0, "longest_difference": 1.0}}
POSITIVE = [0, -0.5, inf, nan]
NOT_NEGATIVE = [-0.1, inf, nan]
FACTOR = [0, -0.1, 1.5, nan]
COUNT = [0, -1, 1.5, 2.0, True, nan, "3", None]
NATURAL = [-1, 0.5, 1.0, True, "x"]
ORDER = ["excelent", -1.0, True, nan, 1e9, ("decent",)]
REFUSED: dict[str, dict[str, list[Any]]] = {
    "PDGD": {
        "learning_rate": POSITIVE,
        "decay": FACTOR,
        "caller_order": ORDER,
        "learn_caller_order": [1, None],
    },
    "RankNet": {
        "learning_rate": POSITIVE,
        "pairing": ["every"],
        "learn_caller_order": [1],
        "scorer": ["mlp", MLP, 64],
    },
    "EpsilonGreedy": {"epsilon": [-0.5, 1.1, nan], "learning_rate": POSITIVE},
    "MGD": {
        "candidates": COUNT,
        "step": POSITIVE,
        "radius": POSITIVE,
        "decay": FACTOR,
        "start_seed": NATURAL,
    },
    "DBGD": {"candidates": COUNT, "decay": FACTOR, "projection": [True, 3, DocumentSpace]},
    "NSGD": {"proposals": COUNT, "window": NATURAL, "avoid": NATURAL, "hard": NATURAL},
    "PairRank": {
        "prior": POSITIVE,
        "prior_lists": COUNT,
        "regularisation": POSITIVE,
        "longest_weights": POSITIVE,
        "certainty": [0.8, "posterior", Posterior, None],
        "update": ["never", "Exact"],
        "exploration": ["bold"],
        "pairing": ["every"],
        "caller_order": ORDER,
    },
    "PePairRank": {"rankers": COUNT, "variance": POSITIVE, "perturb_prior": [1]},
    "Race": {"racers": [1, 21, 2.0, True], "odds": [1, 0.5, inf, nan], "prior": POSITIVE},
    "OlRankNet": {
        "alpha": NOT_NEGATIVE,
        "covariance": ["Diagonal()", 512, "Full"],
        "dimensions": COUNT,
        "learning_rate": POSITIVE,
        "regularisation": POSITIVE,
        "optimiser": ["sgd"],
        "averaging": [1],
        "training": [7, Exact, "exact"],
    },
    "OlLambdaRank": {"draws": NATURAL, "balanced": [1]},
    "P2NeurRank": {"rankers": COUNT, "variance": POSITIVE, "networks": NATURAL},
    "FairExpPairRank": {
        "beta": POSITIVE,
        "tolerance": NOT_NEGATIVE,
        "ties": ["first"],
        "due": ["merit"],
        "shares": ["most"],
        "examination": ["sqrt"],
    },
    "FairExpTopRank": {"learned_pairs": ["all"], "beta": POSITIVE},
    "FairCo": {"control": NOT_NEGATIVE, "exposure": ["most"], "merit": ["equal"]},
    "IPS": {"ridge": POSITIVE, "examination": ["often"]},
    "DLA": {"learning_rate": POSITIVE, "clip": [0.5, inf], "logging": ["mine"]},
    "OfflineRankNet": {"queries": COUNT, "steps": COUNT, "learning_rate": POSITIVE},
    "LambdaMART": {"lists": COUNT, "trees": COUNT, "learning_rate": POSITIVE},
    "ListNet": {"learning_rate": POSITIVE, "decay_exponent": NOT_NEGATIVE, "averaged": [1]},
    "Slam": {"measure": ["err"], "k": [0, -1, 1.5, True, "3"], "learning_rate": POSITIVE},
    "RTopK": {
        "loss": ["hinge", "RankSVM"],
        "steps": ["adam"],
        "top_grade": POSITIVE,
        "smoothing": POSITIVE,
        "learning_rate": POSITIVE,
        "gamma": [-0.1, 1.5, nan],
        "cap": [0, -1, nan],
        "scale": [0.5, inf, nan],
        "top_k": [0, -1, 2.0, True],
        "radius": POSITIVE,
    },
    "RTopKItems": {
        "gain": ["cubic", "NDCG"],
        "top_grade": POSITIVE,
        "top_k": COUNT,
        "explore_once": [1, None],
        "horizon": [0, 1.5],
        "blocks": [0, 1.5],
        "below_cell": ["best"],
        "epsilon": POSITIVE,
    },
    "ThompsonItems": {"gain": ["cubic"], "top_grade": POSITIVE},
    "UCBItems": {"width": NOT_NEGATIVE},
    "TopRank": {"delta": [0, 1, -0.1, nan]},
    "AUCRanker": {
        "threshold": ["f1", None],
        "epsilon": [-0.1, 1.5, nan],
        "undersample": POSITIVE,
        "growth": NOT_NEGATIVE,
        "batch": COUNT,
        "memory": COUNT,
        "seed": NATURAL,
        "regularisation": POSITIVE,
    },
    "AdForest": {"trees": COUNT, "growth": NOT_NEGATIVE},
    "LinUCB": {"alpha": NOT_NEGATIVE, "prior": POSITIVE},
    "ThompsonLogistic": {"width": POSITIVE, "prior": POSITIVE},
    "SquareCB": {"scale": POSITIVE},
    "nDCG": {"k": [0, -1, 1.5, True]},
    "ERR": {"max_grade": COUNT},
    "Precision": {"relevant_from": COUNT},
    "Posterior": {"level": [0.49, 1.0, -1.0, nan]},
    "Width": {"alpha": NOT_NEGATIVE, "diagonal": [1]},
    "Theory": {
        "delta": [0.0, 1.0],
        "longest_weights": POSITIVE,
        "longest_difference": POSITIVE,
        "noise": POSITIVE,
    },
    "Exact": {"steps": COUNT, "restart": [1]},
    "ReplayMemory": {"lists": NATURAL, "memory": COUNT, "repeats": NATURAL, "steps": COUNT},
    "DocumentSpace": {
        "k": NATURAL,
        "recent": NATURAL,
        "trust": [-0.1, 1.1, nan],
        "unit": [1],
        "examined": ["seen"],
    },
    "Probabilistic": {"tau": NOT_NEGATIVE},
    "MLP": {"hidden": [0, (4, 2.0), "x", (0,), [4]], "scale": POSITIVE, "seed": NATURAL},
}
KINDS: dict[str, type[Any]] = {
    **ALL_POLICIES,
    **METRICS,
    **{
        kind.__name__: kind
        for kind in (Posterior, Width, Theory, Exact, ReplayMemory, DocumentSpace, Probabilistic, MLP)
    },
}
STRANGE = (
    -1,
    0,
    1,
    0.5,
    2.5,
    nan,
    inf,
    -inf,
    True,
    "no such word",
    None,
    (),
    ("a", 1),
    object(),
    object,
    np.ones(2),
)


def settings_of(kind: type[Any]) -> Iterator[tuple[str, Any]]:
    """The settings of a class and their annotations."""
    hints = get_type_hints(kind, include_extras=True)
    yield from ((each.name, hints[each.name]) for each in fields(kind) if each.init)


def expect_refused(kind: type[Any], setting: str, value: object) -> None:
    """The error says what the setting may be, and what was found."""
    hint = dict(settings_of(kind))[setting]
    with pytest.raises(SettingError) as error:
        kind(**{**NEEDED.get(kind, {}), setting: value})
    assert str(error.value).startswith(f"{kind.__name__}: {setting} must be {describe_bound(hint)}, found ")


@pytest.mark.parametrize("name", REFUSED)
def test_a_setting_refuses_what_is_outside_its_bound_and_names_the_bound(name: str) -> None:
    for setting, values in REFUSED[name].items():
        for value in values:
            expect_refused(KINDS[name], setting, value)


@pytest.mark.parametrize("name", KINDS)
def test_whatever_does_not_fit_the_annotation_is_refused(name: str) -> None:
    for setting, hint in settings_of(KINDS[name]):
        outside = [value for value in STRANGE if not fits(value, hint)]
        assert outside, f"{name}: {setting} takes anything"
        for value in outside:
            expect_refused(KINDS[name], setting, value)


def test_five_settings_take_parts_with_settings_of_their_own() -> None:
    parts: dict[str, set[str]] = {}
    for kind in POLICIES.values():
        for setting, hint in settings_of(kind):
            for option in list_options(hint):
                ours = (each for each in list_kinds(option) if each.__module__.startswith("rankloop."))
                parts.setdefault(setting, set()).update({each.__name__ for each in ours} - {"Module"})
    assert {setting: names for setting, names in parts.items() if names} == {
        "scorer": {"Linear", "MLP"},
        "training": {"ReplayMemory", "Exact"},
        "certainty": {"Posterior", "Width", "Theory"},
        "projection": {"DocumentSpace"},
        "interleaving": {"TeamDraft", "Probabilistic"},
    }


@pytest.mark.parametrize("name", KINDS)
def test_no_setting_is_just_any_number_or_text(name: str) -> None:
    for setting, hint in settings_of(KINDS[name]):
        assert not {int, float, str} & set(list_options(hint)), f"{name}: {setting} has no bound"
