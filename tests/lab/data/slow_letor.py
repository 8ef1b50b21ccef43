"""The LETOR format, one line at a time: the definition of what the parser accepts, and of its errors.

A line is `<grade> qid:<query> <feature>:<number> ... [# comment]`. Features a line does not
mention are 0.
"""

from __future__ import annotations

import re

import numpy as np

from rankloop.lab.data.letor_parser import MAX_FEATURE, MAX_GRADE, Block
from rankloop.lab.data.text_lines import Lines
from rankloop.types import FloatArray

NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
INDEX = re.compile(r"[0-9]+")


def parse_slowly(lines: Lines, *, max_feature: int = MAX_FEATURE) -> Block:
    """Parse line by line, or say which line is wrong and why."""
    numbers, grades, queries, rows = [], [], [], []
    for number, content in enumerate(lines.content, lines.first):
        words = _words(lines, number, content)
        if words:
            numbers.append(number)
            grades.append(_grade(lines, number, words[0]))
            queries.append(_query(lines, number, words))
            rows.append(_features(lines, number, words[2:], max_feature))
    return Block(numbers, grades, queries, _dense(rows))


def _words(lines: Lines, number: int, content: bytes) -> list[str]:
    data = content.partition(b"#")[0]
    if b"\0" in data:
        raise lines.error(number, expected="text", found="binary data (a zero byte)")
    try:
        data.decode()
    except UnicodeDecodeError as error:
        raise lines.error(number, expected="UTF-8 text", found=f"byte 0x{data[error.start]:02x}") from error
    return [word.decode() for word in data.split()]


def _grade(lines: Lines, number: int, word: str) -> int:
    if not INDEX.fullmatch(word) or len(word) > 18 or int(word) > MAX_GRADE:
        expected = f"a grade (a whole number from 0 to {MAX_GRADE}) first"
        raise lines.error(number, expected=expected, found=_quoted(word))
    return int(word)


def _query(lines: Lines, number: int, words: list[str]) -> str:
    if len(words) < 2 or not words[1].startswith("qid:") or words[1] == "qid:":
        found = _quoted(words[1]) if len(words) > 1 else "the end of the line"
        raise lines.error(number, expected="qid:<query> after the grade", found=found)
    return words[1].removeprefix("qid:")


def _features(lines: Lines, number: int, words: list[str], max_feature: int) -> dict[int, np.float32]:
    row: dict[int, np.float32] = {}
    for word in words:
        name, _, value = word.partition(":")
        if not INDEX.fullmatch(name) or not value:
            raise lines.error(number, expected="<feature>:<number>", found=_quoted(word))
        index = int(name)
        if not 1 <= index <= max_feature:
            raise lines.error(number, expected=f"a feature from 1 to {max_feature}", found=_quoted(word))
        if index in row:
            raise lines.error(
                number, expected=f"feature {index} once", found=f"{_quoted(word)} after another"
            )
        row[index] = _value(lines, number, word, value)
    return row


def _value(lines: Lines, number: int, word: str, value: str) -> np.float32:
    if value.lstrip("+-").lower() in {"nan", "inf", "infinity"}:
        raise lines.error(number, expected="a finite number", found=_quoted(word))
    if not NUMBER.fullmatch(value):
        raise lines.error(number, expected="<feature>:<number>", found=_quoted(word))
    with np.errstate(over="ignore"):
        single = np.float32(float(value))
    if not np.isfinite(single):
        raise lines.error(number, expected="a number below 3.4e38 (single precision)", found=_quoted(word))
    return single


def _dense(rows: list[dict[int, np.float32]]) -> FloatArray:
    width = max((max(row, default=0) for row in rows), default=0)
    features = np.zeros((len(rows), width), np.float32)
    for row, values in zip(features, rows, strict=True):
        for index, value in values.items():
            row[index - 1] = value
    return features


def _quoted(word: str) -> str:
    return repr(word if len(word) <= 40 else word[:37] + "...")
