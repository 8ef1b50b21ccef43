"""The LETOR format, a chunk of lines at a time.

A line is `<grade> qid:<query> <feature>:<number> ... [# comment]`, its words separated by white space.
The numbers are read as a JSON list where they are spelled like one, and by NumPy where not; the text around
them is checked as bytes.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rankloop.errors import DataError
from rankloop.lab.data.text_lines import Lines
from rankloop.types import FloatArray

MAX_GRADE = 999  # a gain of 2**grade must stay a finite number
MAX_FEATURE = 10_000  # rows are stored densely, so a stray index must not cost gigabytes
NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
WHOLE = re.compile(r"[0-9]+")
TO_SPACES = bytes.maketrans(b"\t\n\v\f\r", b"     ")
COLON_TO_SPACE, TO_COMMAS = bytes.maketrans(b":", b" "), bytes.maketrans(b": ", b",,")


class Malformed(Exception):
    """A line is malformed; found line by line, with what was expected and what was found."""


@dataclass(frozen=True, slots=True)
class Block:
    """The documents of a chunk of lines."""

    lines: Sequence[int]  # [n_rows] where each document was found
    grades: Sequence[int]  # [n_rows]
    queries: Sequence[str]  # [n_rows]
    features: FloatArray  # [n_rows, highest index in the chunk], float32


def parse_chunk(lines: Lines, *, max_feature: int = MAX_FEATURE) -> Block:
    """Parse a chunk of lines, or name the first malformed one.

    >>> parse_chunk(Lines("train.txt", 1, [b"2 qid:7 1:0.5 3:1 # doc 12"])).features.tolist()
    [[0.5, 0.0, 1.0]]
    >>> parse_chunk(Lines("train.txt", 17, [b"0 qid:7 5:abc"]))
    Traceback (most recent call last):
        ...
    rankloop.errors.DataError: train.txt, line 17: expected <feature>:<number>, found '5:abc'
    """
    numbers, heads, rests = [], [], []
    for number, content in enumerate(lines.content, lines.first):
        words = content.partition(b"#")[0].split(None, 2)
        if words:
            numbers.append(number)
            heads.append(tuple(words[:2]))
            rests.append(words[2].rstrip() if len(words) == 3 else b"")
    try:
        known = {head: read_head(head) for head in set(heads)}  # heads repeat
        features = read_features(rests, max_feature)
    except Malformed:
        raise explain_malformed(lines, max_feature=max_feature) from None
    return Block(numbers, [known[head][0] for head in heads], [known[head][1] for head in heads], features)


def read_head(words: Sequence[bytes]) -> tuple[int, str]:
    """Grade and query id of a line.

    >>> read_head([b"2", b"qid:7"])
    (2, '7')
    """
    if len(words) < 2 or not is_grade(words[0]) or not words[1].startswith(b"qid:"):
        raise Malformed
    try:
        query = words[1].removeprefix(b"qid:").decode()
    except UnicodeDecodeError:
        raise Malformed from None
    if not query or "\0" in query:
        raise Malformed
    return int(words[0]), query


def is_grade(word: bytes) -> bool:
    """Whether a word is a whole number from 0 to `MAX_GRADE`."""
    return word.isdigit() and len(word) <= 18 and int(word) <= MAX_GRADE


def read_features(rests: Sequence[bytes], max_feature: int) -> FloatArray:
    """Dense rows of what follows the query ids of all lines.

    >>> read_features([b"1:0.5 3:1", b"", b"2:-5e-1"], max_feature=3).tolist()
    [[0.5, 0.0, 1.0], [0.0, 0.0, 0.0], [0.0, -0.5, 0.0]]
    """
    counts = np.array([rest.count(b":") for rest in rests], np.int64)
    indices, values = read_pairs(b" ".join(rests), int(counts.sum()))
    if indices.min(initial=1) < 1 or indices.max(initial=0) > max_feature:
        raise Malformed
    width = int(indices.max(initial=0))
    cells = np.repeat(np.arange(len(rests)) * width, counts) + indices.astype(np.int64) - 1
    if (np.diff(cells) <= 0).any() and len(np.unique(cells)) < cells.size:
        raise Malformed
    with np.errstate(over="ignore"):
        single = values.astype(np.float32)
    if not np.isfinite(single).all():
        raise Malformed
    features = np.zeros((len(rests), width), np.float32)
    features.ravel()[cells] = single
    return features


def read_pairs(text: bytes, count: int) -> tuple[FloatArray, FloatArray]:
    """Read as many `<feature>:<number>` words as there are colons, and of nothing else.

    Every colon has a word of digits alone before it and something behind it, so each word with a colon holds
    two numbers. Twice as many numbers as colons: then there are no other words.

    >>> [numbers.tolist() for numbers in read_pairs(b"1:0.5  3:1e2", 2)]
    [[1.0, 3.0], [0.5, 100.0]]
    """
    text = b" %b " % text.translate(TO_SPACES)
    if text.translate(None, b"0123456789").count(b" :") != count:
        raise Malformed
    numbers = read_json_numbers(text)
    if numbers is None:
        numbers = read_numbers(text)
    if numbers.size != 2 * count:
        raise Malformed
    return numbers[0::2], numbers[1::2]


def read_json_numbers(text: bytes) -> FloatArray | None:
    """Read the numbers between single spaces and colons, or None if JSON does not spell them so.

    With commas between them they are a JSON list, which msgspec reads in a third of NumPy's time. JSON lacks
    `.5`, `1.`, `+1` and `07`, and takes `-0` for a whole number, which has no sign.

    >>> read_json_numbers(b" 1:0.5 3:1e2 ").tolist(), read_json_numbers(b" 1:.5 ")
    ([1.0, 0.5, 3.0, 100.0], None)
    """
    import msgspec  # noqa: PLC0415 - importing the lab needs NumPy and SciPy alone

    if b"-" in text and b"-0 " in text:
        return None
    try:
        numbers = msgspec.json.decode(b"[%b]" % text.strip().translate(TO_COMMAS), type=list[float])
    except msgspec.DecodeError:
        return None
    return np.fromiter(numbers, np.float64, len(numbers))


def read_numbers(text: bytes) -> FloatArray:
    """Read the numbers between spaces and colons, as NumPy does.

    >>> read_numbers(b" 1:.5  3:+1e2 ").tolist()
    [1.0, 0.5, 3.0, 100.0]
    """
    if b" :" in text or b": " in text:
        raise Malformed
    try:
        with warnings.catch_warnings():  # a text that NumPy cannot read is a warning now and will be an error
            warnings.simplefilter("error", DeprecationWarning)
            return np.fromstring(text.translate(COLON_TO_SPACE), np.float64, sep=" ")
    except (DeprecationWarning, ValueError):
        raise Malformed from None


def explain_malformed(lines: Lines, *, max_feature: int = MAX_FEATURE) -> DataError:
    """Make the error that names the first malformed line of a chunk, what was expected and found."""
    for number, content in enumerate(lines.content, lines.first):
        try:
            check_line(content.partition(b"#")[0], max_feature)
        except Malformed as mistake:
            expected, found = mistake.args
            return lines.error(number, expected=expected, found=found)
    raise AssertionError(f"{lines.source}: no line from {lines.first} on is malformed")


def check_line(data: bytes, max_feature: int) -> None:
    """Refuse a malformed line with what was expected and found at its first mistake."""
    if b"\0" in data:
        raise Malformed("text", "binary data (a zero byte)")
    try:
        data.decode()
    except UnicodeDecodeError as error:
        raise Malformed("UTF-8 text", f"byte 0x{data[error.start]:02x}") from None
    words = [word.decode() for word in data.split()]
    if not words:
        return
    if not is_grade(words[0].encode()):
        raise Malformed(f"a grade (a whole number from 0 to {MAX_GRADE}) first", quote(words[0]))
    if len(words) < 2 or not words[1].startswith("qid:") or words[1] == "qid:":
        found = quote(words[1]) if len(words) > 1 else "the end of the line"
        raise Malformed("qid:<query> after the grade", found)
    seen: set[float] = set()
    for word in words[2:]:
        check_pair(word, seen, max_feature)


def check_pair(word: str, seen: set[float], max_feature: int) -> None:
    """Refuse what is not `<feature>:<number>` of a feature that was not seen in this line."""
    name, _, value = word.partition(":")
    if not WHOLE.fullmatch(name) or not value:
        raise Malformed("<feature>:<number>", quote(word))
    if not 1 <= float(name) <= max_feature:
        raise Malformed(f"a feature from 1 to {max_feature}", quote(word))
    if float(name) in seen:
        raise Malformed(f"feature {float(name):.0f} once", f"{quote(word)} after another")
    if value.lstrip("+-").lower() in {"nan", "inf", "infinity"}:
        raise Malformed("a finite number", quote(word))
    if not NUMBER.fullmatch(value):
        raise Malformed("<feature>:<number>", quote(word))
    with np.errstate(over="ignore"):
        if not np.isfinite(np.float32(float(value))):
            raise Malformed("a number below 3.4e38 (single precision)", quote(word))
    seen.add(float(name))


def quote(word: str) -> str:
    """Quote a word as errors show it, cut to 40 letters."""
    return repr(word if len(word) <= 40 else word[:37] + "...")
