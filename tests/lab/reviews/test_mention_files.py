"""Reviews in and out of files: mistakes are named with their line, a folder is written whole or not."""

from __future__ import annotations

import csv
import gzip
import json
from dataclasses import asdict
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankloop.errors import DataError
from rankloop.lab.data.review_data import read_reviews
from rankloop.lab.reviews import RawReview, extract, read_raw_reviews, write_extracted
from tests.lab.reviews.samples import sample

NAMES = st.text(st.characters(codec="utf-8", categories=["L", "N", "P", "S"]), min_size=1, max_size=8)
RAW = st.builds(
    RawReview,
    user=NAMES,
    item=NAMES,
    rating=st.floats(-10, 10),
    text=st.text(st.characters(codec="utf-8", exclude_characters="&<\r\0")),
    time=st.none() | st.integers(0, 2**40),
)
HEADER = "user,item,rating,text,time,title\n"
ROW = "ada,lamp,4,fine,,\n"


@given(st.lists(RAW, min_size=1, max_size=4))
def test_csv_and_json_lines_are_read_alike(
    tmp_path_factory: pytest.TempPathFactory, reviews: list[RawReview]
) -> None:
    folder = tmp_path_factory.mktemp("reviews")
    with (folder / "a.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(asdict(reviews[0]))
        writer.writerows(asdict(review).values() for review in reviews)
    lines = "".join(json.dumps(asdict(review)) + "\n" for review in reviews)
    (folder / "a.jsonl.gz").write_bytes(gzip.compress(lines.encode()))
    assert read_raw_reviews(folder / "a.csv") == reviews
    assert read_raw_reviews(folder / "a.jsonl.gz") == reviews


def test_texts_of_web_pages_are_read_as_people_see_them(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("﻿" + HEADER + 'ada,lamp,4,"It&#39;s <br />good & <b>cheap",,"A  &quot;big&quot; lamp"\n')
    (review,) = read_raw_reviews(path)
    assert review == RawReview(
        user="ada", item="lamp", rating=4, text="It's \ngood & <b>cheap", title='A "big" lamp'
    )


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", "", "line 1: expected a header with user, item, rating, text .* found no user in an empty"),
        ("a.csv", "user,item,text\n", "line 1: .* found no rating in user, item, text"),
        ("a.csv", HEADER, "expected reviews .* found none"),
        ("a.csv", HEADER + "ada,lamp,4,fine,,\nben,lamp,five,fine,,\n", "line 3: rating must be .* 'five'"),
        ("a.csv", HEADER + "ada,lamp,nan,fine,,\n", "line 2: rating must be a number, found 'nan'"),
        ("a.csv", HEADER + 'ada,lamp,4,"two\nlines",,\n,lamp,4,fine,,\n', "line 4: user must be a name"),
        ("a.csv", HEADER + "ada,lamp,4,fine,,\nben,lamp,4,nice\n", "line 3: expected 6 values"),
        ("a.csv", HEADER + "ada,lamp,4,a,b,c,d\n", "line 2: expected 6 values .* double quotes"),
        ("a.csv", HEADER + 'ada,lamp,4,"never ends\n', "line 2: expected CSV, found unexpected end"),
        ("a.csv", HEADER + "ada,lamp,4,fine,soon,\n", "line 2: time must be a number, found 'soon'"),
        ("a.jsonl", '\n{"user": "ada"', "line 2: expected a JSON object, found"),
        ("a.jsonl", "[1, 2]\n", r"line 1: expected a JSON object, found \[1, 2\]"),
        ("a.jsonl", '{"user": "a", "item": 3, "rating": true, "text": ""}', "line 1: rating .* True"),
        ("a.jsonl", '{"user": "a", "item": 3, "rating": 4, "text": null}', "line 1: text must be .* None"),
        (
            "a.jsonl",
            '{"user": "a\\nb", "item": 3, "rating": 4, "text": ""}',
            "line 1: user must be .* one line",
        ),
        ("a.csv", b"user,item,rating,text\nada,lamp,4,caf\xe9\n", "expected text in UTF-8"),
        ("a.csv.gz", "user,item", "expected text in UTF-8, plain or in a whole .gz"),
        ("a.csv.gz", gzip.compress((HEADER + ROW * 99).encode(), mtime=0)[:-9], "a whole .gz file, found"),
    ],
)
def test_a_mistake_in_a_file_is_named(tmp_path: Path, name: str, content: str | bytes, message: str) -> None:
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(DataError, match=f"{name}.*{message}"):
        read_raw_reviews(path)


def test_what_was_extracted_is_read_again(tmp_path: Path) -> None:
    found = extract(sample(), least=1)
    for name in ("a", "b"):
        write_extracted(found, tmp_path / name / "out.jsonl")
    assert (tmp_path / "a" / "out.jsonl").read_bytes() == (tmp_path / "b" / "out.jsonl").read_bytes()
    read = read_reviews(tmp_path / "a" / "out.jsonl")
    columns = (read.mentions.review, read.mentions.feature, read.mentions.sentiment, read.mentions.word)
    again = [
        (row, read.features[feature], sentiment, read.words[word], read.sentences[sentence])
        for row, feature, sentiment, word, sentence in zip(*columns, read.mentions.sentence, strict=True)
    ]
    assert again == [
        (row, each.aspect, each.sentiment, each.opinion, each.sentence)
        for row, review in enumerate(found)
        for each in review.mentions
    ]
    assert [read.users[row] for row in read.user] == [review.user for review in found]
    assert [read.title(row) for row in read.item] == [review.title for review in found]


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError])
def test_an_interrupted_file_is_not_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: type[BaseException]
) -> None:
    def interrupted(path: Path, text: str, encoding: str) -> None:
        path.write_bytes(text.encode(encoding)[:10])
        raise error

    monkeypatch.setattr(Path, "write_text", interrupted)
    with pytest.raises(error):
        write_extracted(extract(sample(), least=1), tmp_path / "deep" / "out.jsonl")
    assert list((tmp_path / "deep").iterdir()) == []


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("precious")
    for path in (tmp_path, tmp_path / "mine.txt"):
        with pytest.raises(DataError, match="exists: name a new file, or remove it first"):
            write_extracted(extract(sample()), path)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]
    assert (tmp_path / "mine.txt").read_text() == "precious"


def test_half_a_character_and_endless_blanks_are_read(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    text = "A good lid \\ud800." + "<p" + " " * 100_000
    path.write_text('{"user": "ada", "item": "lid", "rating": 4, "text": "' + text + '"}\n')
    found = extract(read_raw_reviews(path), least=1)
    write_extracted(found, tmp_path / "out.jsonl")
    assert [mention.aspect for mention in found[0].mentions] == ["lid"]
