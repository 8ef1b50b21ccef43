"""Our metrics agree with scikit-learn and with trec_eval (through ir-measures)."""

from __future__ import annotations

from typing import Any

import ir_measures
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import dcg_score, ndcg_score

from rankloop.metrics import AP, DCG, MRR, NDCG, Metric, Precision
from rankloop.query_set import QuerySet
from rankloop.types import FloatArray, IntArray

EXPONENTIAL = {grade: 2**grade - 1 for grade in range(5)}
CUTOFFS = [None, 1, 5, 10]
TREC: list[tuple[Metric, Any]] = [
    (NDCG(k=10), ir_measures.nDCG(gains=EXPONENTIAL) @ 10),
    (NDCG(k=3), ir_measures.nDCG(gains=EXPONENTIAL) @ 3),
    (NDCG(), ir_measures.nDCG(gains=EXPONENTIAL)),
    (AP(), ir_measures.AP),
    (AP(k=3), ir_measures.AP @ 3),
    (AP(relevant_from=2), ir_measures.AP(rel=2)),
    (MRR(), ir_measures.RR),
    (MRR(relevant_from=3), ir_measures.RR(rel=3)),
    (Precision(k=5), ir_measures.P @ 5),
    (Precision(k=3, relevant_from=2), ir_measures.P(rel=2) @ 3),
]

grades_of_one = st.lists(st.integers(0, 4), min_size=1, max_size=25).map(np.array)
grades_of_many = grades_of_one.filter(lambda grades: len(grades) > 1)  # scikit-learn refuses one document
seeds = st.integers(0, 2**32 - 1)


def one_query(relevance: IntArray) -> QuerySet:
    return QuerySet(np.zeros((len(relevance), 1)), np.array([0, len(relevance)]), relevance, ("q",))


def trec_eval(measure: Any, scores: FloatArray, relevance: IntArray) -> float:
    judgements = {"q": {str(row): int(grade) for row, grade in enumerate(relevance)}}
    run = {"q": {str(row): float(score) for row, score in enumerate(scores)}}
    (result,) = ir_measures.pytrec_eval.iter_calc([measure], judgements, run)
    return float(result.value)


@pytest.mark.parametrize("k", CUTOFFS)
@given(relevance=grades_of_many, seed=seeds, distinct_scores=st.integers(1, 30))
def test_dcg_is_that_of_scikit_learn_with_ties_averaged(
    k: int | None, relevance: IntArray, seed: int, distinct_scores: int
) -> None:
    scores = np.random.default_rng(seed).integers(0, distinct_scores, len(relevance)).astype(float)
    expected = dcg_score([2.0**relevance - 1], [scores], k=k)
    assert DCG(k=k).per_query(scores, one_query(relevance))[0] == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("k", CUTOFFS)
@given(relevance=grades_of_many, seed=seeds, distinct_scores=st.integers(1, 30))
def test_ndcg_is_that_of_scikit_learn_with_ties_averaged(
    k: int | None, relevance: IntArray, seed: int, distinct_scores: int
) -> None:
    scores = np.random.default_rng(seed).integers(0, distinct_scores, len(relevance)).astype(float)
    expected = ndcg_score([2.0**relevance - 1], [scores], k=k)
    assert NDCG(k=k).per_query(scores, one_query(relevance))[0] == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(("metric", "measure"), TREC, ids=[str(metric) for metric, _ in TREC])
@given(relevance=grades_of_one, seed=seeds)
def test_it_is_that_of_trec_eval(metric: Metric, measure: Any, relevance: IntArray, seed: int) -> None:
    scores = np.random.default_rng(seed).permutation(len(relevance)).astype(float)
    expected = pytest.approx(trec_eval(measure, scores, relevance), abs=1e-9)
    assert metric.per_query(scores, one_query(relevance))[0] == expected
    assert metric(np.argsort(-scores), relevance) == expected
