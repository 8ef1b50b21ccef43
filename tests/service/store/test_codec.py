from __future__ import annotations

import hypothesis.extra.numpy as arrays
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankloop.errors import DataError
from rankloop.service.store import pack, unpack
from rankloop.types import Array

DTYPES = st.sampled_from([np.float64, np.float32, np.int64, np.int32, np.uint8, np.bool_])
SHAPES = arrays.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4)


@given(st.dictionaries(st.text(max_size=8), arrays.arrays(DTYPES, SHAPES), max_size=4))
def test_arrays_come_back_to_the_bit(given_arrays: dict[str, Array]) -> None:
    found = unpack(pack(given_arrays))
    assert list(found) == list(given_arrays)
    for name, value in given_arrays.items():
        assert (found[name].dtype, found[name].shape) == (value.dtype, value.shape)
        assert found[name].tobytes() == value.tobytes()


def test_views_and_foreign_byte_orders_are_stored_by_value() -> None:
    stored = unpack(pack({"view": np.arange(6).reshape(2, 3).T, "big": np.array([1.5], dtype=">f8")}))
    assert stored["view"].tolist() == [[0, 3], [1, 4], [2, 5]]
    assert stored["big"].tolist() == [1.5]


def test_what_would_need_pickle_is_refused() -> None:
    with pytest.raises(DataError, match="only numbers and booleans"):
        pack({"anything": np.array([object()])})


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"[]",
        b"{}x\n",
        b'[["a", "<f8", [2]]]\n' + bytes(15),
        b'[["a", "<f8", [2]]]\n' + bytes(17),
        b'[["a", "|O", [1]]]\n' + bytes(8),
        b'[["a"]]\n',
    ],
)
def test_damaged_bytes_are_refused(data: bytes) -> None:
    with pytest.raises(DataError, match="no packed arrays"):
        unpack(data)
