"""Digests of numbers as they once were, so that a change of structure shows that it changed no bit.

A record is known by an id of its own and holds numbers only: no names, labels or texts, which change by
decision. Renaming a class or a setting edits the table of a test and never a digest.

    check("p01", lists=orders, scores=scores, state=arrays)

compares with `tests/golden/<name>.json`, where `test_<name>.py` is the file that calls. The last bits of a
number depend on the processor and the libraries, so every arithmetic has records of its own; on one that has
none the tests are skipped. `RANKLOOP_RECORD=1 pytest tests/golden` (without -n) records what is missing and
overwrites nothing: to record a digest again, delete its line first, and say in the commit why it changed.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import sys
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pytest
import scipy.linalg
from numpy.typing import ArrayLike
from threadpoolctl import threadpool_info

Numbers: TypeAlias = "ArrayLike | Iterable[Numbers] | None"
Records: TypeAlias = dict[str, dict[str, str]]  # by arithmetic, then by id

WHEELS = {"numpy", "numpy.libs", "scipy", "scipy.libs"}
LONGEST_TRAIL = 64  # a sequence up to this long is recorded step by step, two letters a step


def check(record: str, /, **numbers: Numbers) -> None:
    """Compare numbers with their record; each keyword is a part of it, such as lists, scores or state.

    Numbers are arrays, plain numbers and sequences of them, also of unequal lengths, and None. Text is
    refused: write the id of a document as its position. For a list or tuple the failure names the first step
    that differs.
    """
    path = _path_of_caller(sys._getframe(1).f_code.co_filename)
    records, arithmetic = _load(path), find_arithmetic()
    known = records.get(arithmetic, {})
    found = " ".join(f"{part}={digest(values)}" for part, values in numbers.items())
    if record in known:
        assert known[record] == found, f"{record}: {_describe_difference(known[record], found)} ({path.name})"
    elif os.environ.get("RANKLOOP_RECORD") == "1":
        _write(path, records | {arithmetic: known | {record: found}})
    elif known:
        pytest.fail(
            f"{path.name} has no record of {record!r}: record it by RANKLOOP_RECORD=1 pytest {path.parent}"
        )
    else:
        pytest.skip(
            f"{path.name} has no records for {arithmetic}: check out a commit whose numbers are known to be "
            f"right and record them there by RANKLOOP_RECORD=1 pytest {path.parent}"
        )


def check_ids(ids: Iterable[str]) -> None:
    """Compare the ids of a test's table with the recorded ones: a line that left a table guards nothing."""
    path = _path_of_caller(sys._getframe(1).f_code.co_filename)
    listed = list(ids)
    assert len(set(listed)) == len(listed), "an id stands twice"
    for known in _load(path).values():
        assert sorted(set(known) - set(listed)) == [], f"{path.name} has records that no test compares"


def digest(numbers: Numbers) -> str:
    """Sixteen hexadecimal digits of the numbers; after a colon, for a sequence, two for each step so far."""
    total, trail = hashlib.sha256(), ""
    if isinstance(numbers, list | tuple):
        total.update(b"[")
        for each in numbers:
            _add(total, each)
            trail += total.hexdigest()[:2]
        if not 1 < len(numbers) <= LONGEST_TRAIL:
            trail = ""
    else:
        _add(total, numbers)
    return total.hexdigest()[:16] + (f":{trail}" if trail else "")


@cache
def find_arithmetic() -> str:
    """What the last bits depend on: versions, processor's instructions, and the kernels of each BLAS."""
    simd: Any = np.show_config(mode="dicts")
    features = ["none", *simd["SIMD Extensions"].get("found", [])]
    blas = [each for each in threadpool_info() if each["user_api"] == "blas"]
    ours = [each for each in blas if WHEELS & set(Path(each["filepath"]).parts)]  # others bring one, too
    kernels = {
        f"{each['internal_api']} {each['version']} {each.get('architecture')}" for each in ours or blas
    }
    libc = "-".join(platform.libc_ver()) or platform.system()
    machine = f"{platform.system()} {platform.machine()} {features[-1]}"
    return "; ".join(
        [f"numpy {np.__version__}", f"scipy {scipy.__version__}", machine, libc, *sorted(kernels)]
    )


def _add(total: Any, value: Any) -> None:
    """Feed the kind, shape and values of what is given, nested sequences from left to right."""
    if value is None:
        total.update(b"none")
    elif isinstance(value, str | bytes | dict | set | frozenset):
        raise TypeError(f"records hold numbers in a fixed order, no {type(value).__name__}: {value!r}")
    elif isinstance(value, np.ndarray | np.generic | bool | int | float):
        array = np.asarray(value)
        if array.dtype.kind not in "biuf":
            raise TypeError(f"records hold numbers, no array of {array.dtype}")
        # Widening loses nothing; whether a whole number takes 32 or 64 bits is nobody's concern.
        whole = array.dtype.kind in "biu"
        wide = array.astype("<i8" if whole else "<f8")
        total.update(f"{'i' if whole else 'f'}{array.shape}".encode() + wide.tobytes())
    else:
        total.update(b"[")
        for each in value:
            _add(total, each)
        total.update(b"]")


def _describe_difference(recorded: str, found: str) -> str:
    """Say which parts differ, and from which step on."""
    before, now = (dict(part.split("=") for part in text.split()) for text in (recorded, found))
    if list(before) != list(now):
        return f"the parts are {', '.join(now)}, recorded are {', '.join(before)}"
    return "; ".join(
        f"{part} differs{_first_step(before[part], now[part])}" for part in now if now[part] != before[part]
    )


def _first_step(before: str, now: str) -> str:
    was, has = (text.partition(":")[2] for text in (before, now))
    if len(was) != len(has):
        return f" in length, {len(was) // 2} steps recorded, {len(has) // 2} found"
    steps = (at // 2 for at in range(0, len(was), 2) if was[at : at + 2] != has[at : at + 2])
    return next((f" from step {step} on (the first is 0)" for step in steps), "")


def _path_of_caller(file: str) -> Path:
    return Path(file).with_name(Path(file).stem.removeprefix("test_") + ".json")


def _load(path: Path) -> Records:
    records: Records = json.loads(path.read_text()) if path.exists() else {}
    return records


def _write(path: Path, records: Records) -> None:
    """One line for each record, sorted, so that two people can add some and one can be deleted by hand."""
    ordered = {arithmetic: dict(sorted(known.items())) for arithmetic, known in sorted(records.items())}
    path.write_text(json.dumps(ordered, indent=1) + "\n")
