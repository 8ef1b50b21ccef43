"""Query sets are taken apart and joined with every column that they have."""

from dataclasses import fields, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankloop.errors import DataError
from rankloop.lab.data import Dataset, concatenate, load, pad_features, take_queries
from rankloop.lab.data.best_feature_order import add_caller_order
from rankloop.query_set import QUERY_COLUMNS, ROW_COLUMNS, JudgedQuery, QuerySet

exactly = settings(derandomize=True, deadline=None, max_examples=100)


def draw_queries(seed: int, lengths: list[int], *, features: int = 3) -> QuerySet:
    """A set in which every column is given."""
    rng, rows = np.random.default_rng(seed), sum(lengths)
    return QuerySet(
        rng.random((rows, features), np.float32),
        np.append(0, np.cumsum(lengths)),
        rng.integers(0, 3, rows),
        tuple(f"query {number}" for number in range(len(lengths))),
        tuple(f"document {number}" for number in rng.integers(0, 99, rows)),
        tuple(rng.choice(["A", "B"], rows).tolist()),
        rng.random((len(lengths), 2)),
        rng.integers(0, 4, rows).astype(np.float64),
    )


def assert_same(found: JudgedQuery, expected: JudgedQuery) -> None:
    for each in fields(expected.query):
        one, other = getattr(found.query, each.name), getattr(expected.query, each.name)
        if each.name == "context":
            one, other = one.features, other.features
        np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(found.relevance, expected.relevance)


sets = st.builds(draw_queries, st.integers(0, 99), st.lists(st.integers(1, 4), min_size=1, max_size=5))


def test_every_column_of_a_query_set_is_known() -> None:
    assert {each.name for each in fields(QuerySet) if each.init} == {"offsets", *ROW_COLUMNS, *QUERY_COLUMNS}


@exactly
@given(sets, st.integers(0, 6), st.none() | st.integers(0, 6))
def test_queries_are_taken_as_slices_take_them(queries: QuerySet, start: int, stop: int | None) -> None:
    expected = list(queries)[start:stop]
    for found, judged in zip(take_queries(queries, start, stop), expected, strict=True):
        assert_same(found, judged)


@exactly
@given(st.lists(sets, min_size=1, max_size=3))
def test_joined_sets_have_the_queries_of_all_with_every_column(parts: list[QuerySet]) -> None:
    expected = [judged for part in parts for judged in part]
    for found, judged in zip(concatenate(*parts), expected, strict=True):
        assert_same(found, judged)


@exactly
@given(sets, st.integers(0, 5))
def test_a_set_taken_apart_and_joined_is_the_same(queries: QuerySet, cut: int) -> None:
    joined = concatenate(take_queries(queries, 0, cut), take_queries(queries, cut))
    for each in fields(QuerySet):
        one, other = getattr(joined, each.name), getattr(queries, each.name)
        assert type(one) is type(other)
        assert np.array_equal(one, other)


@pytest.mark.parametrize("column", ["doc_ids", "groups", "contexts", "caller_scores"])
def test_a_column_that_one_set_lacks_is_left_out(column: str) -> None:
    whole = draw_queries(1, [2, 1])
    without = replace(whole, **{column: () if column in ("doc_ids", "groups") else None})  # type: ignore[arg-type]
    for joined in (concatenate(whole, without), concatenate(without, whole)):
        assert joined.ids == (*whole.ids, *whole.ids)
        for each in ("doc_ids", "groups", "contexts", "caller_scores"):
            found = getattr(joined, each)
            assert (found is None or not len(found)) == (each == column)


def test_narrower_sets_are_padded_and_the_widest_is_left_alone() -> None:
    narrow, wide = draw_queries(2, [3, 1]), draw_queries(3, [2], features=5)
    padded, same = pad_features(narrow, wide)
    np.testing.assert_array_equal(padded.features, np.pad(narrow.features, ((0, 0), (0, 2))))
    assert same is wide
    assert pad_features(wide, n_features=3)[0] is wide
    np.testing.assert_array_equal(concatenate(narrow, wide).features[:4], padded.features)


def test_sets_that_cannot_be_joined_are_refused() -> None:
    with pytest.raises(DataError, match="expected at least one set"):
        concatenate()
    one = draw_queries(1, [2])
    with pytest.raises(DataError, match=r"contexts of the same width, found widths \[2, 3\]"):
        concatenate(one, replace(one, contexts=np.ones((1, 3))))


def test_few_training_queries_keep_the_order_of_the_caller() -> None:
    dataset = add_caller_order(load("linear(queries=20, test_queries=5)"), "decent")
    few = dataset.at_most(10)
    assert (len(few.train), len(few.test)) == (10, 5)
    for found, judged in zip(few.train, dataset.train, strict=False):
        assert_same(found, judged)
    assert few.fingerprint != dataset.fingerprint
    assert dataset.at_most(20) is dataset


def test_visitors_stay_who_they_are_when_their_sets_are_joined() -> None:
    dataset: Dataset = load("ads(queries=6, test_queries=3)")
    joined = concatenate(*dataset.parts)
    assert joined.contexts is not None
    np.testing.assert_array_equal(joined.contexts[:6], dataset.train.contexts)
    np.testing.assert_array_equal(joined.contexts[6:], dataset.test.contexts)
