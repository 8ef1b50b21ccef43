"""A list comes back to the bit, whatever it holds."""

from __future__ import annotations

from typing import Any

import hypothesis.extra.numpy as arrays
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankloop.errors import DataError
from rankloop.service.store.log_records import Impression
from rankloop.service.store.payload_codec import decode_payload, encode_payload
from rankloop.service.store.payload_dictionary import PayloadCompressor
from tests.support.log_samples import IMPRESSION, impression, same

DTYPES = st.sampled_from([np.float64, np.float32, np.float16, np.int64, np.int32, np.uint8, np.bool_])
SHAPES = arrays.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4)
FLOATS = st.sampled_from([np.float64, np.float32, np.float16])


@st.composite
def lists(draw: st.DrawFn) -> Impression:
    """A list of any shape, with any numbers in it, and with columns in which nothing is said."""
    count, width, shown = draw(st.integers(0, 5)), draw(st.integers(0, 6)), draw(st.integers(0, 5))
    features = draw(arrays.arrays(draw(FLOATS), (count, width)))
    features[:, draw(arrays.arrays(np.bool_, width))] = np.nan
    names = st.lists(st.text(max_size=5), min_size=count, max_size=count)
    return impression(
        object_ids=draw(names),
        groups=draw(names) if count and draw(st.booleans()) else (),
        features=features,
        pinned_at=draw(arrays.arrays(np.int64, count)),
        order=draw(arrays.arrays(st.sampled_from([np.int64, np.int32]), shown)),
        context=draw(arrays.arrays(np.float64, draw(st.integers(0, 3)))),
        evidence=draw(st.dictionaries(st.text(max_size=8), arrays.arrays(DTYPES, SHAPES), max_size=3)),
    )


def back(shown: Impression, data: bytes) -> Impression:
    """The list with what a payload holds."""
    return impression(**{"titles": shown.titles, **decode_payload(data)})


@given(lists(), st.binary(max_size=300))
def test_a_list_comes_back_to_the_bit(shown: Impression, dictionary: bytes) -> None:
    payload = encode_payload(shown)
    assert same(shown, back(shown, payload))
    compressor = PayloadCompressor({1: dictionary + bytes(8)}.__getitem__)
    plain = compressor.compress(payload)
    compressor.use(1, ratio=1.0)
    packed = compressor.compress(payload)
    assert (plain[0], packed[0]) == (0, 1)
    assert compressor.decompress(*plain) == compressor.decompress(*packed) == payload


def test_the_bits_of_a_missing_value_come_back() -> None:
    odd = np.array([[0x7FF8_0000_0000_0001], [0xFFF8_0000_0000_0000]], dtype=np.uint64).view(np.float64)
    shown = impression(object_ids=["a", "b"], pinned_at=np.zeros(2, np.int64), features=odd)
    assert np.isnan(odd).all()
    assert same(shown, back(shown, encode_payload(shown)))


def test_views_and_foreign_byte_orders_are_stored_by_value() -> None:
    table = np.arange(6.0).reshape(2, 3)
    for features in (table.T, table.T.astype(">f8"), np.asfortranarray(table.T)):
        found = decode_payload(encode_payload(impression(features=features)))["features"]
        assert found.tolist() == [[0, 3], [1, 4], [2, 5]]


def test_what_a_list_costs_does_not_depend_on_features_of_other_lists() -> None:
    wide = np.full((3, 5000), np.nan)
    wide[:, 7] = 1.0
    narrow = encode_payload(impression(features=np.ones((3, 1))))
    assert len(encode_payload(impression(features=wide))) < len(narrow) + 50


def test_groups_that_are_empty_are_groups() -> None:
    assert decode_payload(encode_payload(impression(groups=["", "", ""])))["groups"] == ["", "", ""]
    assert decode_payload(encode_payload(impression(groups=())))["groups"] == []


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"features": np.zeros((2, 2))}, "found 2 rows and 0 groups for 3 candidates"),
        ({"groups": ["x"]}, "found 3 rows and 1 groups for 3 candidates"),
        ({"features": np.zeros((3, 2), dtype=np.int64)}, "must be numbers of 16, 32 or 64 bits, found int64"),
        ({"evidence": {"any": np.array([object()])}}, "only numbers and booleans are stored"),
    ],
)
def test_lists_that_make_no_sense_are_refused(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(DataError, match=said):
        encode_payload(impression(**changes))


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x90",
        encode_payload(IMPRESSION)[:-1],
        b"\x92" + encode_payload(IMPRESSION)[1:],
        encode_payload(IMPRESSION).replace(b"<f8\x02", b"<f4\x02"),
        encode_payload(IMPRESSION).replace(b"<f8\x02", b"|O8\x02"),
    ],
)
def test_damaged_bytes_are_refused(data: bytes) -> None:
    with pytest.raises(DataError, match="hold no list"):
        decode_payload(data)


def test_compressed_bytes_that_are_damaged_are_refused() -> None:
    compressor = PayloadCompressor(lambda number: b"")
    number, data = compressor.compress(encode_payload(IMPRESSION))
    flipped = [data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :] for at in range(len(data))]
    for damaged in (data[:-1], b"", b"nothing", data[8:], *flipped):
        with pytest.raises(DataError, match="hold no list"):
            compressor.decompress(number, damaged)
