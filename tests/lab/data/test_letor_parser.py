"""The parser reads what the definition reads, bit for bit, and refuses the rest with its words."""

import re

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from rankloop.errors import DataError
from rankloop.lab.data.letor_parser import Block, parse_chunk, read_pairs
from rankloop.lab.data.text_lines import Lines
from tests.lab.data.slow_letor import parse_slowly

exactly = settings(derandomize=True, deadline=None, max_examples=200)
decimals = st.builds(
    lambda sign, whole, fraction, power: f"{sign}{whole}.{fraction:06d}{power}",
    st.sampled_from(["", "-", "+"]),
    st.integers(0, 10**9),
    st.integers(0, 10**6 - 1),
    st.sampled_from(["", "", "e-5", "E7", "e+02"]),
)
numbers = st.one_of(
    decimals,
    st.floats(-1e38, 1e38).map(repr),
    st.integers(-(10**18), 10**18).map(str),
    st.sampled_from(["0", "-0", "-0.0", "1", ".5", "5."]),
)
json_numbers = st.one_of(
    st.floats(-1e38, 1e38).map(repr),
    st.floats(-1e38, 1e38).map("{:.20e}".format),
    st.integers(-(10**25), 10**25).map(str),
    st.sampled_from(["-0", "-0.0", "1E2", "1e-400"]),
)
rows = st.tuples(
    st.integers(0, 4),
    st.sampled_from(["1", "2", "é", "a:b"]),
    st.dictionaries(st.integers(1, 12), numbers, max_size=6),
    st.text("#a 1:"),
    st.sampled_from([" ", "\t", "  "]),
)
ODD_WORDS = """
1:2 2:-.5 3:1e39 4:nan 5:-inf 6:1.2.3 7:1_0 8:1-2 9:0x1 10:1e 11:+5 1e0:5 1.:5 -1:5 +1:5 0:1 10001:1 003:1
-0 -0:1 8:-0 1:2,3 1,2:3 1:,2 , [1] 1:[2] 1:null true 1:"2"
:5 5: : :: 1:2:3 1::2 1 nan qid:1 a1:2 é1:2 1:é # ٣:1 inf:1 1:nan(1)
"""
odd_words = st.sampled_from(
    [*ODD_WORDS.split(), "0" * 400 + "3:1", "9" * 400 + ":1", "\xa01:2", "\x1c1:2", "1:\0", "\0"]
)


def as_line(row: tuple[int, str, dict[int, str], str, str]) -> bytes:
    grade, query, features, comment, space = row
    pairs = [f"{index}:{value}" for index, value in features.items()]
    return (space.join([str(grade), f"qid:{query}", *pairs]) + f" #{comment}\n").encode()


def assert_same(block: Block, expected: Block) -> None:
    assert (block.lines, block.grades, block.queries) == (expected.lines, expected.grades, expected.queries)
    assert block.features.tobytes() == expected.features.tobytes()
    assert block.features.shape == expected.features.shape
    assert block.features.dtype == np.float32


def assert_agrees(texts: list[bytes]) -> None:
    lines = Lines("drawn.txt", 1, texts)
    try:
        expected = parse_slowly(lines)
    except DataError as error:
        with pytest.raises(DataError, match=f"^{re.escape(str(error))}$"):
            parse_chunk(lines)
    else:
        assert_same(parse_chunk(lines), expected)


@exactly
@given(st.lists(rows, min_size=1, max_size=8))
def test_well_formed_lines_are_read_exactly(drawn: list[tuple[int, str, dict[int, str], str, str]]) -> None:
    lines = Lines("drawn.txt", 1, [as_line(row) for row in drawn])
    assert_same(parse_chunk(lines), parse_slowly(lines))


@exactly
@given(st.lists(st.dictionaries(st.integers(1, 12), json_numbers, max_size=6), min_size=1, max_size=8))
def test_numbers_as_json_spells_them_are_read_exactly(drawn: list[dict[int, str]]) -> None:
    texts = [" ".join(f"{index}:{value}" for index, value in row.items()) for row in drawn]
    assert_agrees([f"0 qid:1 {text}".encode() for text in texts])


@exactly
@given(st.lists(st.text("01 25:.-+,eqid#\t_\0x\r\v\x1cé\xa0", max_size=30), min_size=1, max_size=4))
@example(["0 qid:1 1e2:5"])
@example(["1:2 3"])
@example(["1 2:3:4"])
@example(["1:1-2 3:"])
@example(["1:2 5 3:"])  # as many numbers as two pairs have
@example(["1:2,5 3:4", "1:2 3:4,5"])
@example(["1:2,3:4"])
@example(["1:2,, 3:4"])
@example(["1:2, 3:4"])
@example(["1:\t2"])
@example([""])
def test_random_tails_are_read_or_refused_as_defined(drawn: list[str]) -> None:
    assert_agrees([f"0 qid:1 {tail}".encode() for tail in drawn])
    assert_agrees([text.encode() for text in drawn])


@exactly
@given(st.lists(st.lists(odd_words, max_size=4).map(" ".join), min_size=1, max_size=3))
def test_odd_words_are_read_or_refused_as_defined(tails: list[str]) -> None:
    assert_agrees([f"0 qid:1 {tail}".encode() for tail in tails])


@exactly
@given(st.lists(st.binary(max_size=12), min_size=1, max_size=2), st.booleans())
def test_bytes_that_are_no_text_are_refused_as_defined(drawn: list[bytes], behind: bool) -> None:
    assert_agrees([b"0 qid:1 1:1 " + data if behind else b"0 qid:" + data for data in drawn])


@pytest.mark.parametrize("digits", range(1, 25))
def test_numbers_of_any_length_are_rounded_as_float_rounds(digits: int) -> None:
    text = ("9876543210" * 3)[:digits]
    texts = [text, f"-{text}", f"0.{text}", f"{text}.", f".{text}", f"{text}.5", f"{text}e-9"]
    _, values = read_pairs(" ".join(f"1:{each}" for each in texts).encode(), len(texts))
    assert values.tolist() == [float(each) for each in texts]
    assert [read_pairs(f"1:{each}".encode(), 1)[1].item() for each in texts] == values.tolist()
