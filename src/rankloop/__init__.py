"""rankloop: rankings that learn from clicks and experiment only where they are unsure."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_HOME = {  # imported when asked for: the command line's `--help` must not wait for arrays
    "rankloop.errors": ("RankloopError",),
    "rankloop.types": ("Context", "Feedback", "Query", "Ranking"),
    "rankloop.policies": (
        *(
            "DBGD",
            "EpsilonGreedy",
            "FairExpPairRank",
            "MGD",
            "NSGD",
            "OlLambdaRank",
            "OlRankNet",
            "P2NeurRank",
            "PDGD",
        ),
        *("PairRank", "PePairRank", "Policy", "Random", "RankNet"),
    ),
    "rankloop.policies.policy_names": ("read_policy", "write_policy"),
    "rankloop.checks": ("check_policy",),
    "rankloop.candidate": ("Candidate",),
    "rankloop.client": ("Client",),
    "rankloop.service": ("RankerSettings", "RankingService", "UserEvent"),
}
_MODULES = {name: module for module, names in _HOME.items() for name in names}

if TYPE_CHECKING:
    from rankloop.candidate import Candidate
    from rankloop.checks import check_policy
    from rankloop.client import Client
    from rankloop.errors import RankloopError
    from rankloop.policies import (
        DBGD,
        MGD,
        NSGD,
        PDGD,
        EpsilonGreedy,
        FairExpPairRank,
        OlLambdaRank,
        OlRankNet,
        P2NeurRank,
        PairRank,
        PePairRank,
        Policy,
        Random,
        RankNet,
    )
    from rankloop.policies.policy_names import read_policy, write_policy
    from rankloop.service import RankerSettings, RankingService, UserEvent
    from rankloop.types import Context, Feedback, Query, Ranking

__all__ = [
    "DBGD",
    "MGD",
    "NSGD",
    "PDGD",
    "Candidate",
    "Client",
    "Context",
    "EpsilonGreedy",
    "FairExpPairRank",
    "Feedback",
    "OlLambdaRank",
    "OlRankNet",
    "P2NeurRank",
    "PairRank",
    "PePairRank",
    "Policy",
    "Query",
    "Random",
    "RankNet",
    "RankerSettings",
    "Ranking",
    "RankingService",
    "RankloopError",
    "UserEvent",
    "check_policy",
    "read_policy",
    "write_policy",
]


def __getattr__(name: str) -> Any:
    """Import a public name from the module that defines it."""
    if name not in _MODULES:
        raise AttributeError(f"module 'rankloop' has no attribute {name!r}")
    return getattr(import_module(_MODULES[name]), name)
