"""Checks: the laws every policy obeys, to run on yours too.

Each law lets two policies of the same origin live the same life, disturbs one of them in a way that must not
matter, and compares to the bit what became of both. So it also notices what a policy hides from its state.

>>> from rankloop.checks import check_policy
>>> from rankloop.policies import PDGD
>>> check_policy(PDGD)
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

import numpy as np

from rankloop.check_sanity import (
    SANITY,
    extremes_are_survived,
    learning_beats_random,
    lists_are_valid,
    lists_without_features_are_ranked,
    position_in_the_input_is_no_merit,
    scores_follow_the_documents,
    share_of_right_pairs,
)
from rankloop.check_worlds import (
    LESSONS,
    NEW,
    LawBroken,
    Make,
    count_features,
    expect_same,
    expect_same_list,
    fresh,
    live_rounds,
    pad_query,
    respond,
    show,
    small_world,
    stored_feedback,
    teach_context,
    teach_documents,
    visitor_world,
    world_for,
)
from rankloop.errors import RankingError, RankloopError
from rankloop.policy import Policy, score_all
from rankloop.query_set import QuerySet
from rankloop.types import Feedback, Query, Ranking, State

__all__ = [
    "LAWS",
    "SANITY",
    "LawBroken",
    "Make",
    "check_policy",
    "extremes_are_survived",
    "features_that_appear_later_are_learned",
    "grades_teach_different_things",
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
    "visitor_world",
]

ROUNDS = 12
STRANGERS = 100  # lists in the order of others


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
        learning_beats_random(make)


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
    log = live_rounds(policy, world, rounds=ROUNDS)
    snapshot = fresh(make, policy)
    log += live_rounds(policy, world, rounds=ROUNDS, first=ROUNDS)
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
    live_rounds(policy, world, rounds=ROUNDS)
    stranger = fresh(make, policy)  # has the same state, but never saw the late lists
    for feedback in reversed(late):
        policy.learn(feedback)
        stranger.learn(stored_feedback(feedback))
        expect_same(
            stranger.state(),
            policy.state(),
            "late feedback was learned from something else than its evidence",
        )


def features_that_appear_later_are_learned(make: Make) -> None:
    """Law 5: a policy goes on with more features, or says that it cannot.

    What it knew stays: had the new features always been 0, the same policy would be there. Late feedback on
    lists from before is learned as if they had been. And lessons in which only a new feature matters are
    learned from. A policy whose `widened` is `None` has said that it ignores what is new.
    """
    policy = make()
    world = world_for(policy)
    known = world.n_features if world.contexts is None else int(world.contexts.shape[1])
    live_rounds(policy, world, rounds=ROUNDS)
    late = [show(policy, world[number], seed=500 + number) for number in range(5)]
    before = policy.state()
    try:
        wider = policy.widened(known + NEW)
        expect_same(before, policy.state(), "widened changed the policy that it was asked of")
        if wider is None:
            return
        queries = [judged.query for judged in world]
        _expect_same_scores(policy, wider, queries, "after widening, documents have other scores than before")
        _late_feedback_fits(policy, wider, late, queries)
        _new_feature_is_learned(wider, known, learns=_differ(make().state(), policy.state()))
    except RankloopError as error:
        raise LawBroken(
            f"a widened policy refused a list of the width that it was widened to: {error}"
        ) from error
    except (ValueError, IndexError, TypeError) as error:
        raise LawBroken(f"a widened policy failed: {type(error).__name__}: {error}") from error


def _expect_same_scores(policy: Policy, wider: Policy, queries: list[Query], otherwise: str) -> None:
    for query in queries:
        expected, found = policy.score(query), wider.score(pad_query(query))
        if not np.allclose(expected, found, rtol=1e-6, atol=1e-9 * (1 + np.abs(expected).max())):
            raise LawBroken(otherwise)


def _late_feedback_fits(policy: Policy, wider: Policy, late: list[Feedback], queries: list[Query]) -> None:
    """Learning and widening may change places; refusing what is too old is allowed."""
    one, other = policy.from_state(policy.state()), wider.from_state(wider.state())
    for feedback in late:
        ranking, query = feedback.ranking, pad_query(feedback.ranking.query)
        evidence = wider.widened_evidence(ranking.evidence, count_features(wider, query))
        again = Ranking(query, ranking.order, evidence)
        with suppress(RankingError):
            other.learn(Feedback(again, feedback.reward, feedback.judged, feedback.signal))
            one.learn(feedback)
    _expect_same_scores(
        one, other, queries, "a list from before a feature appeared was learned otherwise after"
    )


def _new_feature_is_learned(policy: Policy, known: int, *, learns: bool) -> None:
    """A document that has a new feature is liked or, where contexts matter, an ad by whoever has it."""
    teach = teach_context if policy.reads == "context" else teach_documents
    having, lacking = teach(policy, known + NEW)
    if learns and not having > lacking:
        raise LawBroken(
            f"after {LESSONS} lists in which only a new feature mattered, what has it scores {having:.3g} "
            f"and what lacks it {lacking:.3g}: a policy that cannot take new features has a `widened` that "
            "returns None"
        )


def lists_of_others_teach_or_are_refused(make: Make) -> None:
    """Law 6: what a policy did not draw is learned rightly or refused, never learned wrongly.

    Evidence about documents does not depend on the list that was drawn, and lists in anybody's order teach
    the policy. Evidence about a list holds for that list alone: `with_order` refuses any other.
    """
    policy = make()
    world = world_for(policy, queries=60)
    live_rounds(policy, world, rounds=ROUNDS)
    if policy.evidence_scope == "documents":
        for number in range(5):
            _expect_same_evidence(policy, world[number].query, seed=number)
        _expect_taught_by_strangers(make, world)
    else:
        for number in range(5):
            _expect_refusal(policy, world[number].query, seed=number)


def _expect_same_evidence(policy: Policy, query: Query, *, seed: int) -> None:
    one, *others = (policy.rank(query, k=k, rng=np.random.default_rng(seed)).evidence for k in (1, 5, 50))
    for other in others:
        expect_same(one, other, "the evidence is said to be about documents but depends on the list drawn")


def _expect_taught_by_strangers(make: Make, world: QuerySet) -> None:
    """Lists in a random order, with the evidence of a list that the policy would have drawn."""
    policy, rng = make(), np.random.default_rng(13)
    start, before = make(), policy.state()
    for number in range(STRANGERS):
        judged = world[number % len(world)]
        drawn = policy.rank(judged.query, k=5, rng=np.random.default_rng(number))
        shown = policy.with_order(drawn, rng.permutation(judged.query.n_docs)[:8])
        if shown is None:
            raise LawBroken(
                "the evidence is said to be about documents, but a list in another order is refused"
            )
        policy.learn(respond(policy, shown, judged, seed=number))
    if not _differ(before, policy.state()):
        return  # it does not learn from anybody
    # by the features alone: an order that is worth nothing is moved away from, whichever way that leads
    bare = replace(world, caller_scores=None)
    right = share_of_right_pairs(policy, bare, since=start)  # one that learns slowly is on its way, too
    if right < 0.6:
        raise LawBroken(
            f"{STRANGERS} lists in the order of others moved {right:.0%} of the pairs the right way, "
            "expected over 60 %: evidence that holds only for the list drawn is about the list"
        )


def _expect_refusal(policy: Policy, query: Query, *, seed: int) -> None:
    drawn = policy.rank(query, k=5, rng=np.random.default_rng(seed))
    shown = policy.with_order(drawn, drawn.order.copy())
    if shown is None:
        raise LawBroken("a list that was shown as it was drawn is refused")
    expect_same(drawn.evidence, shown.evidence, "a list that was shown as it was drawn lost its evidence")
    rest = np.setdiff1d(np.arange(query.n_docs), drawn.order)
    for order in (drawn.order[::-1], drawn.order[:-1], np.append(drawn.order[:-1], rest[:1])):
        if policy.with_order(drawn, order) is not None:
            raise LawBroken("evidence about one list is offered for learning from another")


def state_survives_storage(make: Make) -> None:
    """A snapshot without pickle holds everything: the restored policy ranks and scores the same."""
    policy = make()
    world = world_for(policy)
    live_rounds(policy, world, rounds=ROUNDS)
    twin = fresh(make, policy)
    expect_same(policy.state(), twin.state(), "the state did not survive storage")
    if not np.array_equal(score_all(policy, world), score_all(twin, world)):
        raise LawBroken("the restored policy gives other scores")
    for number in range(5):
        ours, theirs = show(policy, world[number], seed=number), show(twin, world[number], seed=number)
        expect_same_list(ours, theirs, "the restored policy ranks differently")
    before = twin.state()
    live_rounds(policy, world, rounds=3)
    expect_same(before, twin.state(), "the restored policy shares memory with the original")


def grades_teach_different_things(make: Make) -> None:
    """Law 7: a higher grade teaches something else than a lower one, or is refused.

    Two twins are told the same of every list, but for one result: it has grade 1 for one of them, and grade 4
    for the other. In every other list that is the first result, for policies that learn from the top alone. A
    policy that learns nothing from such lists, or clicks alone, is let off.
    """
    start = make()
    if "grades" not in start.signals:
        return
    states = []
    for grade in (1, 4):
        policy = make()
        world = world_for(policy)
        for number in range(ROUNDS):
            ranking = policy.rank(world[number].query, k=5, rng=np.random.default_rng(number))
            policy.shown(ranking)
            try:
                grades = np.roll([grade, 1, 0, 0, 0], number if number % 2 else 0)
                policy.learn(Feedback(ranking, grades, signal="grades"))
            except RankingError:
                return
        states.append(policy.state())
    lower, higher = states
    if _differ(start.state(), lower) and not _differ(lower, higher):
        raise LawBroken("grades 1 and 4 taught the same: refuse a grade that is not told from a lower one")


def _differ(one: State, other: State) -> bool:
    return any(not np.array_equal(one[name], other[name]) for name in one)


LAWS: tuple[Callable[[Make], None], ...] = (
    rank_changes_nothing,
    learn_is_deterministic,
    scoring_changes_nothing,
    late_feedback_is_learned_as_shown,
    features_that_appear_later_are_learned,
    lists_of_others_teach_or_are_refused,
    state_survives_storage,
    grades_teach_different_things,
)
