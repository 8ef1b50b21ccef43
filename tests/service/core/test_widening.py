"""Features may come and go: what was learned stays."""

from __future__ import annotations

import numpy as np
import pytest

from rankloop.candidate import Candidate
from rankloop.policies import MGD, PDGD, PairRank, PePairRank, Policy, RankNet, ScorerPolicy, Theory
from rankloop.policies.policy_names import POLICIES
from rankloop.service import RankerSettings, UserEvent
from rankloop.service.core.scaling import Running, WithinQuery
from rankloop.service.store import Store, open_temporary_store
from rankloop.types import Feedback, FloatArray, Query, Ranking
from tests.support.life import NAMES, SHORT, Clock, live, make, same, some_candidates, state
from tests.support.limits import keep_snapshots_every

frequent_snapshots = keep_snapshots_every(5)

SERVED = {
    name: kind for name, kind in POLICIES.items() if "clicks" in kind.signals and not kind.refused_in_service
}


def taught(policy: Policy, width: int, *, rounds: int = 20, padding: int = 0) -> Policy:
    """A policy after some lists; with padding, more features that are always 0."""
    rng = np.random.default_rng(0)
    for _ in range(rounds):
        features = np.hstack((rng.random((6, width)), np.zeros((6, padding))))
        query = Query("q", features)
        order = rng.permutation(6)
        evidence = policy.rank(query, k=6, rng=np.random.default_rng(1)).evidence
        policy.learn(Feedback(Ranking(query, order, evidence), features[order, 0] > 0.6))
    return policy


def wider(policy: Policy, width: int) -> Policy:
    found = policy.widened(width)
    assert found is not None
    return found


@pytest.mark.parametrize(
    "policy",
    [
        PairRank(),
        PairRank(certainty=Theory(longest_weights=1.0, longest_difference=1.0)),
        PairRank(update="exact"),
        PDGD(),
        RankNet(learning_rate=0.1),
    ],
    ids=repr,
)
def test_a_wider_policy_is_one_for_which_the_new_features_were_always_0(policy: Policy) -> None:
    fresh = policy.from_state(policy.state())
    grown = wider(taught(policy, 3), 5).state()
    for name, expected in taught(fresh, 3, padding=2).state().items():
        assert grown[name].shape == expected.shape
        np.testing.assert_allclose(grown[name], expected, rtol=1e-7, atol=1e-10, err_msg=name)


@pytest.mark.parametrize(
    "policy", [PairRank(), PDGD(), RankNet(learning_rate=0.1)], ids=lambda e: type(e).__name__
)
def test_weights_stay_to_the_bit_and_those_of_new_features_are_0(policy: Policy) -> None:
    """Which the scores cannot show: with another column, BLAS may add up the same products otherwise."""
    known = taught(policy, 3)
    before, after = (each.state()["parameters"] for each in (known, wider(known, 5)))
    assert before.any()
    np.testing.assert_array_equal(after, np.append(before, [0.0, 0.0]))


@pytest.mark.parametrize("kind", SERVED.values(), ids=SERVED.keys())
def test_every_policy_keeps_its_scores_when_features_appear(kind: type[Policy]) -> None:
    """It takes the new features or, if it cannot, goes on without them."""
    clock = Clock()
    service = make(open_temporary_store(), clock)
    service.create("shop", RankerSettings(policy=kind(), window=60.0))
    live(service, clock, rounds=20)
    service.flush("shop")
    service.set_mode("shop", "exploit")
    plain = some_candidates(np.random.default_rng(5))
    more = [Candidate(each.object_id, {**each.features, "new": 1.0 * i}) for i, each in enumerate(plain)]
    one, other = service.rank(plain, ranker="shop"), service.rank(more, ranker="shop")
    assert one.provenance.fallback is other.provenance.fallback is None
    assert one.object_ids == other.object_ids
    scores = np.array([[entry.score for entry in shown.ranking] for shown in (one, other)])
    # the service scores in single precision, and how BLAS groups a sum depends on its length and the machine
    rounding = 8 * np.finfo(np.float32).eps * np.abs(scores).max()
    np.testing.assert_allclose(scores[0], scores[1], rtol=0, atol=rounding)
    service.record([UserEvent(other.query_id, other.object_ids[3])])
    service.flush("shop")
    assert service.health().rankers["shop"].refused == 0
    assert service.replay(one.query_id).identical
    assert service.replay(other.query_id).identical


@pytest.mark.parametrize(
    "policy", [PairRank(), PePairRank(), PDGD(), MGD(), RankNet()], ids=lambda e: type(e).__name__
)
def test_these_policies_take_new_features(policy: Policy) -> None:
    assert policy.widened(7) is not None


def test_a_new_feature_is_learned(store: Store) -> None:
    clock = Clock()
    service = make(store, clock)
    service.create("shop", SHORT.with_policy(PairRank()))
    live(service, clock, rounds=20)
    rng = np.random.default_rng(0)
    for _ in range(20):
        candidates = [Candidate(f"d{n}", {"bm25": rng.random(), "new": float(n)}) for n in range(5)]
        shown = service.rank(candidates, ranker="shop")
        service.record([UserEvent(shown.query_id, "d4")])
        clock.now += 30.0
    service.flush("shop")
    weights = dict(zip(service.schema("shop"), state(service)["parameters"].tolist(), strict=True))
    assert list(weights) == [*NAMES, "new"]
    assert weights["new"] > 0.5


