"""What anyone would expect of a ranker, whatever its algorithm."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

import numpy as np

from rankloop.check_worlds import LawBroken, Make, live_rounds, reaction, show, world_for
from rankloop.errors import RankingError
from rankloop.policy import Policy
from rankloop.query_set import QuerySet
from rankloop.types import FloatArray, IntArray, Query


def lists_are_valid(make: Make) -> None:
    """A list has the length asked for, or all candidates; its evidence is finite arrays."""
    policy = make()
    world = world_for(policy)
    for number in range(8):
        for k in (1, 5, 12, 50):
            ranking = show(policy, world[number], seed=number, k=k).ranking
            if len(ranking) != min(k, ranking.query.n_docs):
                raise LawBroken(
                    f"asked for {k} of {ranking.query.n_docs} documents, {len(ranking)} were shown"
                )
            for name, values in ranking.evidence.items():
                _expect_finite(name, values)
        live_rounds(policy, world, rounds=1, first=number)


def scores_follow_the_documents(make: Make) -> None:
    """Reordering the candidates reorders their scores and changes nothing else (permutation equivariance)."""
    policy = make()
    world = world_for(policy)
    live_rounds(policy, world, rounds=30)
    for judged in world:
        shuffled = np.random.default_rng(0).permutation(judged.query.n_docs)
        if not np.allclose(
            policy.score(judged.query)[shuffled], policy.score(judged.query.take(shuffled)), rtol=1e-9
        ):
            raise LawBroken("a document's score depends on its place among the candidates")


def position_in_the_input_is_no_merit(make: Make) -> None:
    """Identical candidates are shown on top equally often, whichever comes first in the input."""
    policy = make()
    query = Query("same", np.full((4, 6), 0.5))
    tops = [policy.rank(query, k=4, rng=np.random.default_rng(seed)).order[0] for seed in range(400)]
    _expect_fair(np.bincount(tops, minlength=4), "of four identical documents")


def extremes_are_survived(make: Make) -> None:
    """One candidate, constant or tiny or large features, all clicks or none: no error, nothing infinite."""
    rng = np.random.default_rng(3)
    for scale in (0.0, 1e-8, 1.0, 100.0):
        policy = make()
        for documents in (1, 2, 12):
            query = Query("extreme", scale * rng.random((documents, 6)))
            for pattern in (np.zeros, np.ones, lambda n: rng.integers(2, size=n)):
                ranking = policy.rank(query, k=10, rng=rng)
                policy.learn(reaction(policy, ranking, np.asarray(pattern(len(ranking)), dtype=bool)))
                _expect_finite("score", policy.score(query))
        for name, values in policy.state().items():
            _expect_finite(name, values)


def lists_without_features_are_ranked(make: Make) -> None:
    """Candidates of which only the names are known stand in random order; their clicks break nothing."""
    policy, query = make(), Query("names only", np.empty((4, 0)), ("a", "b", "c", "d"))
    tops = []
    for seed in range(400):
        ranking = policy.rank(query, k=3, rng=np.random.default_rng(seed))
        tops.append(ranking.order[0])
    _expect_fair(np.bincount(tops, minlength=4), "of four documents without features")
    with suppress(RankingError):  # nothing can be learned; saying so is as good as passing over it
        policy.learn(reaction(policy, ranking, np.array([False, True, False])))
    _expect_finite("score", policy.score(query))
    live_rounds(policy, world_for(policy), rounds=3)


def learning_beats_random(
    make: Make, world: QuerySet | None = None, *, rounds: int = 400, k: int = 5
) -> None:
    """After some hundred clicks the scores order far more pairs rightly than chance does.

    A policy that knows documents by id learns nothing about one from another, and meets fewer of them again
    and again.
    """
    policy = make()
    only_ids = policy.identifies_by == "ids" and policy.reads != "context"
    world = world or world_for(policy, queries=5 if only_ids else 60)
    for number in range(rounds):
        judged = world[number % len(world)]
        policy.learn(show(policy, judged, seed=number, k=k))
    right = share_of_right_pairs(policy, world)
    if right < 0.6:
        raise LawBroken(
            f"after {rounds} lists {right:.0%} of the pairs are in the right order, expected over 60 %"
        )


def share_of_right_pairs(policy: Policy, world: QuerySet, *, since: Policy | None = None) -> float:
    """Share of the pairs of different grade that the scores put in the right order; ties count half.

    With `since`, what counts is how scores have changed since that policy: which way learning went.
    """
    right = total = 0.0
    for judged in world:
        better = np.greater.outer(judged.relevance, judged.relevance)
        scores = policy.score(judged.query) - (since.score(judged.query) if since else 0.0)
        ahead = np.greater.outer(scores, scores) + 0.5 * np.equal.outer(scores, scores)
        right, total = right + float(ahead[better].sum()), total + float(better.sum())
    return right / total


def _expect_fair(counts: IntArray, of: str) -> None:
    if (abs(counts - 100) > 45).any():  # five standard deviations of a fair draw
        raise LawBroken(f"{of}, each on top should be 100 of 400 times; found {counts}")


def _expect_finite(name: str, values: FloatArray) -> None:
    if not np.isfinite(values).all():
        raise LawBroken(f"{name!r} holds NaN or infinity")


SANITY: tuple[Callable[[Make], None], ...] = (
    lists_are_valid,
    scores_follow_the_documents,
    position_in_the_input_is_no_merit,
    extremes_are_survived,
    lists_without_features_are_ranked,
)
