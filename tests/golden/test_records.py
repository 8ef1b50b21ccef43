"""Records see every bit, and nothing but numbers."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.golden import records
from tests.golden.records import Numbers, digest


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (1.0, np.nextafter(1.0, 2.0)),
        (0.0, -0.0),
        (1, 1.0),
        ([1, 2], [2, 1]),
        ([[1], [2]], [[1, 2], []]),
        (np.zeros((2, 3)), np.zeros((3, 2))),
        (None, 0),
    ],
)
def test_what_differs_has_another_digest(one: Numbers, other: Numbers) -> None:
    assert digest(one) != digest(other)
    assert digest([5, one]) != digest([5, other])


def test_width_and_memory_order_do_not_count() -> None:
    values = np.arange(6.0).reshape(2, 3)
    assert digest(values) == digest(np.asfortranarray(values)) == digest(values.astype(np.float32))
    assert digest(np.arange(3, dtype=np.int32)) == digest(np.arange(3, dtype=np.uint64))


@pytest.mark.parametrize("text", ["red", ["red"], {"a": 1}, np.array(["red"]), [1, {2}]])
def test_text_and_what_has_no_order_are_refused(text: Numbers) -> None:
    with pytest.raises(TypeError, match="numbers"):
        digest(text)


def test_recording_adds_and_never_overwrites(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "some.json"
    monkeypatch.setattr(records, "_path_of_caller", lambda _: path)
    monkeypatch.delenv("RANKLOOP_RECORD", raising=False)
    with pytest.raises(pytest.skip.Exception, match="has no records for numpy"):
        records.check("a", lists=[1, 2])
    monkeypatch.setenv("RANKLOOP_RECORD", "1")
    records.check("a", lists=[1, 2], state=0.5)
    first = path.read_text()
    with pytest.raises(AssertionError, match="a: lists differs from step 1 on"):
        records.check("a", lists=[1, 3], state=0.5)
    with pytest.raises(AssertionError, match="a: the parts are lists, recorded are lists, state"):
        records.check("a", lists=[1, 2])
    assert path.read_text() == first
    records.check("b", state=1.0)
    assert list(json.loads(path.read_text())[records.find_arithmetic()]) == ["a", "b"]
    monkeypatch.delenv("RANKLOOP_RECORD")
    records.check("a", lists=[1, 2], state=0.5)
    with pytest.raises(AssertionError, match="no test compares"):
        records.check_ids(["b"])
    with pytest.raises(pytest.fail.Exception, match="no record of 'c'"):
        records.check("c", state=1)
