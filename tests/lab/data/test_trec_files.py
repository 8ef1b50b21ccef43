"""TREC files: what was written is read again, and our numbers are those of trec_eval."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import ir_measures
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankloop.checks import small_world
from rankloop.errors import DataError
from rankloop.lab.data import format_qrels, format_run, read_qrels, read_run, sort_run
from rankloop.metrics import AP, ERR, MRR, NDCG, Metric, Precision, mean_over_lists
from rankloop.query_set import QuerySet

EXPONENTIAL = {grade: 2**grade - 1 for grade in range(5)}
MEASURES: list[tuple[Metric, Any]] = [
    (NDCG(k=10), ir_measures.nDCG(gains=EXPONENTIAL) @ 10),
    (NDCG(), ir_measures.nDCG(gains=EXPONENTIAL)),
    (AP(), ir_measures.AP),
    (AP(relevant_from=2), ir_measures.AP(rel=2)),
    (MRR(), ir_measures.RR),
    (Precision(k=5), ir_measures.P @ 5),
]
words = st.sampled_from([f"d{number}" for number in range(12)])
queries = st.sampled_from(["1", "2", "q-three"])
judgements = st.dictionaries(queries, st.dictionaries(words, st.integers(-2, 4), min_size=1), min_size=1)
scores = st.sampled_from([0.0, -1.5, 2.0, 1.0, 1.0 + 1e-9, 1e-3])  # with ties, some in single precision only
found = st.dictionaries(queries, st.dictionaries(words, scores, min_size=1))


@settings(max_examples=60)
@given(qrels=judgements, run=found)
def test_the_numbers_are_those_of_trec_eval(
    qrels: dict[str, dict[str, int]], run: dict[str, dict[str, float]]
) -> None:
    lists = [sort_run(grades, run.get(query, {})) for query, grades in qrels.items()]
    # ir-measures refuses no negative grade, but looks its gain up: trec_eval takes junk for not relevant
    known = {query: {name: max(grade, 0) for name, grade in each.items()} for query, each in qrels.items()}
    expected = ir_measures.pytrec_eval.calc_aggregate([measure for _, measure in MEASURES], known, run)
    for metric, measure in MEASURES:
        assert mean_over_lists(metric, lists) == pytest.approx(expected[measure], abs=1e-9)


def test_what_was_written_is_read_again_and_ranks_the_same(tmp_path: Path) -> None:
    world = small_world()
    bare = QuerySet(world.features, world.offsets, world.relevance, world.ids)  # its documents have no ids
    values = np.random.default_rng(0).integers(0, 4, len(world.features)) + 1e-12 * np.arange(240)
    for queries in (world, bare):
        qrels_file, run_file = tmp_path / "some.qrels", tmp_path / "mine.run"
        qrels_file.write_text(format_qrels(queries))
        run_file.write_bytes(gzip.compress(format_run(queries, values, tag="mine").encode()))
        qrels, run = read_qrels(qrels_file), read_run(run_file)
        assert list(qrels) == list(run) == list(queries.ids)
        lists = [sort_run(qrels[query], run[query]) for query in qrels]
        by_hand = [
            (np.argsort(-values[start:end], kind="stable"), queries.relevance[start:end])
            for start, end in zip(queries.offsets[:-1], queries.offsets[1:], strict=True)
        ]
        for metric in (NDCG(k=5), AP(), ERR(max_grade=2)):
            assert mean_over_lists(metric, lists) == mean_over_lists(metric, by_hand)
    assert format_run(world, values, tag="mine", depth=3).count("\n") == 3 * len(world)


@pytest.mark.parametrize(
    ("read", "line", "told"),
    [
        (
            read_qrels,
            "7 0 a",
            r"line 2: expected <query> <iteration> <document> <grade>, found 3 words: '7 0 a'",
        ),
        (read_qrels, "7 0 a good", r"line 2: expected a whole number as grade, found 'good'"),
        (read_qrels, "9 0 x 1", r"line 2: expected each document once for a query, found 'x' for '9' again"),
        (
            read_run,
            "7 Q0 a 1 0.5",
            r"line 2: expected <query> Q0 <document> <rank> <score> <tag>, found 5 words",
        ),
        (read_run, "7 Q0 a 1 high me", r"line 2: expected a finite number as score, found 'high'"),
        (read_run, "7 Q0 a 1 nan me", r"line 2: expected a finite number as score, found 'nan'"),
    ],
)
def test_a_malformed_line_is_named(read: Any, line: str, told: str, tmp_path: Path) -> None:
    first = "9 0 x 1" if read is read_qrels else "9 Q0 x 1 0.5 me"
    (tmp_path / "bad.txt").write_text(f"{first}\n{line}\n")
    with pytest.raises(DataError, match=rf"bad\.txt, {told}"):
        read(tmp_path / "bad.txt")


def test_what_trec_files_cannot_hold_is_refused(tmp_path: Path) -> None:
    (tmp_path / "empty").write_text("\n")
    with pytest.raises(DataError, match="found none"):
        read_run(tmp_path / "empty")
    spaced = QuerySet(np.eye(1), np.array([0, 1]), np.array([1]), ("red shoes",))
    with pytest.raises(DataError, match="one word to stand in a TREC file, found 'red shoes'"):
        format_qrels(spaced)
    with pytest.raises(DataError, match="a finite score for each of 240"):
        format_run(small_world(), np.full(240, np.nan), tag="x")
