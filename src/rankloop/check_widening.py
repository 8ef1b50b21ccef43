"""Law 5: features that appear later are learned; a policy that cannot take more says so."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

import numpy as np

from rankloop.check_worlds import LawBroken, Make, expect_same, live, reaction, show, world_for
from rankloop.errors import RankingError, RankloopError
from rankloop.policies import Policy
from rankloop.types import Context, Feedback, Query, Ranking

ROUNDS = 12
LESSONS = 60
NEW = 2  # features that appear


def features_that_appear_later_are_learned(make: Make) -> None:
    """Law 5: a policy goes on with more features, or says that it cannot.

    What it knew stays: had the new features always been 0, the same policy would be there. Late feedback on
    lists from before is learned as if they had been. And lessons in which only a new feature matters are
    learned from. A policy whose `widened` is `None` has said that it ignores what is new.
    """
    policy = make()
    world = world_for(policy)
    known = world.n_features if world.contexts is None else int(world.contexts.shape[1])
    live(policy, world, rounds=ROUNDS)
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
        _new_feature_is_learned(wider, known, learns=_has_learned(make, policy))
    except RankloopError as error:
        raise LawBroken(
            f"a widened policy refused a list of the width that it was widened to: {error}"
        ) from error
    except (ValueError, IndexError, TypeError) as error:
        raise LawBroken(f"a widened policy failed: {type(error).__name__}: {error}") from error


def _expect_same_scores(policy: Policy, wider: Policy, queries: list[Query], otherwise: str) -> None:
    for query in queries:
        expected, found = policy.score(query), wider.score(_padded(query))
        if not np.allclose(expected, found, rtol=1e-6, atol=1e-9 * (1 + np.abs(expected).max())):
            raise LawBroken(otherwise)


def _late_feedback_fits(policy: Policy, wider: Policy, late: list[Feedback], queries: list[Query]) -> None:
    """Learning and widening may change places; refusing what is too old is allowed."""
    one, other = policy.from_state(policy.state()), wider.from_state(wider.state())
    for feedback in late:
        ranking, query = feedback.ranking, _padded(feedback.ranking.query)
        evidence = wider.widened_evidence(ranking.evidence, _width(wider, query))
        again = Ranking(query, ranking.order, evidence)
        with suppress(RankingError):
            other.learn(Feedback(again, feedback.reward, feedback.judged, feedback.signal))
            one.learn(feedback)
    _expect_same_scores(
        one, other, queries, "a list from before a feature appeared was learned otherwise after"
    )


def _new_feature_is_learned(policy: Policy, known: int, *, learns: bool) -> None:
    """A document that has a new feature is liked or, where contexts matter, an ad by whoever has it."""
    teach = _teach_context if policy.reads == "context" else _teach_documents
    having, lacking = teach(policy, known + NEW)
    if learns and not having > lacking:
        raise LawBroken(
            f"after {LESSONS} lists in which only a new feature mattered, what has it scores {having:.3g} "
            f"and what lacks it {lacking:.3g}: a policy that cannot take new features has a `widened` that "
            "returns None"
        )


def _teach_documents(policy: Policy, width: int) -> tuple[float, float]:
    """Documents that differ in the last feature only; how those score that have it, and that lack it."""
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


def _teach_context(policy: Policy, width: int) -> tuple[float, float]:
    """Two ads, one for those who have the last feature; how far it is ahead for them, and for others."""

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


def _has_learned(make: Make, policy: Policy) -> bool:
    start, now = make().state(), policy.state()
    return any(
        start[name].shape != now[name].shape or not np.array_equal(start[name], now[name]) for name in start
    )


def _padded(query: Query) -> Query:
    features = np.hstack((query.features, np.zeros((query.n_docs, NEW))))
    known = query.context.features
    more = np.append(known, np.zeros(NEW)) if known.size else known
    return replace(query, features=features, context=replace(query.context, features=more))


def _width(policy: Policy, query: Query) -> int:
    """How many features a policy sees in a query."""
    return int((query.context.features if policy.reads == "context" else query.features).shape[-1])
