"""Grading a whole set at once says the same as grading its lists one by one."""

from __future__ import annotations

from itertools import groupby, permutations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankloop.errors import RankingError
from rankloop.metrics import AP, DCG, ERR, MRR, NDCG, Metric, PairwiseRegret, Precision
from rankloop.metrics.ranked_rows import RankedRows
from rankloop.query_set import QuerySet
from rankloop.types import FloatArray, IntArray

TIE_AWARE: list[Metric] = [
    *(kind(k=k) for kind in (DCG, NDCG, Precision, AP, MRR) for k in (None, 1, 3, 10)),
    *(kind(k=2, relevant_from=2) for kind in (Precision, AP, MRR)),
    PairwiseRegret(),
]
EVERY_METRIC: list[Metric] = [*TIE_AWARE, ERR(), ERR(k=2), ERR(k=10)]


def judged(*grades: list[int]) -> QuerySet:
    offsets = np.cumsum([0, *map(len, grades)])
    relevance = np.array([grade for query in grades for grade in query])
    return QuerySet(np.zeros((len(relevance), 1)), offsets, relevance, tuple(map(str, range(len(grades)))))


def slices(queries: QuerySet) -> list[slice]:
    return [slice(start, end) for start, end in zip(queries.offsets[:-1], queries.offsets[1:], strict=True)]


def orders_of_ties(scores: FloatArray) -> list[IntArray]:
    """Every order that sorts by falling score, tied documents in all their orders."""
    best_first = sorted(range(len(scores)), key=lambda row: -scores[row])
    groups = [list(rows) for _, rows in groupby(best_first, key=lambda row: scores[row])]
    return [np.array(sum(parts, ())) for parts in product(*map(permutations, groups))]


sets = st.lists(st.lists(st.integers(0, 4), min_size=1, max_size=5), min_size=1, max_size=6).map(
    lambda grades: judged(*grades)
)
seeds = st.integers(0, 2**32 - 1)


@pytest.mark.parametrize("metric", EVERY_METRIC, ids=str)
@settings(max_examples=50)
@given(queries=sets, seed=seeds)
def test_without_ties_it_is_the_metric_of_every_list(metric: Metric, queries: QuerySet, seed: int) -> None:
    scores = np.random.default_rng(seed).permutation(len(queries.relevance)).astype(float)
    expected = [metric(np.argsort(-scores[rows]), queries.relevance[rows]) for rows in slices(queries)]
    np.testing.assert_allclose(metric.per_query(scores, queries), expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("metric", TIE_AWARE, ids=str)
@settings(max_examples=30)
@given(queries=sets, seed=seeds)
def test_with_ties_it_is_the_mean_over_all_orders(metric: Metric, queries: QuerySet, seed: int) -> None:
    scores = np.random.default_rng(seed).integers(0, 3, len(queries.relevance)).astype(float)
    expected = [
        np.mean([metric(order, queries.relevance[rows]) for order in orders_of_ties(scores[rows])])
        for rows in slices(queries)
    ]
    np.testing.assert_allclose(metric.per_query(scores, queries), expected, rtol=0, atol=1e-12)


@given(queries=sets)
def test_err_leaves_ties_in_the_order_of_the_set(queries: QuerySet) -> None:
    expected = [ERR()(np.arange(rows.stop - rows.start), queries.relevance[rows]) for rows in slices(queries)]
    value = ERR().per_query(np.zeros(len(queries.relevance)), queries)
    np.testing.assert_allclose(value, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("metric", EVERY_METRIC, ids=str)
def test_a_query_without_a_relevant_document_has_the_value_zero(metric: Metric) -> None:
    assert metric.per_query(np.array([0.3, 0.1]), judged([0, 0])).tolist() == [0.0]
    assert metric(np.array([1, 0]), np.array([0, 0])) == 0.0


@pytest.mark.parametrize("metric", EVERY_METRIC, ids=str)
@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int32])
def test_small_integers_lose_no_precision(metric: Metric, kind: type[np.integer]) -> None:
    wide = judged([4, 0, 3], [1, 2, 0, 0])
    narrow = QuerySet(wide.features, wide.offsets, wide.relevance.astype(kind), wide.ids)
    scores = np.array([0.1, 0.5, 0.5, 0.0, 3.0, 2.0, 2.0])
    assert metric.per_query(scores, narrow).tolist() == metric.per_query(scores, wide).tolist()
    assert metric(np.array([1, 2]), narrow.relevance[:3]) == metric(np.array([1, 2]), wide.relevance[:3])


