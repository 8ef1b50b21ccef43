"""Evaluation from logs: what a policy would have got, from rounds that another one played."""

from rankloop.evaluation.anytime import anytime_lower
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
    "Columns",
    "ConfidenceSequence",
    "DoublyRobust",
    "Estimate",
    "Estimator",
    "ImportanceWeighted",
    "LoggedRounds",
    "NoSupport",
    "SelfNormalised",
    "Weighted",
    "anytime_lower",
    "choices_of",
    "cross_fitted",
    "difference_sequence",
    "mean_sequence",
    "read_rounds",
    "t_lower",
    "weighted",
    "win_sequence",
]
