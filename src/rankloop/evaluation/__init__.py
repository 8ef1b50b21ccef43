"""Evaluation from logs: what a policy would have got, from rounds that another one played."""

from rankloop.evaluation.anytime import anytime_lower
from rankloop.evaluation.conservative import ClickAccount, SearchArm
from rankloop.evaluation.estimators import (
    ESTIMATORS,
    AnyTime,
    DoublyRobust,
    Estimate,
    Estimator,
    ImportanceWeighted,
    SelfNormalised,
    t_lower,
)
from rankloop.evaluation.list_chances import Chances, by_score, draws
from rankloop.evaluation.lists import (
    ListEstimate,
    LoggedList,
    WeightedLists,
    list_estimates,
    weighted_lists,
)
from rankloop.evaluation.reward_model import cross_fitted
from rankloop.evaluation.rounds import LoggedRounds
from rankloop.evaluation.sequences import (
    ConfidenceSequence,
    difference_sequence,
    mean_sequence,
    win_sequence,
)
from rankloop.evaluation.tables import Columns, read_rounds
from rankloop.evaluation.weights import NoSupport, Weighted, choices_of, weighted

__all__ = [
    "ESTIMATORS",
    "AnyTime",
    "Chances",
    "ClickAccount",
    "Columns",
    "ConfidenceSequence",
    "DoublyRobust",
    "Estimate",
    "Estimator",
    "ImportanceWeighted",
    "ListEstimate",
    "LoggedList",
    "LoggedRounds",
    "NoSupport",
    "SearchArm",
    "SelfNormalised",
    "Weighted",
    "WeightedLists",
    "anytime_lower",
    "by_score",
    "choices_of",
    "cross_fitted",
    "difference_sequence",
    "draws",
    "list_estimates",
    "mean_sequence",
    "read_rounds",
    "t_lower",
    "weighted",
    "weighted_lists",
    "win_sequence",
]
