"""The bytes of a response: what was answered, and nothing else."""

from __future__ import annotations

import json

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from rankloop.service.core.lists.rank_response import Provenance, RankResponse, Result

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
PROVENANCE = st.builds(
    Provenance,
    ranker=TEXTS,
    model=st.integers(0, 2**62),
    settings=st.integers(0, 2**62),
    policy=TEXTS,
    mode=TEXTS,
    seed=st.integers(0, 2**63 - 1),
    explored_pairs=st.integers(0, 2**62),
    fallback=st.none() | TEXTS,
)


@given(TEXTS, st.lists(RESULTS), PROVENANCE)
def test_a_json_reader_finds_every_value_again_to_the_bit(
    query_id: str, results: list[Result], provenance: Provenance
) -> None:
    shown = RankResponse(query_id, tuple(results), provenance)
    written = shown.to_bytes()
    assert json.loads(written) == msgspec.to_builtins(shown) | {
        "ranking": [*map(msgspec.to_builtins, results)]
    }
    assert msgspec.json.decode(written, type=RankResponse) == shown
