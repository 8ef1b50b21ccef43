"""Many decimal numbers at once: the digits of a token are read as one 64-bit word and added up in parallel.

A token of at most 15 digits is a whole number below 2**53 divided by a power of ten, both exact in double
precision, so one division rounds exactly as `float` does. Longer tokens and exponents are left to `float`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rankloop.lab.data.slow import NUMBER
from rankloop.types import BoolArray, FloatArray, IntArray

EXACT_DIGITS = 15  # 10**15 < 2**53
MARGIN = b"0" * 16  # lets the word before the first token be loaded, too
POWERS = 10.0 ** np.arange(EXACT_DIGITS + 1)
SPACE, COLON, DOT, MINUS = b" :.-"


@dataclass(frozen=True, slots=True)
class Numbers:
    """The value of every token, and whether it was written with digits alone."""

    values: FloatArray
    whole: BoolArray


def parse_numbers(text: bytes) -> Numbers | None:
    """Parse tokens separated by single spaces or colons; None if one of them is not a number.

    >>> parse_numbers(b"1:0.5 2:-3e2").values.tolist()
    [1.0, 0.5, 2.0, -300.0]
    >>> parse_numbers(b"1:abc") is None
    True
    """
    raw = np.frombuffer(text, np.uint8)
    marks = np.flatnonzero(raw - np.uint8(48) > 9)  # all that is not a digit
    kinds = raw[marks]
    separates, dots = (kinds == SPACE) | (kinds == COLON), kinds == DOT
    ends = np.append(marks[separates], raw.size)
    starts = np.append(0, ends[:-1] + 1)
    if (starts >= ends).any():
        return None
    tokens = np.cumsum(separates)  # the token a mark stands in; for a separator the token after it
    dotted = tokens[dots]
    decimals = np.zeros(ends.size, np.int64)
    decimals[dotted] = ends[dotted] - marks[dots]  # the dot included
    has_dot, negative = decimals > 0, raw[starts] == MINUS
    digits = ends - starts - has_dot - negative
    hard = (digits > EXACT_DIGITS) | (digits < 1)
    hard[dotted[1:][np.diff(dotted) == 0]] = True  # two dots
    odd = np.flatnonzero(~(separates | dots))
    hard[tokens[odd][(kinds[odd] != MINUS) | (marks[odd] != starts[tokens[odd]])]] = True
    squeezed = text.translate(None, b".")
    position = ends - np.searchsorted(marks[dots], ends)
    values = _whole_numbers(squeezed, position, np.clip(digits, 1, EXACT_DIGITS))
    values /= POWERS[np.clip(decimals - 1, 0, EXACT_DIGITS)]
    np.negative(values, out=values, where=negative)
    return _with_hard_tokens(text, starts, ends, hard, Numbers(values, ~(hard | has_dot | negative)))


def _whole_numbers(text: bytes, ends: IntArray, digits: IntArray) -> FloatArray:
    """The numbers formed by the `digits` characters before each end."""
    buffer = MARGIN + text
    words = np.ndarray((len(buffer) - 7,), "<u8", buffer, strides=(1,))  # the 8 bytes from every position on
    position = ends + len(MARGIN) - 8
    numbers = _eight_digits(words[position], np.minimum(digits, 8)).astype(np.float64)
    long = np.flatnonzero(digits > 8)
    numbers[long] += 1e8 * _eight_digits(words[position[long] - 8], digits[long] - 8)
    return numbers


def _eight_digits(words: npt.NDArray[np.uint64], digits: IntArray) -> npt.NDArray[np.uint64]:
    """Add up the last `digits` characters of little-endian words: pairs, then fours, then all eight."""
    unused = ((8 - digits) * 8).astype(np.uint64)
    words = (words & np.uint64(0x0F0F0F0F0F0F0F0F)) >> unused << unused
    words = words * np.uint64(10 * 2**8 + 1) >> np.uint64(8) & np.uint64(0x00FF00FF00FF00FF)
    words = words * np.uint64(100 * 2**16 + 1) >> np.uint64(16) & np.uint64(0x0000FFFF0000FFFF)
    return words * np.uint64(10_000 * 2**32 + 1) >> np.uint64(32)


def _with_hard_tokens(
    text: bytes, starts: IntArray, ends: IntArray, hard: BoolArray, numbers: Numbers
) -> Numbers | None:
    for token in np.flatnonzero(hard):
        word = text[starts[token] : ends[token]].decode("ascii", "replace")
        if not NUMBER.fullmatch(word):
            return None
        numbers.values[token] = float(word)
    return numbers
