"""A short life for a policy to live: queries, a user, luck, and a way to compare what became of it."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

import numpy as np

from rankloop.policy import Policy
from rankloop.query_set import JudgedQuery, QuerySet
from rankloop.types import Array, BoolArray, Context, Feedback, IntArray, Query, Ranking, Signal, State

Make: TypeAlias = Callable[[], Policy]
CLICKS = np.array([0.1, 0.5, 0.9])  # how likely a result of each grade is clicked
LEAVES = np.array([0.1, 0.2, 0.5])  # and how likely the user leaves after that
LESSONS = 60  # lists in which only a new feature matters
NEW = 2  # features that appear
SIGNALS: tuple[Signal, ...] = ("clicks", "grades")


class LawBroken(AssertionError):
    """A policy did what no policy may do."""


def small_world(*, queries: int = 20, documents: int = 12, features: int = 6, seed: int = 7) -> QuerySet:
    """Make a world a linear ranker can learn: the grade follows a hidden weighting of the features.

    Every document has an id of its own, for policies that know documents by nothing else, and belongs to one
    of two groups, for those that share exposure.

    >>> small_world().grades
    3
    """
    rng = np.random.default_rng(seed)
    rows = rng.random((queries * documents, features))
    quality = rows @ np.linspace(1, -1, features)
    grades = np.digitize(quality, np.quantile(quality, [0.6, 0.85]))
    ids = tuple(f"q{number}" for number in range(queries))
    doc_ids = tuple(f"d{number}" for number in range(queries * documents))
    groups = tuple("AB"[number % 3 > 0] for number in range(queries * documents))
    return QuerySet(rows, np.arange(queries + 1) * documents, grades, ids, doc_ids, groups)


def visitor_world(*, queries: int = 20, ads: int = 4, features: int = 6, seed: int = 7) -> QuerySet:
    """Make a world for policies that look at who asks: the same ads, liked by different visitors.

    >>> visitor_world()[0].query.context.features.shape
    (6,)
    """
    rng = np.random.default_rng(seed)
    contexts = rng.random((queries, features))
    weights = np.random.default_rng(5).normal(size=(features, ads))
    quality = (contexts @ (weights - weights.mean(axis=0))).ravel()
    grades = np.digitize(quality, np.quantile(quality, [0.6, 0.85]))
    ids = tuple(f"v{number}" for number in range(queries))
    names = tuple(f"ad {number}" for number in range(ads)) * queries
    nothing = np.empty((queries * ads, 0))
    return QuerySet(nothing, np.arange(queries + 1) * ads, grades, ids, names, contexts=contexts)


def world_for(policy: Policy, *, queries: int = 20, seed: int = 7, more: bool = False) -> QuerySet:
    """Make the small world in which a policy can learn; one with `more` candidates in each query.

    A policy that looks at the caller's order meets one that is worth nothing: it has to learn so.
    """
    if policy.reads == "context":
        return visitor_world(queries=queries, seed=seed, ads=6 if more else 4)
    world = small_world(queries=queries, seed=seed, documents=17 if more else 12)
    if policy.layout.extra:
        worthless = np.random.default_rng(seed).random(len(world.features))
        return replace(world, caller_scores=worthless)
    return world


def show(policy: Policy, judged: JudgedQuery, *, seed: int, k: int = 5) -> Feedback:
    """One list and one user's response, with luck that depends on nothing but the seed."""
    ranking = policy.rank(judged.query, k=k, rng=np.random.default_rng(seed))
    return respond(policy, ranking, judged, seed=seed)


def respond(policy: Policy, ranking: Ranking, judged: JudgedQuery, *, seed: int) -> Feedback:
    """Say what a user says of a list; a policy that accepts both signals meets both, in turns."""
    signals = [signal for signal in SIGNALS if signal in policy.signals]
    if signals[seed % len(signals)] == "clicks":
        return click(ranking, judged.relevance, np.random.default_rng((seed, 1)))
    return Feedback(ranking, judged.relevance[ranking.order] / 2, signal="grades")  # from 0 to 1


def click(ranking: Ranking, relevance: IntArray, rng: np.random.Generator) -> Feedback:
    """Read the list from the top, click the more the better a result, and perhaps leave after a click."""
    grades = relevance[ranking.order]
    coins = rng.random((2, grades.size))
    clicks = coins[0] < CLICKS[grades]
    leaves = clicks & (coins[1] < LEAVES[grades])
    seen = leaves.cumsum() - leaves == 0
    return Feedback(ranking, clicks & seen, truly_examined=seen)


