"""Reviews: what is refused, what is read, and how they are split."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankloop.errors import DataError, SettingError
from rankloop.lab.data.review_data import (
    AccessoryShop,
    by_share,
    by_time,
    joined,
    last_of_each,
    load_reviews,
    read_cellphones,
    read_instruments,
    read_reviews,
    scaled_ratings,
    write_reviews,
)
from rankloop.lab.data.review_files import title_words
from rankloop.recommend.opinion_profiles import sum_item_opinions
from rankloop.recommend.reviews import Mentions, Reviews

SHOP = AccessoryShop(users=40, items=24).reviews()


def cells(reviews: Reviews) -> set[tuple[str, str, float]]:
    rows = zip(reviews.user, reviews.item, reviews.rating, strict=True)
    return {(reviews.users[user], reviews.items[item], float(rating)) for user, item, rating in rows}


def said(reviews: Reviews) -> list[tuple[str, str, str, int, str]]:
    mentions = reviews.mentions
    return sorted(
        (
            reviews.users[reviews.user[row]],
            reviews.items[reviews.item[row]],
            reviews.features[feature],
            int(sentiment),
            reviews.words[word],
        )
        for row, feature, sentiment, word in zip(
            mentions.review, mentions.feature, mentions.sentiment, mentions.word, strict=True
        )
    )


@given(seed=st.integers(0, 99), validation=st.floats(0, 0.4), test=st.floats(0, 0.4))
def test_a_split_loses_nothing_and_mentions_stay_with_their_review(
    seed: int, validation: float, test: float
) -> None:
    parts = by_share(SHOP, np.random.default_rng(seed), validation=validation, test=test)
    three = (parts.train, parts.validation, parts.test)
    assert set.union(*map(cells, three)) == cells(SHOP)
    assert sum(map(len, three)) == len(SHOP)
    assert sorted(each for part in three for each in said(part)) == said(SHOP)


def test_the_latest_reviews_are_for_test() -> None:
    parts = by_time(SHOP)
    times = [part.time for part in (parts.train, parts.validation, parts.test)]
    assert all(time is not None for time in times)
    assert times[0].max() < times[1].min() <= times[1].max() < times[2].min()  # type: ignore[union-attr]
    with pytest.raises(DataError, match="by share"):
        by_time(replace(SHOP, time=None))


def test_the_same_shop_is_made_twice() -> None:
    again = AccessoryShop(users=40, items=24).reviews()
    assert cells(again) == cells(SHOP)
    assert said(again) == said(SHOP)
    assert cells(AccessoryShop(users=40, items=24, seed=1).reviews()) != cells(SHOP)


def test_what_is_written_is_read(tmp_path: Path) -> None:
    write_reviews(SHOP, tmp_path / "shop.jsonl")
    read = read_reviews(tmp_path / "shop.jsonl", least=2)
    assert cells(read) == cells(SHOP)
    assert said(read) == said(SHOP)
    assert set(read.tokens) <= set(SHOP.tokens)


def test_the_last_of_two_reviews_is_kept_with_a_warning(tmp_path: Path) -> None:
    path = tmp_path / "reviews.csv"
    path.write_text(
        "user,item,rating,time,mentions\na,x,1,20,fit:-1\na,x,5,30,fit:1\nb,x,3,10,size:1\na,x,2,5,fit:-1\n"
    )
    with pytest.warns(UserWarning, match="2 of 4 reviews"):
        reviews = read_reviews(path)
    assert cells(reviews) == {("a", "x", 5.0), ("b", "x", 3.0)}
    assert reviews.count_mentions("item").toarray().tolist() == [[1, 1]]
    assert last_of_each(np.array([0, 1]), np.array([0, 0])).all()


def test_every_scale_becomes_one_to_five() -> None:
    assert scaled_ratings(np.array([-1.0, 0.0, 1.0]), scale=(-1, 1)).tolist() == [1, 3, 5]
    with pytest.raises(DataError, match="say what the scale is"):
        scaled_ratings(np.array([7.0]), scale=(1, 5))


def test_a_sum_of_sentiments_that_is_zero_is_known() -> None:
    reviews = replace(
        SHOP, mentions=Mentions(np.array([0, 0]), np.array([2, 2]), np.array([1, -1])), words=()
    )
    opinions = sum_item_opinions(reviews)
    assert opinions.nnz == 1
    assert opinions.data.tolist() == [0.0]


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("user,item\na,x\n", "expected a header with user, item, rating, found no rating"),
        ("user,item,rating\na,x,\n", "line 2: expected user, item, rating, found no rating"),
        ("user,item,rating\na,x,good\n", "line 2: expected numbers"),
        ("user,item,rating,mentions\na,x,3,fit:2\n", "line 2: .*mention 'fit:2'"),
        ('{"user": "a", "item": "x", "rating": 3}\n[1]\n', "line 2: expected a JSON object"),
        ('{"user": "a", "item": "x", "rating": 3}\n{"user"\n', "line 2: expected a JSON object"),
        ("user,item,rating\n", "found none"),
        ("user,item,rating\na,x,5,6\n", "line 2: expected 3 values"),
        ("user,item,rating,rating\na,x,5,1\n", "line 1: .* found rating twice"),
        ('user,item,rating\n"a,x,5\n', "line 2: expected CSV"),
        ("user,item,rating,time\na,x,5,inf\n", "line 2: .* time must be a number"),
        ("user,item,rating,time\na,x,5,1e300\n", "line 2: .* time must be seconds"),
        (f"user,item,rating,title\na,x,5,{'b' * 200_000}\n", "line 2: expected CSV, found field larger"),
        ('{"user": {}, "item": "x", "rating": 3}\n', "line 1: .* user must be a name"),
        ('{"user": "a", "item": "x", "rating": true}\n', "line 1: .* rating must be a number, found True"),
        ('{"user": "a", "item": "x", "rating": 3, "title": ["b"]}\n', "line 1: .* title must be a text"),
        ('{"user": "a", "item": "x", "rating": 3, "mentions": [["", 1]]}\n', "found the mention ':1'"),
        ('{"user": "a", "item": "x", "rating": 3, "mentions": [["b", 1.7]]}\n', "found the mention 'b:1.7'"),
        (
            '{"user": "a", "item": "x", "rating": 3, "mentions": ["b:1"], "sentences": ["", ""]}\n',
            "sentences that are not one for each of 1 mentions",
        ),
        (f'{{"user": {"[" * 100_000}\n', "line 1: expected a JSON object"),
        (f'{{"user": "a", "item": "x", "rating": {"9" * 5000}}}\n', "line 1: expected a JSON object"),
    ],
)
def test_bad_files_are_refused_with_their_line(tmp_path: Path, lines: str, message: str) -> None:
    path = tmp_path / "reviews.csv"
    path.write_text(lines)
    with pytest.raises(DataError, match=message):
        read_reviews(path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rating": np.array([7.0])}, "from 1 to 5"),
        ({"user": np.array([1])}, "user must be from 0 to 0"),
        ({"user": np.array([0, 0]), "item": np.array([0, 0]), "rating": np.ones(2)}, "once"),
        ({"titles": ("a", "b")}, "2 titles for 1 items"),
        ({"item": np.array([0, 0])}, "every review needs"),
    ],
)
def test_impossible_reviews_are_refused(change: dict[str, object], message: str) -> None:
    one = {
        "user": np.array([0]),
        "item": np.array([0]),
        "rating": np.array([3.0]),
        "users": ("a",),
        "items": ("x",),
    }
    with pytest.raises(DataError, match=message):
        Reviews(**{**one, **change})  # type: ignore[arg-type]


def test_names_that_nobody_knows_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RANKLOOP_DATA", raising=False)
    with pytest.raises(SettingError, match="did you mean 'phones'"):
        load_reviews("phone")
    with pytest.raises(DataError, match="RANKLOOP_DATA is not set"):
        load_reviews("phones")
    with pytest.raises(SettingError, match="AccessoryShop has no setting 'colour'"):
        load_reviews("shop(colour=3)")


def test_the_authors_tuple_files_are_read(tmp_path: Path) -> None:
    (tmp_path / "train.entry.gz").write_text("0,0,5.0,0:1 0:1\n1,1,1.0,1:1 0:-1\n")
    (tmp_path / "test.entry.gz").write_text("0,1,4.0,1:1\n")
    (tmp_path / "featuremap.txt.gz").write_text("0=phone=9\n1=charge=3\n")
    (tmp_path / "wordmap.txt.gz").write_text("0=awesome\n1=weak\n")
    (tmp_path / "itemmap.txt.gz").write_text("0=A1=Red case\n1=A2=Cable = long\n")
    words = tmp_path / "opinion_words_10pct_sample.uifwords_entry.gz"
    words.write_text("0,0,0,0,1\n1,1,0,1,2\n0,1,1,0,3\n")  # the last belongs to a test review
    train, test = read_cellphones(tmp_path)
    assert cells(train) == {("user 0", "A1", 5.0), ("user 1", "A2", 1.0)}
    assert train.titles[1] == "Cable = long"
    assert sorted(train.mentions.word.tolist()) == [-1, -1, 0, 1]
    assert test.mentions.word.tolist() == [-1]
    (tmp_path / "tuples.csv.gz").write_text("0,0,5,99,1:0:-1\n")
    (one,) = said(read_instruments(tmp_path))
    assert one == ("user 0", "item 0", "charge", -1, "awesome")
    (tmp_path / "tuples.csv.gz").write_text("0,0,5,99\n")
    with pytest.raises(DataError, match="line 1: expected 5 values"):
        read_instruments(tmp_path)


def test_a_file_that_is_not_utf_8_is_refused_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "reviews.csv"
    path.write_bytes("user,item,rating\nanna,case,4\nzoé,case,5\n".encode("latin-1"))
    with pytest.raises(DataError, match=r"line 3: expected text in UTF-8"):
        read_reviews(path)


def test_line_ends_of_windows_and_a_byte_order_mark_change_nothing(tmp_path: Path) -> None:
    path = tmp_path / "reviews.csv"
    path.write_bytes(b"\xef\xbb\xbfuser,item,rating,title\r\nanna,case,4,Big  case\r\n")
    reviews = read_reviews(path)
    assert (reviews.users, reviews.items, reviews.titles) == (("anna",), ("case",), ("Big case",))


def test_sentences_travel_with_their_mentions_through_files_splits_and_unions(tmp_path: Path) -> None:
    path = tmp_path / "reviews.jsonl"
    lines = (
        {
            "user": f"user {n}",
            "item": "lid",
            "rating": 4,
            "mentions": [["fit", 1, "snug"], ["fit", -1]],
            "sentences": [f"A snug fit, {n}.", ""],
        }
        for n in range(9)
    )
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    reviews = read_reviews(path)
    parts = by_share(reviews, np.random.default_rng(0), validation=0.0, test=0.4)
    for part in (reviews, parts.train, parts.test, joined(parts.test, parts.train)):
        said = part.mentions
        for row, sentiment, sentence in zip(said.review, said.sentiment, said.sentence, strict=True):
            number = part.users[part.user[row]].split()[1]
            wanted = f"A snug fit, {number}." if sentiment == 1 else None
            assert (part.sentences[sentence] if sentence >= 0 else None) == wanted
    write_reviews(reviews, tmp_path / "again.jsonl")
    assert read_reviews(tmp_path / "again.jsonl").sentences == reviews.sentences


def test_title_words_of_any_alphabet_are_words() -> None:
    assert title_words("Café-Becher für 2 – Чашка") == {"café", "becher", "für", "2", "чашка"}
