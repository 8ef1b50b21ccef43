"""Evaluation from logs: estimate what a policy would have got, from lists that another one made."""

from rankloop.evaluation.click_account import ClickAccount, SearchArm
from rankloop.evaluation.confidence_sequences import (
    ConfidenceSequence,
    anytime_lower,
    difference_sequence,
    mean_sequence,
    win_sequence,
)
from rankloop.evaluation.estimates import (
    Estimate,
    NoSupport,
    WeightedLog,
    anytime_bound,
    estimate_rewards,
    student_interval,
)
from rankloop.evaluation.list_propensities import (
    NextProbabilities,
    draw_probabilities,
    greedy_probabilities,
)
from rankloop.evaluation.logged_lists import LoggedList, weigh_lists

__all__ = [
    "ClickAccount",
    "ConfidenceSequence",
    "Estimate",
    "LoggedList",
    "NextProbabilities",
    "NoSupport",
    "SearchArm",
    "WeightedLog",
    "anytime_bound",
    "anytime_lower",
    "difference_sequence",
    "draw_probabilities",
    "estimate_rewards",
    "greedy_probabilities",
    "mean_sequence",
    "student_interval",
    "weigh_lists",
    "win_sequence",
]
