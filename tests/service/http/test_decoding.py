"""Requests are read quickly, and mean what they mean when they are read slowly."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankloop.candidate import Candidate
from rankloop.errors import RequestError
from rankloop.service.core.lists.candidate_columns import Candidates, columns
from rankloop.service.http import rank_decoding as decoding
from rankloop.service.http.rank_decoding import RankDecoder


def pinned(candidates: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Candidates of which no two are pinned at one position, and none beyond the end."""
    taken = set[int]()
    for each in candidates:
        pin = each.pop("pinned_at", None)
        if pin is not None and pin <= len(candidates) and pin not in taken:
            each["pinned_at"] = pin
            taken.add(pin)
    return candidates


numbers = st.none() | st.floats(-1e9, 1e9) | st.integers(-(10**6), 10**6)
bodies = st.lists(
    st.fixed_dictionaries(
        {"features": st.dictionaries(st.sampled_from("abcde"), numbers)},
        optional={
            "pinned_at": st.integers(1, 9),
            "group": st.text("xy", max_size=2),
            "title": st.none() | st.text("xyü", max_size=2),
        },
    ),
    min_size=1,
    max_size=5,
).map(pinned)


def body(candidates: list[dict[str, Any]], **more: Any) -> bytes:
    named = [{"object_id": f"d{number}", **each} for number, each in enumerate(candidates)]
    return json.dumps({"candidates": named, **more}).encode()


def told(table: Candidates) -> dict[str, dict[str, Any]]:
    """What candidates say, whatever the order of their columns."""
    width = {name: column for column, name in enumerate(sorted(table.names))}
    values = table.by_column(width, len(width))
    n = len(values)
    pins, groups, titles = table.pinned_at or [0] * n, table.groups or [""] * n, table.titles or [""] * n
    return {
        name: {
            "row": repr(values[row].tolist()),
            "names": sorted(width),
            "at": pins[row],
            "in": groups[row],
            "called": titles[row],
        }
        for row, name in enumerate(table.object_ids)
    }


@given(st.lists(bodies, min_size=1, max_size=6))
def test_a_decoder_that_has_seen_much_reads_like_one_that_has_seen_nothing(
    many: list[list[dict[str, Any]]],
) -> None:
    decoder = RankDecoder()
    for candidates in many:
        plain = [
            Candidate(
                f"d{n}",
                each["features"],
                each.get("pinned_at"),
                each.get("group") or "",
                each.get("title") or "",
            )
            for n, each in enumerate(candidates)
        ]
        found = decoder.decode(body(candidates, k=3))
        assert found.k == 3
        assert told(found.candidates) == told(columns(plain))


def test_features_that_were_not_sent_are_not_there() -> None:
    decoder = RankDecoder()
    decoder.decode(body([{"features": {"a": 1, "b": 2}}]))
    found = decoder.decode(body([{"features": {"b": 5}}, {}])).candidates
    assert (list(found.names), repr(found.values.tolist())) == (["b"], "[[5.0], [nan]]")
    found = decoder.decode(body([{"features": {"a": None}}])).candidates
    assert (list(found.names), repr(found.values.tolist())) == (["a"], "[[nan]]")


@pytest.mark.parametrize(
    "wrong",
    [
        {"features": {"a": "1"}},
        {"features": {"a": True}},
        {"features": {"a": [1]}},
        {"features": 5},
        {"features": {"a": 1}, "color": "red"},
        {"pinned_at": 0},
        {"group": 3},
    ],
)
def test_what_is_wrong_is_refused_in_the_same_words(wrong: dict[str, Any]) -> None:
    fresh, seasoned = RankDecoder(), RankDecoder()
    seasoned.decode(body([{"features": {"a": 1}}]))
    said = []
    for decoder in (fresh, seasoned):
        with pytest.raises(msgspec.ValidationError) as error:
            decoder.decode(body([{}, wrong]))
        said.append(str(error.value))
    assert said[0] == said[1]


def test_numbers_too_large_and_bad_ids_are_refused() -> None:
    decoder = RankDecoder()
    for _ in range(2):
        with pytest.raises(RequestError, match=r"'d1': feature 'a' must be a number up to 1e\+100"):
            decoder.decode(body([{"features": {"a": 1}}, {"features": {"a": -1e200}}]))
        with pytest.raises(RequestError, match="null characters"):
            decoder.decode(body([{"features": {"a": 1}, "object_id": "a\0"}]))


def test_many_names_and_strange_ones_are_read_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decoding, "MOST_NAMES", 3)
    decoder = RankDecoder()
    for names in (["a", "b"], ["b", "c"], ["c", "d"], list("abcde"), ['quo"te'], ["a"]):
        for _ in range(2):
            found = decoder.decode(body([{"features": dict.fromkeys(names, 2)}])).candidates
            assert list(found.names) == names
            assert np.array_equal(found.values, [[2.0] * len(names)])
