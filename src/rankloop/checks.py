"""Checks: the laws every policy obeys, to run on yours too.

>>> from rankloop.checks import check_policy
>>> from rankloop.policies import PDGD
>>> check_policy(PDGD)
"""

from rankloop.check_laws import (
    late_feedback_is_learned_as_shown,
    learn_is_deterministic,
    rank_changes_nothing,
    scoring_changes_nothing,
    state_survives_storage,
)
from rankloop.check_others import lists_of_others_teach_or_are_refused
from rankloop.check_run import LAWS, SANITY, check_policy
from rankloop.check_sanity import (
    extremes_are_survived,
    learning_beats_random,
    lists_are_valid,
    lists_without_features_are_ranked,
    position_in_the_input_is_no_merit,
    scores_follow_the_documents,
    share_of_right_pairs,
)
from rankloop.check_widening import features_that_appear_later_are_learned
from rankloop.check_worlds import LawBroken, Make, small_world, visitors

__all__ = [
    "LAWS",
    "SANITY",
    "LawBroken",
    "Make",
    "check_policy",
    "extremes_are_survived",
    "features_that_appear_later_are_learned",
    "late_feedback_is_learned_as_shown",
    "learn_is_deterministic",
    "learning_beats_random",
    "lists_are_valid",
    "lists_of_others_teach_or_are_refused",
    "lists_without_features_are_ranked",
    "position_in_the_input_is_no_merit",
    "rank_changes_nothing",
    "scores_follow_the_documents",
    "scoring_changes_nothing",
    "share_of_right_pairs",
    "small_world",
    "state_survives_storage",
    "visitors",
]
