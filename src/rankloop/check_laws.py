"""The laws of every policy, as experiments on twins.

Each law lets two policies of the same origin live the same life, disturbs one of them in a way that must not
matter, and compares to the bit what became of both. So it also notices what a policy hides from its state.
"""

from __future__ import annotations

import numpy as np

from rankloop.check_worlds import (
    LawBroken,
    Make,
    expect_same,
    expect_same_list,
    fresh,
    live,
    show,
    stored_feedback,
    world_for,
)
from rankloop.policies import score_all

ROUNDS = 12


def rank_changes_nothing(make: Make) -> None:
    """Law 1: ranking is a question. Asking more often must not change any answer."""
    quiet, curious = make(), make()
    world = world_for(quiet)
    for number in range(ROUNDS):
        judged = world[number]
        before = curious.state()
        for extra in range(3):
            show(curious, world[extra], seed=1000 + extra)
        expect_same(before, curious.state(), "rank changed the state")
        ours, theirs = show(quiet, judged, seed=number), show(curious, judged, seed=number)
        show(curious, world[number + 1], seed=number)
        expect_same_list(ours, theirs, "an earlier call of rank changed a later one")
        quiet.learn(ours)
        curious.learn(theirs)
        expect_same(quiet.state(), curious.state(), "calls of rank in between changed what was learned")


def learn_is_deterministic(make: Make) -> None:
    """Law 2: a policy is a fold of its log, of lists shown and learned, from the start and any snapshot."""
    policy = make()
    world = world_for(policy)
    log = live(policy, world, rounds=ROUNDS)
    snapshot = fresh(make, policy)
    log += live(policy, world, rounds=ROUNDS, first=ROUNDS)
    for start, events, name in ((make(), log, "the start"), (snapshot, log[ROUNDS:], "a snapshot")):
        for feedback in map(stored_feedback, events):
            start.shown(feedback.ranking)
            start.learn(feedback)
        expect_same(policy.state(), start.state(), f"learning the log again from {name} gave another policy")


def scoring_changes_nothing(make: Make) -> None:
    """Law 3: evaluating between ranking and learning must not change what is learned."""
    quiet, watched = make(), make()
    world, elsewhere = world_for(quiet), world_for(quiet, seed=8, more=True)
    for number in range(ROUNDS):
        ours = show(quiet, world[number], seed=number)
        score_all(watched, elsewhere)
        theirs = show(watched, world[number], seed=number)
        expect_same_list(ours, theirs, "scoring other documents changed a ranking")
        watched.score(elsewhere[number].query)
        quiet.learn(ours)
        watched.learn(theirs)
        score_all(watched, elsewhere)
        expect_same(quiet.state(), watched.state(), "scoring other documents changed what was learned")


def late_feedback_is_learned_as_shown(make: Make) -> None:
    """Law 4: what a list teaches is in its evidence, not in the memory of whoever ranked it."""
    policy = make()
    world = world_for(policy)
    late = [show(policy, world[number], seed=500 + number) for number in range(5)]
    for feedback in late:
        policy.shown(feedback.ranking)
    live(policy, world, rounds=ROUNDS)
    stranger = fresh(make, policy)  # has the same state, but never saw the late lists
    for feedback in reversed(late):
        policy.learn(feedback)
        stranger.learn(stored_feedback(feedback))
        expect_same(
            stranger.state(),
            policy.state(),
            "late feedback was learned from something else than its evidence",
        )


def state_survives_storage(make: Make) -> None:
    """A snapshot without pickle holds everything: the restored policy ranks and scores the same."""
    policy = make()
    world = world_for(policy)
    live(policy, world, rounds=ROUNDS)
    twin = fresh(make, policy)
    expect_same(policy.state(), twin.state(), "the state did not survive storage")
    if not np.array_equal(score_all(policy, world), score_all(twin, world)):
        raise LawBroken("the restored policy gives other scores")
    for number in range(5):
        ours, theirs = show(policy, world[number], seed=number), show(twin, world[number], seed=number)
        expect_same_list(ours, theirs, "the restored policy ranks differently")
    before = twin.state()
    live(policy, world, rounds=3)
    expect_same(before, twin.state(), "the restored policy shares memory with the original")
