"""The LETOR format, a chunk at a time: what files usually look like, and nothing else.

Whatever is unusual (tabs, double spaces, unsorted features) or wrong makes `parse_fast` return None; the slow
parser then reads the chunk or says what is wrong with it.
"""

from __future__ import annotations

import numpy as np

from rankloop.lab.data.numbers import parse_numbers
from rankloop.lab.data.slow import MAX_FEATURE, MAX_GRADE, Block
from rankloop.lab.data.text_lines import Lines
from rankloop.types import FloatArray, IntArray

NOT_SEPARATORS = bytes(set(range(256)) - set(b": \t\n\v\f\r"))


def parse_fast(lines: Lines, *, max_feature: int = MAX_FEATURE) -> Block | None:
    """Parse a chunk of well-formed lines, or return None.

    >>> parse_fast(Lines("train.txt", 1, [b"2 qid:7 1:0.5 3:1 # doc 12"])).features.tolist()
    [[0.5, 0.0, 1.0]]
    >>> parse_fast(Lines("train.txt", 1, [b"2 qid:7 1:abc"])) is None
    True
    """
    numbers, heads, rests = [], [], []
    for number, content in enumerate(lines.content, lines.first):
        words = content.partition(b"#")[0].split(None, 2)
        if words:
            numbers.append(number)
            heads.append(words[:2])
            rests.append(words[2].rstrip() if len(words) == 3 else b"")
    names = _names(heads)
    features = _features(rests, max_feature)
    if names is None or features is None:
        return None
    grades, queries = names
    return Block(numbers, grades, queries, features)


def _names(heads: list[list[bytes]]) -> tuple[list[int], list[str]] | None:
    """Grades and query ids; they repeat, so that each distinct pair is checked once."""
    known: dict[tuple[bytes, ...], tuple[int, str]] = {}
    pairs = [tuple(head) for head in heads]
    for pair in set(pairs):
        if len(pair) != 2 or not pair[0].isdigit() or not pair[1].startswith(b"qid:"):
            return None
        grade, query = pair[0], pair[1].removeprefix(b"qid:")
        text = query.decode("ascii", "replace")
        if (
            len(grade) > 9
            or int(grade) > MAX_GRADE
            or not text
            or not (text.isascii() and text.isprintable())
        ):
            return None
        known[pair] = int(grade), text
    return [known[pair][0] for pair in pairs], [known[pair][1] for pair in pairs]


def _features(rests: list[bytes], max_feature: int) -> FloatArray | None:
    counts = np.array([rest.count(b":") for rest in rests], np.int64)
    text = b" ".join(rest for rest in rests if rest)
    total = int(counts.sum())
    if text.translate(None, NOT_SEPARATORS) != (b": " * total)[:-1]:
        return None
    if not total:
        return np.zeros((len(rests), 0), np.float32) if not text else None
    numbers = parse_numbers(text)
    if numbers is None or not numbers.whole[0::2].all():
        return None
    return _dense(numbers.values[0::2].astype(np.int64) - 1, numbers.values[1::2], counts, max_feature)


def _dense(columns: IntArray, values: FloatArray, counts: IntArray, max_feature: int) -> FloatArray | None:
    """Scatter the pairs of all rows; None unless the columns of every row are in range and increase."""
    if columns.min() < 0 or columns.max() >= max_feature:
        return None
    rows = np.repeat(np.arange(len(counts)), counts)
    if ((np.diff(columns) <= 0) & (np.diff(rows) == 0)).any():
        return None
    with np.errstate(over="ignore"):
        single = values.astype(np.float32)
    if not np.isfinite(single).all():
        return None
    features = np.zeros((len(counts), int(columns.max()) + 1), np.float32)
    features[rows, columns] = single
    return features
