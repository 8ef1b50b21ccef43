"""All checks in one call."""

from __future__ import annotations

from collections.abc import Callable

from rankloop import (
    check_laws as laws,
)
from rankloop import (
    check_others as others,
)
from rankloop import (
    check_sanity as sanity,
)
from rankloop import (
    check_widening as widening,
)
from rankloop.check_worlds import Make

LAWS: tuple[Callable[[Make], None], ...] = (
    laws.rank_changes_nothing,
    laws.learn_is_deterministic,
    laws.scoring_changes_nothing,
    laws.late_feedback_is_learned_as_shown,
    widening.features_that_appear_later_are_learned,
    others.lists_of_others_teach_or_are_refused,
    laws.state_survives_storage,
)
SANITY: tuple[Callable[[Make], None], ...] = (
    sanity.lists_are_valid,
    sanity.scores_follow_the_documents,
    sanity.position_in_the_input_is_no_merit,
    sanity.extremes_are_survived,
    sanity.lists_without_features_are_ranked,
)


def check_policy(make: Make, *, learns: bool = True) -> None:
    """Try every law on the policies that `make` makes; `LawBroken` says which one failed and how.

    `make` is a class or any function without arguments. A policy that is not meant to learn is checked with
    `learns=False`.

    >>> from rankloop.policies import Random
    >>> check_policy(Random, learns=False)
    """
    for check in LAWS + SANITY:
        check(make)
    if learns:
        sanity.learning_beats_random(make)
