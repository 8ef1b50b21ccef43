"""The bytes of a list: always those that a JSON encoder would write."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankloop.service.answer import Made, RankedList, Result

TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
FLAGS = st.sampled_from([True, False, None])
RESULTS = st.builds(
    Result,
    TEXTS,
    st.integers(1, 10_000),
    st.floats(allow_nan=False, allow_infinity=False),
    FLAGS,
    st.booleans(),
)
MADE = st.builds(
    Made,
    ranker=TEXTS,
    model=st.integers(0),
    settings=st.integers(0),
    policy=TEXTS,
    mode=TEXTS,
    seed=st.integers(0, 2**63 - 1),
    explored_pairs=st.integers(0),
    fallback=st.none() | TEXTS,
)


@given(TEXTS, st.lists(RESULTS), MADE)
def test_a_list_is_written_as_a_json_encoder_would(query_id: str, results: list[Result], made: Made) -> None:
    shown = RankedList(query_id, tuple(results), made)
    written = json.dumps(shown.to_json(), ensure_ascii=False, separators=(",", ":")).encode()
    assert shown.to_bytes() == written
    assert json.loads(written) == shown.to_json()


@pytest.mark.parametrize("score", [float("nan"), float("inf"), -float("inf")])
def test_a_score_that_json_does_not_know_is_refused(score: float) -> None:
    made = Made(
        ranker="r",
        model=0,
        settings=0,
        policy="p",
        mode="m",
        seed=0,
        explored_pairs=0,
        fallback=None,
    )
    with pytest.raises(ValueError, match="must be finite"):
        RankedList("q", (Result("a", 1, score, None, False),), made).to_bytes()
