"""Evaluation from logs: what a policy would have got, from rounds that another one played."""

from rankloop.evaluation.anytime import anytime_lower
from rankloop.evaluation.click_account import ClickAccount, SearchArm
from rankloop.evaluation.confidence_sequences import (
    ConfidenceSequence,
    difference_sequence,
    mean_sequence,
    win_sequence,
)
from rankloop.evaluation.estimates import (
    ESTIMATORS,
    AnyTime,
    DoublyRobust,
    Estimate,
    Estimator,
    ImportanceWeighted,
    SelfNormalised,
    t_lower,
)
from rankloop.evaluation.list_propensities import Chances, by_score, draws
from rankloop.evaluation.logged_lists import (
    ListEstimate,
    LoggedList,
    WeightedLists,
    list_estimates,
    weighted_lists,
)
from rankloop.evaluation.reward_model import cross_fitted
from rankloop.evaluation.rounds import LoggedRounds
from rankloop.evaluation.weights import NoSupport, Weighted, choices_of, weighted

__all__ = [
    "ESTIMATORS",
    "AnyTime",
    "Chances",
    "ClickAccount",
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
    "t_lower",
    "weighted",
    "weighted_lists",
    "win_sequence",
]
