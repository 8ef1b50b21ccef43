"""Experiments on recommendation: comparisons, curves over settings, newcomers, and explanations."""

from rankloop.experiments.recommendation.comparison import compare_recommenders, statements, statistics_of
from rankloop.experiments.recommendation.curves import curve
from rankloop.experiments.recommendation.explanations import feature_table, necessity_table, phrase_table
from rankloop.experiments.recommendation.newcomers import cold_start, interleaved_votes, interview_curve

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
