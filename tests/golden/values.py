"""Numbers of reports as they once were, where another way to compute them may change the last digits.

As `records.py`, under ids of its own and without names; but the numbers themselves are kept, to eight digits,
and compared to a millionth. Whole numbers, truth values and None are compared exactly.
"""

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.golden.records import Numbers, find_arithmetic

TOLERANCE = 1e-6  # absolute, and relative to the recorded value


def check_values(id: str, /, parts: Mapping[str, Numbers]) -> None:  # noqa: A002
    """Compare numbers with their record; each part is known by its place, and named in a failure."""
    path = _path_of(sys._getframe(1).f_code.co_filename)
    records, arithmetic = _load(path), find_arithmetic()
    known = records.get(arithmetic, {})
    found = [plain(each) for each in parts.values()]
    if id in known:
        assert len(known[id]) == len(found), f"{id}: {len(found)} parts, recorded are {len(known[id])}"
        for name, recorded, now in zip(parts, known[id], found, strict=True):
            difference = next(differences(recorded, now), "")
            assert not difference, f"{id}: {name}{difference} ({path.name})"
    elif os.environ.get("RANKLOOP_RECORD") == "1":
        _write(path, records | {arithmetic: known | {id: found}})
    elif known:
        pytest.fail(f"{path.name} has no record of {id!r}: record it by RANKLOOP_RECORD=1")
    else:
        pytest.skip(f"{path.name} has no records for {arithmetic}")


def check_value_ids(ids: Iterable[str]) -> None:
    """Compare the ids of a test with the recorded ones."""
    path, listed = _path_of(sys._getframe(1).f_code.co_filename), set(ids)
    for known in _load(path).values():
        assert sorted(set(known) - listed) == [], f"{path.name} has records that no test compares"


def plain(value: Any) -> Any:
    """Turn nested numbers into JSON: whole numbers, eight digits of others, None and lists."""
    if value is None:
        return None
    if isinstance(value, str | bytes | Mapping | set):
        raise TypeError(f"values are numbers in a fixed order, no {type(value).__name__}: {value!r}")
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(f"{value:.8g}")
    return [plain(each) for each in value]


def differences(recorded: Any, found: Any, place: str = "") -> Iterator[str]:
    """Where two nested numbers differ, and how."""
    if isinstance(recorded, list) and isinstance(found, list):
        if len(recorded) != len(found):
            yield f"{place} has {len(found)} numbers, recorded are {len(recorded)}"
            return
        for number, (one, other) in enumerate(zip(recorded, found, strict=True)):
            yield from differences(one, other, f"{place}[{number}]")
    elif isinstance(recorded, float) and isinstance(found, float):
        same = math.isclose(found, recorded, rel_tol=TOLERANCE, abs_tol=TOLERANCE)
        if not same and not (math.isnan(found) and math.isnan(recorded)):
            yield f"{place} is {found}, recorded is {recorded}"
    elif type(recorded) is not type(found) or recorded != found:
        yield f"{place} is {found}, recorded is {recorded}"


def _path_of(file: str) -> Path:
    return Path(file).with_name(Path(file).stem.removeprefix("test_") + ".json")


def _load(path: Path) -> dict[str, dict[str, list[Any]]]:
    found: dict[str, dict[str, list[Any]]] = json.loads(path.read_text()) if path.exists() else {}
    return found


def _write(path: Path, records: Mapping[str, Mapping[str, list[Any]]]) -> None:
    """One line for each record, sorted."""
    blocks = []
    for arithmetic, known in sorted(records.items()):
        lines = [
            f"  {json.dumps(id)}: {json.dumps(found, separators=(',', ':'))}"
            for id, found in sorted(known.items())  # noqa: A001
        ]
        blocks.append(f" {json.dumps(arithmetic)}: {{\n" + ",\n".join(lines) + "\n }")
    path.write_text("{\n" + ",\n".join(blocks) + "\n}\n")
