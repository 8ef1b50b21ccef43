"""Pairs of results by the features of their query, for policies that see nothing else of a result."""

from __future__ import annotations

from rankloop.learning.click_pairs import Pairing, pair_differences
from rankloop.learning.replay_memory import Comparisons, compare_results
from rankloop.types import Feedback, FloatArray


def differences(feedback: Feedback, pairing: Pairing, seed: int) -> FloatArray:
    """The features of the preferred minus those of the other result of each pair."""
    return pair_differences(feedback, feedback.ranking.query.features, pairing, seed)


def comparisons(feedback: Feedback, pairing: Pairing, seed: int) -> Comparisons:
    """The pairwise comparisons of a list."""
    return compare_results(feedback, feedback.ranking.query.features, pairing, seed)
