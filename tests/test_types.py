"""The nouns refuse what makes no sense, where it is born."""

from __future__ import annotations

import copy
import pickle
from dataclasses import FrozenInstanceError, fields, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankloop.errors import DataError, RankingError
from rankloop.query_set import JudgedQuery, QuerySet
from rankloop.types import Array, BoolArray, Context, Feedback, Query, Ranking

QUERY = Query("q", np.eye(4))


@given(st.lists(st.booleans(), min_size=1, max_size=12))
def test_examined_is_all_down_to_one_after_the_last_click(clicks: list[bool]) -> None:
    shown = Ranking(Query("q", np.eye(12)), np.arange(len(clicks)))
    last = max((rank for rank, clicked in enumerate(clicks, start=1) if clicked), default=None)
    expected = 0 if last is None else min(last + 1, len(clicks))
    assert Feedback(shown, np.array(clicks)).n_examined == expected


@pytest.mark.parametrize("order", [[], [0, 0], [4], [-1]])
def test_a_ranking_lists_distinct_candidates(order: list[int]) -> None:
    with pytest.raises(RankingError, match="distinct rows"):
        Ranking(QUERY, np.array(order, dtype=int))


def test_feedback_covers_what_was_shown() -> None:
    with pytest.raises(RankingError, match="2 positions were shown but feedback covers 3"):
        Feedback(Ranking(QUERY, np.array([0, 1])), np.zeros(3, dtype=bool))
    with pytest.raises(RankingError, match="booleans, found int64"):
        Feedback(Ranking(QUERY, np.array([0, 1])), np.zeros(2, dtype=np.int64))


@pytest.mark.parametrize(
    "features", [np.zeros(3), np.zeros((0, 3)), np.full((2, 2), np.nan), np.full((2, 2), np.inf)]
)
def test_a_query_needs_finite_features(features: np.ndarray) -> None:
    with pytest.raises(RankingError, match="features must be"):
        Query("q", features)


def test_a_query_names_all_its_documents_or_none() -> None:
    assert Query("q", np.eye(2), ("a", "b")).n_docs == 2
    with pytest.raises(RankingError, match="1 ids for 2 documents"):
        Query("q", np.eye(2), ("a",))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"groups": ("shop",)}, "1 groups for 2 documents"),
        ({"caller_scores": np.zeros(3)}, "caller_scores must be 2 finite scores"),
        ({"caller_scores": np.array([0.0, np.nan])}, "caller_scores must be 2 finite scores"),
    ],
)
def test_what_is_said_of_candidates_covers_them_all(given: dict[str, Any], message: str) -> None:
    with pytest.raises(RankingError, match=message):
        Query("q", np.eye(2), **given)


@pytest.mark.parametrize("features", [np.zeros((1, 2)), np.array([np.nan])])
def test_a_context_is_one_row_of_numbers(features: Array) -> None:
    with pytest.raises(RankingError, match="one row of finite numbers"):
        Context("anna", features)


def test_a_part_of_a_query_keeps_all_that_is_said_of_its_candidates() -> None:
    whole = Query(
        "q", np.eye(3), ("a", "b", "c"), ("x", "y", "x"), Context("anna"), np.array([3.0, 2.0, 1.0])
    )
    part = whole.take(np.array([2, 1]))
    again = Query("q", whole.features[[2, 1]], ("c", "b"), ("x", "y"), whole.context, np.array([1.0, 2.0]))
    for name in ("id", "doc_ids", "groups", "context"):
        assert getattr(part, name) == getattr(again, name)
    assert part.features.tolist() == again.features.tolist()
    assert part.caller_scores is not None
    assert part.caller_scores.tolist() == [1.0, 2.0]
    plain = Query("q", np.eye(3)).take(np.array([1]))
    assert (plain.doc_ids, plain.groups, plain.caller_scores) == ((), (), None)
    with pytest.raises(RankingError, match="at least one of its documents"):
        whole.take(np.array([], dtype=int))


SHOWN = Ranking(QUERY, np.array([2, 0]), {"scores": np.arange(4.0)})
JUDGED = QuerySet(np.eye(2), np.array([0, 2]), np.array([0, 1]), ["a"], contexts=np.ones((1, 2)))[0]
NOUNS = [
    *(QUERY.context, QUERY, QUERY.take(np.array([3]))),
    *(SHOWN, Feedback(SHOWN, np.array([True, False]))),
    *(JUDGED, JUDGED.query, JUDGED.query.context),
]


@pytest.mark.parametrize("noun", NOUNS, ids=lambda noun: type(noun).__name__)
def test_nouns_are_frozen_however_they_are_made(noun: Any) -> None:
    assert type(noun) in {Context, Query, Ranking, Feedback, JudgedQuery}
    for each in fields(noun):
        with pytest.raises(FrozenInstanceError):
            setattr(noun, each.name, None)
    for again in (copy.copy(noun), replace(noun), pickle.loads(pickle.dumps(noun))):
        assert repr(again) == repr(noun)


