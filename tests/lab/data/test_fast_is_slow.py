"""The fast parser either agrees with the slow one, bit for bit, or declines."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from rankloop.errors import DataError
from rankloop.lab.data.letor_parser import parse_fast
from rankloop.lab.data.numbers import parse_numbers
from rankloop.lab.data.slow import Block, parse_slowly
from rankloop.lab.data.text_lines import Lines

exactly = settings(derandomize=True, deadline=None, max_examples=200)
decimals = st.builds(
    lambda sign, whole, fraction, power: f"{sign}{whole}.{fraction:06d}{power}",
    st.sampled_from(["", "-"]),
    st.integers(0, 10**9),
    st.integers(0, 10**6 - 1),
    st.sampled_from(["", "", "e-5", "E7", "e+02"]),
)
numbers = st.one_of(
    decimals,
    st.floats(-1e38, 1e38).map(repr),
    st.integers(-(10**18), 10**18).map(str),
    st.sampled_from(["0", "-0.0", "1"]),
)
rows = st.tuples(
    st.integers(0, 4),
    st.integers(1, 3),
    st.dictionaries(st.integers(1, 12), numbers, max_size=6),
    st.text("#a 1:"),
)


def as_line(row: tuple[int, int, dict[int, str], str]) -> bytes:
    grade, query, features, comment = row
    pairs = [f"{index}:{value}" for index, value in sorted(features.items())]
    return (" ".join([str(grade), f"qid:{query}", *pairs]) + f" #{comment}\n").encode()


def assert_same(fast: Block, slow: Block) -> None:
    assert (fast.lines, fast.grades, fast.queries) == (slow.lines, slow.grades, slow.queries)
    assert fast.features.tobytes() == slow.features.tobytes()
    assert fast.features.shape == slow.features.shape


@exactly
@given(st.lists(rows, min_size=1, max_size=8))
def test_well_formed_lines_are_read_fast_and_exactly(
    drawn: list[tuple[int, int, dict[int, str], str]],
) -> None:
    lines = Lines("drawn.txt", 1, [as_line(row) for row in drawn])
    fast = parse_fast(lines)
    assert fast is not None
    assert_same(fast, parse_slowly(lines))


@exactly
@given(st.lists(st.text("01 25:.-+eqid#\t_\0x\r", max_size=30), min_size=1, max_size=4))
@example(["0 qid:1 1e2:5"])
@example(["0 qid:1 1:2 3"])
@example(["0 qid:1 1 2:3:4"])
@example(["0 qid:1 1:1-2 3:"])
@example(["0 qid:1 1:\t2"])
def test_the_fast_parser_never_accepts_what_the_slow_one_refuses(drawn: list[str]) -> None:
    texts = [text if number % 2 else f"0 qid:1 {text}" for number, text in enumerate(drawn)]
    lines = Lines("drawn.txt", 1, [text.encode() for text in texts])
    fast = parse_fast(lines)
    try:
        slow = parse_slowly(lines)
    except DataError:
        assert fast is None
    else:
        if fast is not None:
            assert_same(fast, slow)


@exactly
@given(st.lists(numbers, min_size=1, max_size=30))
def test_numbers_are_rounded_as_float_rounds(texts: list[str]) -> None:
    parsed = parse_numbers(" ".join(texts).encode())
    assert parsed is not None
    assert parsed.values.tobytes() == np.array([float(text) for text in texts]).tobytes()


@pytest.mark.parametrize("digits", range(1, 25))
def test_numbers_of_any_length_are_exact(digits: int) -> None:
    text = ("9876543210" * 3)[:digits]
    texts = [text, f"-{text}", f"0.{text}", f"{text}.", f".{text}", f"{text}.5"]
    parsed = parse_numbers(":".join(texts).encode())
    assert parsed is not None
    assert parsed.values.tolist() == [float(each) for each in texts]
