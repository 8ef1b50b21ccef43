"""Made-up worlds, files that are read, and what is made of them have the numbers that they once had."""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from dataclasses import astuple
from pathlib import Path

import numpy as np
import pytest

from rankloop.lab.data import (
    Dataset,
    FeatureGroups,
    concatenate,
    drop_constant_features,
    effective_rank,
    format_qrels,
    format_run,
    load,
    normalise_per_query,
    pad_features,
    prepare,
    read_labelled,
    read_letor,
    read_qrels,
    read_run,
    scale_to_unit_length,
    sort_run,
    summarise_queries,
)
from rankloop.lab.data.best_feature_order import add_caller_order
from rankloop.lab.data.labelled_rows import VisitorOptions, split_visitors
from rankloop.lab.data.review_data import AccessoryShop, Parts, by_share, by_time, joined, newcomers
from rankloop.query_set import QuerySet
from rankloop.recommend.reviews import Reviews
from tests.golden.records import Numbers, check, check_ids

WORLDS = {  # whole ones, since grades are cut from scores: few queries hide small changes
    "w01": "linear",
    "w02": "linear(queries=6, test_queries=3, seed=4, noise=0.1, min_documents=2, max_documents=5)",
    "w03": "nonlinear",
    "w04": "nonlinear(queries=6, test_queries=3, seed=4, min_documents=2, max_documents=5)",
    "w05": "independent",
    "w06": "separable",
    "w07": "separable(queries=6, test_queries=3, margin=0.02236, spread=0.3, seed=2)",
    "w08": "items",
    "w09": "ads(queries=300)",
    "w10": "ads(queries=20, test_queries=5, ads=3, seed=7)",
}
GROUPS = {
    "g01": FeatureGroups(feature=128, threshold=0.3),
    "g02": FeatureGroups(feature=130, threshold=0.5),
    "g03": FeatureGroups(feature=41, threshold=0.0),
}
LETOR = """\
# a comment alone
2 qid:10 1:0.5 3:1e-3 7:-2.25 #docid = GX000
0 qid:10 2:.75 3:100000
1 qid:10

1 qid:20 1:0.333333333333333333 2:1 3:0.1 4:7 # another
0 qid:20 4:7 5:16777217
4 qid:5 1:1.7976931348623157e30 2:+3
0 qid:5 7:0.1
0 qid:5 1:2 2:4 3:6
"""
ROWS = "1.5,2,a\n0.25,-3,b\n9,0.1,a\n4,4,c\n0,1,b\n2,2,c\n3,1,a\n8,8,b\n"
FILES = ["l01", "l02", "l03", "l04", "b01", "q01"]
REVIEWS = ["v01", "v02", "v03", "v04"]


@pytest.mark.parametrize("record", WORLDS)
def test_world(record: str) -> None:
    made = load(WORLDS[record], prepared=False)
    check(record, train=arrays(made.train), test=arrays(made.test), facts=facts(made.train))


@pytest.mark.parametrize("record", GROUPS)
def test_groups(record: str) -> None:
    made = load("nonlinear(queries=6, test_queries=3)", groups=GROUPS[record])
    check(record, train=arrays(made.train), test=arrays(made.test))


def test_order_of_the_caller() -> None:
    made = load("nonlinear(queries=6, test_queries=3)")
    check(
        "o01",
        decent=whole(add_caller_order(made, "decent")),
        reversed=whole(add_caller_order(made, "reversed")),
    )


def test_letor_file(tmp_path: Path) -> None:
    plain, packed = tmp_path / "plain.txt", tmp_path / "packed.txt.gz"
    plain.write_text(LETOR)
    packed.write_bytes(gzip.compress(many_rows().encode()))
    check("l01", read=arrays(read_letor(plain)), wider=arrays(read_letor(plain, n_features=9)))
    check("l02", read=arrays(read_letor(packed)))


