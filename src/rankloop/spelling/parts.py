"""Parts: the settings of a policy that are objects themselves, by setting and name."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from rankloop.errors import SettingError, suggest_name
from rankloop.interleaving import Probabilistic, TeamDraft
from rankloop.policies import (
    AdaGrad,
    APGain,
    APWeights,
    AUCLoss,
    BestF1,
    Constant,
    DCGGain,
    Diagonal,
    DocumentSchedule,
    DocumentSpace,
    Exact,
    Full,
    InverseRoot,
    Live,
    NDCGGain,
    NDCGWeights,
    ObservedSquared,
    PairwiseLoss,
    Planned,
    Platt,
    PrecisionGain,
    Projected,
    RankSVM,
    ReplayMemory,
    SmoothDCG,
    Squared,
    SumLoss,
    Sure,
    Theory,
    UnnormalisedKL,
    Width,
)
from rankloop.scorers import MLP, Linear

PARTS: Mapping[str, Mapping[str, type[Any]]] = {
    "interleaving": {"team-draft": TeamDraft, "probabilistic": Probabilistic},
    "scorer": {"linear": Linear, "mlp": MLP},
    "covariance": {"full": Full, "diagonal": Diagonal, "projected": Projected},
    "training": {"replay-memory": ReplayMemory, "exact": Exact},
    "certainty": {"sure": Sure, "width": Width, "theory": Theory},
    "objective": {
        "sum-loss": SumLoss,
        "pairwise-loss": PairwiseLoss,
        "dcg": DCGGain,
        "precision": PrecisionGain,
        "ndcg": NDCGGain,
        "ap": APGain,
        "auc": AUCLoss,
    },
    "schedule": {"live": Live, "planned": Planned},
    "projection": {"document-space": DocumentSpace},
    "weights": {"ndcg": NDCGWeights, "ap": APWeights},
    "step_size": {"inverse-root": InverseRoot, "constant": Constant},
    "loss": {
        "rank-svm": RankSVM,
        "squared": Squared,
        "observed-squared": ObservedSquared,
        "unnormalised-kl": UnnormalisedKL,
        "smooth-dcg": SmoothDCG,
    },
    "threshold": {"best-f1": BestF1, "platt": Platt},
    "step": {"adagrad": AdaGrad, "document-schedule": DocumentSchedule},
}


def _by_class() -> dict[str, type[Any]]:
    """Every part by the name of its class, `rank-svm`: so it is known in settings without a table."""
    kinds = (kind for table in PARTS.values() for kind in table.values())
    return {re.sub("([a-z])([A-Z])", r"\1-\2", kind.__name__).lower(): kind for kind in kinds}


BY_CLASS = _by_class()


def find_part(setting: str, name: str) -> type[Any]:
    """The kind of part that a setting knows by this name.

    >>> find_part("certainty", "width")(0.1)
    Width(alpha=0.1, diagonal=False)
    """
    known = {**BY_CLASS, **PARTS.get(setting, {})}
    if name not in known:
        raise SettingError(
            f"{setting}: no part is called {name!r}: {suggest_name(name, PARTS.get(setting, BY_CLASS))}"
        )
    return known[name]


def name_of_part(setting: str, value: object) -> str | None:
    """By which name a setting knows what this is; None for what is no part."""
    tables = (PARTS.get(setting, {}), BY_CLASS)
    return next((name for table in tables for name, kind in table.items() if type(value) is kind), None)


def takes_parts(setting: str, default: object) -> bool:
    """Whether a setting with such a default is an object of its own, or none."""
    plain = isinstance(default, bool | int | float | str | tuple)
    return name_of_part(setting, default) is not None or (setting in PARTS and not plain)
