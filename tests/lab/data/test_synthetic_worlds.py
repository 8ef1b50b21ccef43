import re
from typing import get_args

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import Ridge
from threadpoolctl import threadpool_limits

from rankloop.errors import SettingError
from rankloop.lab.data import (
    WORLDS,
    concatenate,
    effective_rank,
    make_dataset,
    normalise_per_query,
    prepare,
    summarise_queries,
)
from rankloop.lab.data.synthetic_worlds import draw_direction, draw_relevant_items
from rankloop.query_set import QuerySet
from rankloop.types import FloatArray

SMALL = {"queries": 30, "test_queries": 20}


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


@pytest.mark.parametrize("name", WORLDS)
def test_a_world_is_determined_by_its_options(name: str) -> None:
    first, again, other = (make_dataset(name, **SMALL, seed=seed) for seed in (0, 0, 1))
    for left, right in zip(first.parts, again.parts, strict=True):
        assert left.features.tobytes() == right.features.tobytes()
        assert left.relevance.tobytes() == right.relevance.tobytes()
    assert first.fingerprint == again.fingerprint != other.fingerprint
    assert first.fingerprint != make_dataset(name, **{**SMALL, "queries": 31}).fingerprint
    assert first.train.relevance.tobytes() != other.train.relevance.tobytes()


@pytest.mark.parametrize("name", [name for name, world in WORLDS.items() if not world.lacks])
def test_a_world_has_the_size_it_was_asked_for(name: str) -> None:
    data = make_dataset(name, **SMALL, min_documents=5, max_documents=9)
    assert (len(data.train), len(data.test), data.vali) == (30, 20, None)
    for part in data.parts:
        facts = summarise_queries(part)
        assert 5 <= facts.fewest_documents <= facts.most_documents <= 9
        assert part.features.dtype == np.float32
        assert np.isfinite(part.features).all()
    assert not set(data.train.ids) & set(data.test.ids)


def test_the_items_world_has_the_same_items_in_every_query_and_flips_their_grades() -> None:
    train = make_dataset("items", queries=400, test_queries=5, m=8, relevant=3, flip=0.2, seed=4).train
    assert {tuple(judged.query.doc_ids) for judged in train} == {tuple(f"item {i}" for i in range(1, 9))}
    grades, truth = train.relevance.reshape(400, 8), draw_relevant_items(8, 3, seed=4)
    assert truth.sum() == 3
    assert (grades != truth).mean(axis=0) == pytest.approx(np.full(8, 0.2), abs=0.08)


@pytest.mark.parametrize("name", WORLDS)
def test_every_option_of_a_world_has_a_range_that_is_enforced(name: str) -> None:
    """One below the least is refused, and so are texts and, where numbers are whole, fractions."""
    for option, hint in WORLDS[name].options.items():
        kind, allowed = get_args(hint)
        wrong = [allowed.at_least - 1, "many", True, float("nan"), np.inf, *([1.5] if kind is int else [])]
        for value in [*wrong, *([allowed.at_most + 1] if allowed.at_most else [])]:
            with pytest.raises(SettingError, match=rf"{option} must be a .*, found {re.escape(repr(value))}"):
                make_dataset(name, **{option: value})


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("liner", {}, "did you mean 'linear'. choose from linear, nonlinear, independent, separable"),
        ("linear", {"querys": 3}, "the linear world has no option 'querys': did you mean 'queries'."),
        ("linear", {"margin": 3}, "has no option 'margin': .*choose from queries, .*, features, noise"),
        ("linear", {"queries": 0}, "the linear world: queries must be a whole number of at least 1, found 0"),
        (
            "linear",
            {"min_documents": 9, "max_documents": 8},
            "max_documents must be at least min_documents, found 8 and 9",
        ),
        ("items", {"flip": 1.5}, "the items world: flip must be a number from 0 to 1, found 1.5"),
        ("items", {"m": 8, "relevant": 9}, "relevant: expected at most m, found relevant=9 and m=8"),
        ("items", {"max_documents": 12}, "the items world has no option 'max_documents'"),
    ],
)
def test_unknown_worlds_and_options_get_a_suggestion(
    name: str, options: dict[str, object], message: str
) -> None:
    with pytest.raises(SettingError, match=message):
        make_dataset(name, **options)


def test_the_linear_world_is_learned_by_a_linear_ranker() -> None:
    data = make_dataset("linear", noise=0.0)
    model = Ridge(alpha=0.1).fit(data.train.features, data.train.relevance)
    assert mean_ndcg(model.predict(data.test.features), data.test) > 0.95
    assert data.train.features.min() >= 0
    assert data.train.features.max() <= 1
    assert data.train.grades == 5


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("margin", [0.01, 0.1, 1.0])
def test_the_separable_world_keeps_its_margin(seed: int, margin: float) -> None:
    queries, direction = make_dataset("separable", margin=margin, seed=seed).train, draw_direction(20, seed)
    assert np.square(direction).sum() == pytest.approx(1)
    assert queries.grades == 5
    for judged in queries:
        scores, grades = judged.query.features.astype(float) @ direction, judged.relevance
        better = grades[:, None] > grades[None, :]
        assert (scores[:, None] - scores[None, :])[better].min() >= margin


def test_the_nonlinear_world_has_the_shape_of_mslr() -> None:
    facts = summarise_queries(concatenate(*make_dataset("nonlinear", queries=200, test_queries=50).parts))
    assert facts.features == 136
    assert 40 <= facts.fewest_documents < 60
    assert 100 < facts.median_documents < 140
    assert 180 < facts.most_documents <= 200
    assert facts.grade_shares == pytest.approx((0.52, 0.32, 0.13, 0.02, 0.01), abs=0.001)
    assert 0.005 <= facts.queries_without_relevant / facts.queries <= 0.08


def test_twenty_features_of_the_nonlinear_world_belong_to_the_query() -> None:
    data = make_dataset("nonlinear", queries=50, test_queries=10)
    assert data.train.n_features == 136
    assert prepare(data).train.n_features == 116


def test_a_linear_ranker_is_not_enough_for_the_nonlinear_world() -> None:
    data = prepare(make_dataset("nonlinear", queries=200, test_queries=150))
    chance = mean_ndcg(np.random.default_rng(0).random(len(data.test.features)), data.test)
    ridge = Ridge(alpha=1.0).fit(data.train.features, data.train.relevance)
    trees = HistGradientBoostingRegressor(max_iter=40, random_state=0)
    with threadpool_limits(1):  # more threads than idle cores make it ten times slower
        trees.fit(data.train.features, data.train.relevance)
    linear, nonlinear = (mean_ndcg(model.predict(data.test.features), data.test) for model in (ridge, trees))
    assert chance + 0.1 < linear < nonlinear - 0.05


def test_features_of_the_nonlinear_world_are_as_redundant_as_real_ones() -> None:
    redundant, independent = (
        effective_rank(prepare(make_dataset(name, queries=200, test_queries=1)).train)
        for name in ("nonlinear", "independent")
    )
    assert 7 < redundant < 10  # MSLR-WEB30K, MQ2007 and MQ2008: 7.2, 7.0 and 7.8
    assert independent > 20


def test_families_err_alike_only_in_the_nonlinear_world() -> None:
    for name, strongest in (("nonlinear", 0.99), ("independent", 0.9)):
        scores = normalise_per_query(make_dataset(name, queries=30).train).features[:, 60:110]
        alike = np.abs(np.corrcoef(scores.T) - np.eye(50)).max()
        assert (alike > strongest) == (name == "nonlinear")