def reaction(policy: Policy, ranking: Ranking, liked: BoolArray) -> Feedback:
    """Feedback by which exactly these results were liked, in the signal that this policy learns from."""
    reward = liked if policy.signals[0] == "clicks" else liked.astype(np.int64)
    return Feedback(ranking, reward, signal=policy.signals[0])


def live_rounds(policy: Policy, world: QuerySet, *, rounds: int, first: int = 0) -> list[Feedback]:
    """Rank and learn for some rounds; the log of what was shown and learned."""
    log = []
    for number in range(first, first + rounds):
        log.append(show(policy, world[number % len(world)], seed=number))
        policy.shown(log[-1].ranking)
        policy.learn(log[-1])
    return log


def teach_documents(policy: Policy, width: int) -> tuple[float, float]:
    """Teach that documents with the last feature are liked; the scores of one with it and one without."""
    rng = np.random.default_rng(11)
    for number in range(LESSONS):
        features = np.full((8, width), 0.5)
        features[:, -1] = rng.permutation(8) < 4
        query = Query(f"new {number}", features)
        ranking = policy.rank(query, k=8, rng=np.random.default_rng(number))
        policy.shown(ranking)
        policy.learn(reaction(policy, ranking, features[ranking.order, -1] > 0))
    pair = np.full((2, width), 0.5)
    pair[:, -1] = 1.0, 0.0
    having, lacking = policy.score(Query("pair", pair)).tolist()
    return having, lacking


def teach_context(policy: Policy, width: int) -> tuple[float, float]:
    """Teach that one of two ads is for visitors with the last feature; its lead for them, and for others."""

    def visitor(number: int, has: bool) -> Query:
        features = np.full(width, 0.5)
        features[-1] = has
        return Query(f"new {number}", np.empty((2, 0)), ("for", "against"), context=Context("", features))

    for number in range(2 * LESSONS):
        query = visitor(number, number % 2 == 0)
        ranking = policy.rank(query, k=2, rng=np.random.default_rng(number))
        policy.shown(ranking)
        policy.learn(reaction(policy, ranking, ranking.order == number % 2))
    (for_having, against_having), (for_lacking, against_lacking) = (
        policy.score(visitor(number, number == 0)).tolist() for number in (0, 1)
    )
    return for_having - against_having, for_lacking - against_lacking


def pad_query(query: Query) -> Query:
    """Add new features to a query, all of them 0."""
    features = np.hstack((query.features, np.zeros((query.n_docs, NEW))))
    known = query.context.features
    more = np.append(known, np.zeros(NEW)) if known.size else known
    return replace(query, features=features, context=replace(query.context, features=more))


def count_features(policy: Policy, query: Query) -> int:
    """Count the features that a policy sees in a query."""
    return int((query.context.features if policy.reads == "context" else query.features).shape[-1])


def fresh(make: Make, policy: Policy) -> Policy:
    """Make a policy that knows what another one knows, and has no other memory of it."""
    return make().from_state(stored(policy.state()))


def stored(arrays: State) -> dict[str, Array]:
    """Give the arrays as they come back from a file, in which nothing may be pickled."""
    file = io.BytesIO()
    np.savez(file, allow_pickle=False, **arrays)
    file.seek(0)
    with np.load(file, allow_pickle=False) as archive:
        return dict(archive)


def stored_feedback(feedback: Feedback) -> Feedback:
    """Give the feedback as it comes back from a log."""
    ranking = feedback.ranking
    again = Ranking(ranking.query, ranking.order, stored(ranking.evidence))
    return Feedback(again, feedback.reward, feedback.judged, feedback.signal)


def expect_same(expected: State, found: State, otherwise: str) -> None:
    """Raise `LawBroken` unless two states are equal to the bit."""
    for name in expected.keys() | found.keys():
        if name not in expected or name not in found or not _identical(expected[name], found[name]):
            raise LawBroken(f"{otherwise}: {name!r} differs")


def expect_same_list(expected: Feedback, found: Feedback, otherwise: str) -> None:
    """Raise `LawBroken` unless two rankings show the same with the same evidence."""
    if not np.array_equal(expected.ranking.order, found.ranking.order):
        raise LawBroken(f"{otherwise}: other lists are shown")
    expect_same(expected.ranking.evidence, found.ranking.evidence, otherwise)


def _identical(a: Array, b: Array) -> bool:
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
