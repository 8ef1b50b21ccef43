"""Law 5: features that appear later are learned; a policy that cannot take more says so."""

from __future__ import annotations

from contextlib import suppress

import numpy as np

from rankloop.checks.life import LawBroken, Make, expect_same, live, reaction, show, small_world
from rankloop.policies import Policy
from rankloop.types import Feedback, Query, Ranking, RankingError, RankloopError

ROUNDS = 12
LESSONS = 60
NEW = 2  # features that appear


def features_that_appear_later_are_learned(make: Make) -> None:
    """Law 5: a policy goes on with more features, or says that it cannot.

    What it knew stays: had the new features always been 0, the same policy would be there. Late feedback on
    lists from before is learned as if they had been. And lessons in which only a new feature matters are
    learned from. A policy whose `widened` is `None` has said that it ignores what is new.
    """
    world, policy = small_world(), make()
    live(policy, world, rounds=ROUNDS)
    late = [show(policy, world[number], seed=500 + number) for number in range(5)]
    before = policy.state()
    try:
        wider = policy.widened(world.n_features + NEW)
        expect_same(before, policy.state(), "widened changed the policy that it was asked of")
        if wider is None:
            return
        queries = [judged.query for judged in world]
        _expect_same_scores(policy, wider, queries, "after widening, documents have other scores than before")
        _late_feedback_fits(policy, wider, late, queries)
        _new_feature_is_learned(wider, world.n_features, learns=_has_learned(make, policy))
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
        evidence = wider.widened_evidence(ranking.evidence, query.features.shape[1])
        again = Ranking(query, ranking.order, evidence)
        with suppress(RankingError):
            other.learn(Feedback(again, feedback.reward, feedback.known, feedback.signal))
            one.learn(feedback)
    _expect_same_scores(
        one, other, queries, "a list from before a feature appeared was learned otherwise after"
    )


def _new_feature_is_learned(policy: Policy, known: int, *, learns: bool) -> None:
    """Among documents that differ in the last feature only, those that have it are liked."""
    rng = np.random.default_rng(11)
    for number in range(LESSONS):
        features = np.full((8, known + NEW), 0.5)
        features[:, -1] = rng.permutation(8) < 4
        query = Query(f"new {number}", features)
        ranking = policy.rank(query, k=8, rng=np.random.default_rng(number))
        policy.shown(ranking)
        policy.learn(reaction(policy, ranking, features[ranking.order, -1] > 0))
    pair = np.full((2, known + NEW), 0.5)
    pair[:, -1] = 1.0, 0.0
    having, lacking = policy.score(Query("pair", pair)).tolist()
    if learns and not having > lacking:
        raise LawBroken(
            f"after {LESSONS} lists in which only a new feature mattered, a document that has it scores "
            f"{having:.3g} and one that lacks it {lacking:.3g}: a policy that cannot take new features has "
            "a `widened` that returns None"
        )


def _has_learned(make: Make, policy: Policy) -> bool:
    start, now = make().state(), policy.state()
    return any(
        start[name].shape != now[name].shape or not np.array_equal(start[name], now[name]) for name in start
    )


def _padded(query: Query) -> Query:
    return Query(query.id, np.hstack((query.features, np.zeros((query.n_docs, NEW)))), query.doc_ids)