def test_preparation(tmp_path: Path) -> None:
    path = tmp_path / "plain.txt"
    path.write_text(many_rows())
    raw = read_letor(path)
    kept, other = drop_constant_features(raw, raw)
    check(
        "l03",
        scaled=arrays(normalise_per_query(raw)),
        unit=arrays(scale_to_unit_length(raw)),
        kept=[arrays(kept), arrays(other)],
        padded=[arrays(each) for each in pad_features(raw, raw, n_features=12)],
        joined=arrays(concatenate(raw, kept)),
        facts=facts(raw),
    )
    made = prepare(Dataset("raw", raw, raw, None, "raw"))
    check("l04", prepared=whole(made), facts=facts(made.train))


def test_labelled_rows(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text(ROWS * 4)
    rows = read_labelled(path)
    made = split_visitors(rows, VisitorOptions(seed=3))
    check("b01", rows=[rows.features, rows.classes], train=arrays(made.train), test=arrays(made.test))


def test_trec_files(tmp_path: Path) -> None:
    made = load("linear(queries=6, test_queries=3)", prepared=False).train
    scores = np.random.default_rng(2).random(len(made.features)).round(1)
    (tmp_path / "qrels").write_text(format_qrels(made))
    (tmp_path / "run").write_text(format_run(made, scores, tag="it", depth=7))
    judged, found = read_qrels(tmp_path / "qrels"), read_run(tmp_path / "run")
    check(
        "q01",
        grades=[list(each.values()) for each in judged.values()],
        scores=[list(each.values()) for each in found.values()],
        ranked=[sort_run(judged[name], found[name]) for name in judged],
    )


def test_reviews() -> None:
    reviews = AccessoryShop(users=30, items=18, seed=2).reviews()
    rng = np.random.default_rng(4)
    check("v01", reviews=arrays_of(reviews))
    check("v02", parts=parts_of(by_share(reviews, rng)))
    check("v03", parts=parts_of(by_time(reviews, test=0.2)))
    old, new = newcomers(reviews, rng, share=0.2)
    check("v04", old=arrays_of(old), new=arrays_of(new), joined=arrays_of(joined(old, new)))


def test_all_are_here() -> None:
    check_ids([*WORLDS, *GROUPS, "o01", *FILES, *REVIEWS])


def arrays(queries: QuerySet) -> list[Numbers]:
    """Everything of a set; texts as the number of the first that is the same."""
    return [
        queries.features,
        queries.offsets,
        queries.relevance,
        numbered(queries.ids),
        numbered(queries.doc_ids),
        numbered(queries.groups),
        queries.contexts,
        queries.caller_scores,
        queries.caller_log_ranks,
    ]


def whole(made: Dataset) -> list[Numbers]:
    return [arrays(made.train), arrays(made.test), None if made.vali is None else arrays(made.vali)]


def facts(queries: QuerySet) -> list[Numbers]:
    counted = [each for each in astuple(summarise_queries(queries)) if not isinstance(each, str)]
    return [counted, effective_rank(queries)]


def numbered(names: Sequence[str]) -> list[int]:
    numbers: dict[str, int] = {}
    return [numbers.setdefault(name, len(numbers)) for name in names]


def arrays_of(reviews: Reviews) -> list[Numbers]:
    said = reviews.mentions
    return [
        *(reviews.user, reviews.item, reviews.rating, reviews.time),
        *(said.review, said.feature, said.sentiment, said.word, said.sentence),
        None if reviews.attributes is None else reviews.attributes.toarray(),
        reviews.count_mentions("user", sentiment=1).toarray(),
    ]


def parts_of(parts: Parts) -> list[Numbers]:
    return [arrays_of(part) for part in (parts.train, parts.validation, parts.test)]


def many_rows() -> str:
    """A file with sparse rows, a constant feature and numbers of many digits."""
    rng = np.random.default_rng(8)
    lines = []
    for query in range(30):
        for _ in range(int(rng.integers(1, 9))):
            there = np.flatnonzero(rng.random(8) < 0.6)
            numbers = (
                f"{column + 1}:{float(rng.normal() * 10.0 ** rng.integers(-6, 6))!r}" for column in there
            )
            lines.append(f"{rng.integers(5)} qid:{query} {' '.join(numbers)} 9:3")
    return "\n".join(lines)
