"""Law 6: lists of others teach or are refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rankloop.check_sanity import share_of_right_pairs
from rankloop.check_worlds import LawBroken, Make, expect_same, live, respond, world_for
from rankloop.policies import Policy
from rankloop.query_set import QuerySet
from rankloop.types import Query

ROUNDS = 12
LISTS = 100


def lists_of_others_teach_or_are_refused(make: Make) -> None:
    """Law 6: what a policy did not draw is learned rightly or refused, never learned wrongly.

    Evidence about documents does not depend on the list that was drawn, and lists in anybody's order teach
    the policy. Evidence about a list holds for that list alone: `with_order` refuses any other.
    """
    policy = make()
    world = world_for(policy, queries=60)
    live(policy, world, rounds=ROUNDS)
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
    for number in range(LISTS):
        judged = world[number % len(world)]
        drawn = policy.rank(judged.query, k=5, rng=np.random.default_rng(number))
        shown = policy.with_order(drawn, rng.permutation(judged.query.n_docs)[:8])
        if shown is None:
            raise LawBroken(
                "the evidence is said to be about documents, but a list in another order is refused"
            )
        policy.learn(respond(policy, shown, judged, seed=number))
    after = policy.state()
    if all(np.array_equal(before[name], after[name]) for name in before):
        return  # it does not learn from anybody
    # by the features alone: an order that is worth nothing is moved away from, whichever way that leads
    bare = replace(world, base=None)
    right = share_of_right_pairs(policy, bare, since=start)  # one that learns slowly is on its way, too
    if right < 0.6:
        raise LawBroken(
            f"{LISTS} lists in the order of others moved {right:.0%} of the pairs the right way, expected "
            "over 60 %: evidence that holds only for the list drawn is about the list"
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
