import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import Ridge
from threadpoolctl import threadpool_limits

from rankloop.errors import SettingError
from rankloop.lab.data import (
    WORLDS,
    Ads,
    Independent,
    Items,
    Linear,
    Nonlinear,
    Separable,
    World,
    describe,
    effective_rank,
    normalise_per_query,
    prepare,
    world,
)
from rankloop.types import FloatArray, QuerySet

SMALL = {"queries": 30, "test_queries": 20}


def small(kind: type[World], *, seed: int = 0) -> World:
    return kind(**SMALL, seed=seed)


def mean_ndcg(scores: FloatArray, queries: QuerySet) -> float:
    """The plain definition of nDCG@10, over queries with a relevant document."""
    discounts = 1 / np.log2(np.arange(2, 12))
    values = []
    for index, judged in enumerate(queries):
        gains = 2.0**judged.relevance - 1
        shown = scores[queries.offsets[index] : queries.offsets[index + 1]]
        if gains.any():
            dcg = (gains[np.argsort(-shown)][:10] * discounts[: gains.size]).sum()
            values.append(dcg / (np.sort(gains)[::-1][:10] * discounts[: gains.size]).sum())
    return float(np.mean(values))


@pytest.mark.parametrize("kind", WORLDS.values(), ids=list(WORLDS))
def test_a_world_is_determined_by_its_options(kind: type[World]) -> None:
    first, again, other = small(kind).dataset(), small(kind).dataset(), small(kind, seed=1).dataset()
    for left, right in zip(first.parts, again.parts, strict=True):
        assert left.features.tobytes() == right.features.tobytes()
        assert left.relevance.tobytes() == right.relevance.tobytes()
    assert first.fingerprint == again.fingerprint != other.fingerprint
    assert first.train.relevance.tobytes() != other.train.relevance.tobytes()


@pytest.mark.parametrize("kind", [kind for kind in WORLDS.values() if kind not in (Ads, Items)])
def test_a_world_has_the_size_it_was_asked_for(kind: type[World]) -> None:
    data = kind(**SMALL, min_documents=5, max_documents=9).dataset()
    assert (len(data.train), len(data.test), data.vali) == (30, 20, None)
    for part in data.parts:
        facts = describe(part)
        assert 5 <= facts.fewest_documents <= facts.most_documents <= 9
        assert part.features.dtype == np.float32
        assert np.isfinite(part.features).all()
    assert not set(data.train.ids) & set(data.test.ids)


@pytest.mark.parametrize("kind", WORLDS.values(), ids=list(WORLDS))
def test_a_world_refuses_impossible_sizes(kind: type[World]) -> None:
    with pytest.raises(SettingError, match="queries: expected at least 1, found 0"):
        kind(queries=0)
    with pytest.raises(SettingError, match="max_documents: expected at least 9, found 8"):
        kind(min_documents=9, max_documents=8)
    with pytest.raises(SettingError, match="seed: expected at least 0, found -1"):
        kind(seed=-1)


def test_the_items_world_has_the_same_items_in_every_query_and_flips_their_grades() -> None:
    made = Items(queries=400, test_queries=5, m=8, relevant=3, flip=0.2, seed=4)
    train = made.dataset().train
    assert {tuple(judged.query.doc_ids) for judged in train} == {tuple(f"item {i}" for i in range(1, 9))}
    grades = train.relevance.reshape(400, 8)
    assert made.truth.sum() == 3
    assert (grades != made.truth).mean(axis=0) == pytest.approx(np.full(8, 0.2), abs=0.08)
    assert world("items:m=8,relevant=3,flip=0.2,seed=4,queries=400,test_queries=5") == made


def test_worlds_refuse_impossible_options() -> None:
    with pytest.raises(SettingError, match="1 <= relevant <= m and flip from 0 to 1, found relevant=9, m=8"):
        Items(m=8, relevant=9)
    with pytest.raises(SettingError, match="give m instead of documents"):
        Items(max_documents=12)
    with pytest.raises(SettingError, match="noise >= 0, found 20 and -1"):
        Linear(noise=-1)
    with pytest.raises(SettingError, match="noise: expected at least 0, found -1"):
        Nonlinear(noise=-1)
    with pytest.raises(SettingError, match="margin > 0 and spread >= 0, found 20, 5, 0 and 0"):
        Separable(margin=0)


