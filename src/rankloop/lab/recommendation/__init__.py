"""Experiments on recommendation: comparisons, curves over settings, newcomers, and explanations."""

from rankloop.lab.recommendation.explanation_quality import feature_table, necessity_table, phrase_table
from rankloop.lab.recommendation.learning_curves import curve
from rankloop.lab.recommendation.newcomers import cold_start, interleaved_votes, interview_curve
from rankloop.lab.recommendation.recommender_comparison import (
    compare_recommenders,
    statements,
    statistics_of,
)

__all__ = [
    "cold_start",
    "compare_recommenders",
    "curve",
    "feature_table",
    "interleaved_votes",
    "interview_curve",
    "necessity_table",
    "phrase_table",
    "statements",
    "statistics_of",
]