def test_long_ties_do_not_overflow() -> None:
    n, relevant = 3000, 1500
    queries = judged([1] * relevant + [0] * (n - relevant))
    first = [
        np.prod([(n - relevant - j) / (n - j) for j in range(i)]) * relevant / (n - i) for i in range(200)
    ]
    expected = sum(chance / (i + 1) for i, chance in enumerate(first))
    assert MRR().per_query(np.zeros(n), queries)[0] == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("metric", EVERY_METRIC, ids=str)
def test_infinite_scores_are_ranked_and_zeros_of_either_sign_tie(metric: Metric) -> None:
    queries = judged([0, 2, 1, 0])
    extreme = metric.per_query(np.array([0.0, np.inf, -0.0, -np.inf]), queries)
    assert extreme.tolist() == metric.per_query(np.array([1.0, 2.0, 1.0, 0.0]), queries).tolist()


@pytest.mark.parametrize("metric", EVERY_METRIC, ids=str)
def test_scores_that_cannot_be_ranked_are_refused(metric: Metric) -> None:
    with pytest.raises(RankingError, match="one score for each of the 3 documents"):
        metric.per_query(np.zeros(2), judged([0, 1, 2]))
    with pytest.raises(RankingError, match="1 of 3 scores are NaN"):
        metric.per_query(np.array([0.0, np.nan, 1.0]), judged([0, 1, 2]))


@pytest.mark.parametrize("metric", EVERY_METRIC, ids=str)
@settings(max_examples=50)
@given(queries=sets, seed=seeds, k=st.integers(1, 5))
def test_many_lists_are_graded_to_the_bit_as_one_by_one(
    metric: Metric, queries: QuerySet, seed: int, k: int
) -> None:
    """Except that ideals known before may be summed in another order than that of a single list."""
    rng = np.random.default_rng(seed)
    long = [index for index, rows in enumerate(slices(queries)) if rows.stop - rows.start >= k]
    asked = rng.choice(long, size=7) if long else np.empty(0, dtype=np.int64)
    lists = [rng.permutation(queries[index].query.n_docs)[:k] for index in asked.tolist()]
    found = metric.grader(queries)(asked, np.array(lists, dtype=np.int64).reshape(-1, k))
    ideals = metric.ideal(queries) if isinstance(metric, NDCG) else np.zeros(len(queries))
    expected = [
        metric.given_ideal(order, queries[index].relevance, ideals[index])
        if isinstance(metric, NDCG)
        else metric(order, queries[index].relevance)
        for index, order in zip(asked.tolist(), lists, strict=True)
    ]
    assert found.tolist() == expected


@pytest.mark.parametrize("metric", EVERY_METRIC, ids=str)
@settings(max_examples=20)
@given(queries=sets, seed=seeds)
def test_scores_are_graded_again_as_the_first_time(metric: Metric, queries: QuerySet, seed: int) -> None:
    grade, rng = metric.scores_grader(queries), np.random.default_rng(seed)
    for scores in rng.integers(0, 3, (3, len(queries.relevance))).astype(float):
        assert grade(scores).tolist() == metric.per_query(scores, queries).tolist()


@pytest.mark.parametrize("k", [10, 33, 100])
def test_long_lists_have_the_bits_of_one_by_one_too(k: int) -> None:
    rng = np.random.default_rng(k)
    queries, metric = judged(*rng.integers(0, 5, (4, 120)).tolist()), NDCG(k=None)
    asked, lists = np.arange(40) % 4, rng.permuted(np.tile(np.arange(120), (40, 1)), axis=1)[:, :k]
    ideal = metric.ideal(queries)
    expected = [
        metric.given_ideal(order, queries[index].relevance, ideal[index])
        for index, order in zip(asked.tolist(), lists, strict=True)
    ]
    assert metric.grader(queries)(asked, lists).tolist() == expected


@given(queries=sets, seed=seeds, grades=st.integers(1, 9))
def test_rows_are_sorted_by_query_then_score_then_as_they_came(
    queries: QuerySet, seed: int, grades: int
) -> None:
    scores = np.random.default_rng(seed).integers(-grades, grades, len(queries.relevance)) / 2.0
    scores[scores == 0] *= np.random.default_rng(seed).choice([-1, 1], np.count_nonzero(scores == 0))
    key = [
        (index, -scores[row], row)
        for index, rows in enumerate(slices(queries))
        for row in range(len(scores))[rows]
    ]
    expected = sorted(key)
    ranked = RankedRows.of(scores, queries)
    assert ranked.rows.tolist() == [row for _, _, row in expected]
    places = [n for n, each in enumerate(expected) if not n or each[:2] != expected[n - 1][:2]]
    assert ranked.group_starts.tolist() == places