def test_the_linear_world_is_learned_by_a_linear_ranker() -> None:
    data = Linear(noise=0.0).dataset()
    model = Ridge(alpha=0.1).fit(data.train.features, data.train.relevance)
    assert mean_ndcg(model.predict(data.test.features), data.test) > 0.95
    assert data.train.features.min() >= 0
    assert data.train.features.max() <= 1
    assert data.train.grades == 5


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("margin", [0.01, 0.1, 1.0])
def test_the_separable_world_keeps_its_margin(seed: int, margin: float) -> None:
    made = Separable(margin=margin, seed=seed)
    queries = made.query_set()
    assert np.square(made.weights).sum() == pytest.approx(1)
    assert queries.grades == 5
    for judged in queries:
        scores, grades = judged.query.features.astype(float) @ made.weights, judged.relevance
        better = grades[:, None] > grades[None, :]
        assert (scores[:, None] - scores[None, :])[better].min() >= margin


def test_the_nonlinear_world_has_the_shape_of_mslr() -> None:
    facts = describe(Nonlinear(queries=200, test_queries=50).query_set())
    assert facts.features == 136
    assert 40 <= facts.fewest_documents < 60
    assert 100 < facts.median_documents < 140
    assert 180 < facts.most_documents <= 200
    assert facts.grade_shares == pytest.approx((0.52, 0.32, 0.13, 0.02, 0.01), abs=0.001)
    assert 0.005 <= facts.queries_without_relevant / facts.queries <= 0.08


def test_twenty_features_of_the_nonlinear_world_belong_to_the_query() -> None:
    data = Nonlinear(queries=50, test_queries=10).dataset()
    assert data.train.n_features == 136
    assert prepare(data).train.n_features == 116


def test_a_linear_ranker_is_not_enough_for_the_nonlinear_world() -> None:
    data = prepare(Nonlinear(queries=200, test_queries=150).dataset())
    chance = mean_ndcg(np.random.default_rng(0).random(len(data.test.features)), data.test)
    ridge = Ridge(alpha=1.0).fit(data.train.features, data.train.relevance)
    trees = HistGradientBoostingRegressor(max_iter=40, random_state=0)
    with threadpool_limits(1):  # more threads than idle cores make it ten times slower
        trees.fit(data.train.features, data.train.relevance)
    linear, nonlinear = (mean_ndcg(model.predict(data.test.features), data.test) for model in (ridge, trees))
    assert chance + 0.1 < linear < nonlinear - 0.05


def test_features_of_the_nonlinear_world_are_as_redundant_as_real_ones() -> None:
    redundant, independent = (
        effective_rank(prepare(kind(queries=200, test_queries=1).dataset()).train)
        for kind in (Nonlinear, Independent)
    )
    assert 7 < redundant < 10  # MSLR-WEB30K, MQ2007 and MQ2008: 7.2, 7.0 and 7.8
    assert independent > 20


def test_families_err_alike_only_in_the_nonlinear_world() -> None:
    for kind, strongest in ((Nonlinear, 0.99), (Independent, 0.9)):
        scores = normalise_per_query(kind(queries=30, test_queries=1).query_set()).features[:, 60:110]
        alike = np.abs(np.corrcoef(scores.T) - np.eye(50)).max()
        assert (alike > strongest) == (kind is Nonlinear)


def test_worlds_are_made_by_name() -> None:
    assert world("linear") == Linear()
    assert world("nonlinear:queries=2000,seed=3") == Nonlinear(queries=2000, seed=3)
    assert world("independent:noise=1") == Independent(noise=1.0) != Nonlinear(noise=1.0)
    assert world("separable:margin=0.5") == Separable(margin=0.5)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("liner", "did you mean 'linear'. choose from linear, nonlinear, independent, separable"),
        ("", "no synthetic world is called ''"),
        ("linear:querys=3", "the linear world has no option 'querys': did you mean 'queries'."),
        (
            "linear:margin=3",
            "has no option 'margin': .*choose from queries, test_queries, .*, features, noise",
        ),
        ("linear:queries=many", "option queries: expected queries=<a whole number>, found 'queries=many'"),
        ("linear:queries=1.5", "expected queries=<a whole number>, found 'queries=1.5'"),
        ("linear:noise", "option noise: expected noise=<a number>, found 'noise'"),
        ("linear:queries=-3", "queries: expected at least 1, found -3"),
    ],
)
def test_unknown_names_and_options_get_a_suggestion(name: str, message: str) -> None:
    with pytest.raises(SettingError, match=message):
        world(name)