def test_the_evidence_of_a_ranking_is_its_own() -> None:
    given = {"scores": np.arange(4.0)}
    shown, bare = Ranking(QUERY, np.array([2, 0]), evidence=given), Ranking(query=QUERY, order=np.array([1]))
    given["owners"] = np.zeros(2)
    assert (list(shown.evidence), list(bare.evidence)) == (["scores"], [])
    with pytest.raises(RankingError, match="evidence 'owners' in its own rankings, found nothing"):
        _ = bare.evidence["owners"]


def test_candidates_without_features_are_known_by_their_names() -> None:
    assert Query("q", np.empty((2, 0)), ("a", "b")).n_docs == 2


def test_grades_are_no_clicks() -> None:
    shown = Ranking(QUERY, np.array([2, 0, 1]))
    graded = Feedback(shown, np.array([2, 0, 1]), signal="grades")
    assert graded.n_examined == 3
    with pytest.raises(RankingError, match="learns from clicks, found grades"):
        _ = graded.clicks
    with pytest.raises(RankingError, match="grades must be finite numbers"):
        Feedback(shown, np.array([2, 0, np.inf]), signal="grades")
    with pytest.raises(RankingError, match="grades must be finite numbers"):
        Feedback(shown, np.zeros(3, dtype=bool), signal="grades")
    with pytest.raises(RankingError, match="clicks or grades, found 'stars'"):
        Feedback(shown, np.zeros(3), signal="stars")  # type: ignore[arg-type]


def test_what_is_known_to_be_judged_needs_no_guess() -> None:
    shown, clicks = Ranking(QUERY, np.arange(4)), np.array([True, False, False, False])
    assert Feedback(shown, clicks).n_examined == 2
    assert Feedback(shown, clicks, np.array([True, False, True, False])).n_examined == 3
    assert Feedback(shown, clicks, np.zeros(4, dtype=bool)).n_examined == 0
    with pytest.raises(RankingError, match="judged must be 4 booleans"):
        Feedback(shown, clicks, np.ones(3, dtype=bool))


@pytest.mark.parametrize(
    ("offsets", "relevance", "ids", "message"),
    [
        ([0, 3], [0, 1], ["a"], "same rows"),
        ([0, 3], [0, -1, 2], ["a"], "whole numbers of 0 or more"),
        ([0, 3], [0, 0.5, 2], ["a"], "whole numbers of 0 or more"),
        ([0, 2], [0, 1, 2], ["a"], "from 0 to 3"),
        ([0, 1, 3], [0, 1, 2], ["a"], "from 0 to 3 in 2 steps"),
        ([0, 0, 3], [0, 1, 2], ["a", "b"], "at least one document"),
    ],
)
def test_the_parts_of_a_query_set_fit(
    offsets: list[int], relevance: list[float], ids: list[str], message: str
) -> None:
    with pytest.raises(DataError, match=message):
        QuerySet(np.eye(3), np.array(offsets), np.array(relevance), ids)


def test_the_items_of_a_query_set_are_views() -> None:
    queries = QuerySet(np.eye(3), np.array([0, 1, 3]), np.array([0, 1, 2]), ["a", "b"])
    assert [judged.query.id for judged in queries] == ["a", "b"]
    assert np.shares_memory(queries[-1].query.features, queries.features)
    assert queries[-1].relevance.tolist() == [1, 2]
    with pytest.raises(IndexError, match="query 2 of 2"):
        queries[2]


@pytest.mark.parametrize("seen", [np.ones(2, dtype=bool), np.ones(3)])
def test_what_was_seen_covers_the_list(seen: BoolArray) -> None:
    shown = Ranking(Query("q", np.eye(3)), np.arange(3))
    assert Feedback(shown, np.zeros(3, dtype=bool)).truly_examined is None
    with pytest.raises(RankingError, match="truly_examined must be 3 booleans"):
        Feedback(shown, np.zeros(3, dtype=bool), truly_examined=seen)


def test_a_ranking_of_another_policy_teaches_nothing_and_says_why() -> None:
    query = Query("q", np.eye(3))
    shown = Ranking(query, np.arange(3), {"scores": np.zeros(3)})
    with pytest.raises(RankingError, match="evidence 'seed' in its own rankings, found scores"):
        shown.evidence["seed"]
    assert shown.evidence.get("seed") is None


def test_either_signal_reads_as_grades_with_what_is_known_of_them() -> None:
    shown, clicks = Ranking(QUERY, np.arange(4)), np.array([False, True, False, False])
    judged = np.array([True, False, True, False])

    def read(feedback: Feedback) -> tuple[list[float], list[bool]]:
        grades, known = feedback.graded()
        assert grades.dtype == np.float64
        return grades.tolist(), known.tolist()

    assert read(Feedback(shown, clicks)) == ([0, 1, 0, 0], [True, True, True, False])
    assert read(Feedback(shown, np.zeros(4, dtype=bool))) == ([0] * 4, [False] * 4)
    assert read(Feedback(shown, clicks, judged)) == ([0] * 4, judged.tolist())
    grades = np.array([3, 0, 1.5, 2])
    assert read(Feedback(shown, grades, signal="grades")) == (grades.tolist(), [True] * 4)
    assert read(Feedback(shown, grades, judged, "grades")) == ([3, 0, 1.5, 0], judged.tolist())