def test_features_that_appear_after_a_restart_or_a_rollback(store: Store) -> None:
    clock = Clock()
    service = make(store, clock)
    service.create("shop", SHORT)
    live(service, clock, rounds=10)
    service.close()
    service = make(store, clock, prefix="r")
    narrow = service.model("shop").version
    candidates = [Candidate(f"d{n}", {"new": float(n)}) for n in range(4)]
    shown = service.rank(candidates, ranker="shop")
    assert shown.provenance.fallback is None
    service.record([UserEvent(shown.query_id, "d3")])
    service.flush("shop")
    assert service.model("shop").width == 5
    service.rollback("shop", to=narrow)
    assert service.model("shop").width == 4
    again = service.rank(candidates, ranker="shop")
    assert again.provenance.fallback is None
    assert service.replay(again.query_id).identical


def test_directions_of_old_lists_fit_new_features(store: Store) -> None:
    """MGD's evidence is in the space of features: a list shown before a new one came is learned after it."""
    service = make(store)
    service.create("shop", RankerSettings(policy=MGD(step=1.0)))
    old = service.rank(some_candidates(np.random.default_rng(0)), ranker="shop")
    new = service.rank([Candidate("a", {"new": 1.0}), Candidate("b", {"new": 0.0})], ranker="shop")
    service.record([UserEvent(new.query_id, new.object_ids[0])])
    for name in old.object_ids[:2]:
        service.record([UserEvent(old.query_id, name)])
    service.flush("shop")
    assert service.health().rankers["shop"].refused == 0
    assert service.model("shop").lists == 2


class Stubborn(ScorerPolicy):
    """A policy with a memory that nobody can widen."""

    def rank(self, query: Query, *, k: int, rng: np.random.Generator) -> Ranking:
        return Ranking(query, np.argsort(-self.score(query), kind="stable")[:k])

    def learn(self, feedback: Feedback) -> None:
        features = feedback.ranking.query.features[feedback.ranking.order]
        self.parameters = self.parameters_for(features) + feedback.clicks @ features


class Knowing(Stubborn):
    """A policy that says how it grows."""

    def widened(self, n_features: int) -> Knowing:
        more = n_features - len(self.parameters)
        return self.from_state({"parameters": np.pad(self.parameters, (0, more), constant_values=7.0)})


def test_a_policy_can_say_itself_how_it_grows() -> None:
    service = make(open_temporary_store(), policies=[Knowing])
    service.create("shop", RankerSettings(policy=Knowing()))
    for features in ({"x": 1.0}, {"x": 1.0, "y": 1.0}):
        shown = service.rank([Candidate("a", features), Candidate("b")], ranker="shop")
        service.record([UserEvent(shown.query_id, "b")])
        service.flush("shop")
    assert state(service)["parameters"].tolist() == [0.0, 7.0]


# scaling


def test_within_a_query_the_least_is_0_and_the_greatest_1() -> None:
    raw = np.array([[5.0, 1.0, np.nan], [7.0, 1.0, 3.0], [6.0, np.nan, np.nan]])
    assert WithinQuery().apply(raw).tolist() == [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.5, 0.0, 0.0]]


def test_running_moments_are_those_of_all_rows() -> None:
    rng = np.random.default_rng(0)
    lists = [rng.normal(5, 3, (n, 3)) for n in (2, 7, 1, 12)]
    scale = Running()
    for each in lists:
        scale = scale.after(each)
    rows = np.vstack(lists)
    np.testing.assert_allclose(scale.mean, rows.mean(axis=0))
    np.testing.assert_allclose(np.sqrt(scale.squares / scale.count), rows.std(axis=0))
    expected: FloatArray = np.clip((rows - rows.mean(axis=0)) / rows.std(axis=0), -3, 3)
    np.testing.assert_allclose(scale.apply(rows), expected)


def test_running_moments_pass_over_what_is_missing_and_grow() -> None:
    scale = Running().after(np.array([[1.0], [3.0], [np.nan]])).after(np.array([[2.0, 5.0], [2.0, 7.0]]))
    assert scale.count.tolist() == [4.0, 2.0]
    assert scale.mean.tolist() == [2.0, 6.0]
    assert scale.apply(np.array([[2.0, np.nan]])).tolist() == [[0.0, 0.0]]
    assert scale.after(np.array([[2.0]])).count.tolist() == [5.0, 2.0], "a list of fewer features"


@pytest.mark.parametrize(
    "scale", [WithinQuery(), Running().after(np.array([[0.0], [1.0]]))], ids=["query", "running"]
)
def test_extremes_stay_finite(scale: WithinQuery | Running) -> None:
    raw = np.array([[-1e100], [1e100], [5e-324], [0.0]])
    assert np.isfinite(scale.apply(raw)).all()
    assert np.isfinite(scale.after(raw).apply(raw)).all()


def test_running_scaling_is_part_of_the_model(store: Store) -> None:
    clock = Clock()
    service = make(store, clock)
    service.create("shop", RankerSettings(scaling="running", window=60.0))
    live(service, clock, rounds=20)
    version, expected = service.model("shop").version, state(service)
    live(service, clock, rounds=20, seed=1)
    assert not same(state(service), expected)
    service.rollback("shop", to=version)
    assert same(state(service), expected)
