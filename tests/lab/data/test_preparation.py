import numpy as np
import pytest

from rankloop.errors import DataError
from rankloop.lab.data import (
    drop_constant_features,
    normalise_per_query,
    scale_to_unit_length,
)
from rankloop.lab.data.preparation import CHUNK_ROWS
from rankloop.query_set import QuerySet
from rankloop.types import FloatArray


def random_queries(rng: np.random.Generator, *, queries: int = 40, features: int = 7) -> QuerySet:
    offsets = np.append(0, np.cumsum(rng.integers(1, 30, queries)))
    values = rng.lognormal(0, 3, (offsets[-1], features)).astype(np.float32)
    values[:, 1] = np.repeat(rng.random(queries), np.diff(offsets))  # constant in each query
    values[:, 2] = 4.0
    return QuerySet(values, offsets, rng.integers(0, 3, offsets[-1]), tuple(map(str, range(queries))))


def slowly_normalised(queries: QuerySet) -> FloatArray:
    rows = []
    for judged in queries:
        columns = judged.query.features.astype(float).T
        scaled = [
            (column - min(column)) / (max(column) - min(column)) if max(column) > min(column) else 0 * column
            for column in columns
        ]
        rows.append(np.array(scaled).T)
    return np.concatenate(rows).astype(np.float32)


@pytest.mark.parametrize("queries", [1, 40, 2000])
def test_normalisation_agrees_with_the_clear_one(queries: int) -> None:
    raw = random_queries(np.random.default_rng(3), queries=queries)
    scaled = normalise_per_query(raw)
    assert scaled.features.dtype == np.float32
    np.testing.assert_array_equal(scaled.features, slowly_normalised(raw))
    assert scaled.ids == raw.ids


def test_a_query_longer_than_a_chunk_is_normalised_whole() -> None:
    rows = 3 * CHUNK_ROWS
    values = np.arange(rows, dtype=np.float32)[:, None]
    raw = QuerySet(values, np.array([0, 1, rows]), np.zeros(rows, np.int64), ("short", "long"))
    np.testing.assert_array_equal(normalise_per_query(raw).features, slowly_normalised(raw))


def test_the_widest_range_of_single_precision_does_not_overflow() -> None:
    values = np.array([[-3e38], [0], [3e38]], np.float32)
    raw = QuerySet(values, np.array([0, 3]), np.zeros(3, np.int64), ("q",))
    assert normalise_per_query(raw).features.ravel().tolist() == [0, 0.5, 1]


def test_normalisation_leaves_its_input_alone() -> None:
    raw = random_queries(np.random.default_rng(4))
    before = raw.features.copy()
    normalise_per_query(raw)
    np.testing.assert_array_equal(raw.features, before)


def test_documents_of_unit_length_agree_with_the_clear_ones() -> None:
    raw = random_queries(np.random.default_rng(5))
    raw.features[3] = 0
    for row, given in zip(scale_to_unit_length(raw).features.tolist(), raw.features.tolist(), strict=True):
        length = sum(value**2 for value in given) ** 0.5
        assert row == pytest.approx([value / length if length else 0.0 for value in given], rel=1e-6)


def test_features_constant_over_the_training_set_are_dropped_everywhere() -> None:
    rng = np.random.default_rng(5)
    train, test = random_queries(rng), random_queries(rng)
    test.features[0, 2] = 9.0  # varies in the test set only: still dropped
    kept_train, kept_test = drop_constant_features(train, test)
    others = [0, 1, 3, 4, 5, 6]
    np.testing.assert_array_equal(kept_train.features, train.features[:, others])
    np.testing.assert_array_equal(kept_test.features, test.features[:, others])


def test_features_constant_in_every_query_are_dropped_after_normalisation() -> None:
    normalised = normalise_per_query(random_queries(np.random.default_rng(6)))
    assert drop_constant_features(normalised)[0].n_features == 5


def test_dropping_refuses_sets_without_information_or_of_other_width() -> None:
    rng = np.random.default_rng(7)
    constant = QuerySet(np.ones((2, 3)), np.array([0, 2]), np.array([0, 1]), ("q",))
    with pytest.raises(DataError, match="expected a feature that varies over the training set, found none"):
        drop_constant_features(constant)
    with pytest.raises(DataError, match=r"found widths \[7, 3\]; use pad_features first"):
        drop_constant_features(random_queries(rng), constant)
