"""What is found in sentences, and what must not change it."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankloop.errors import SettingError
from rankloop.lab.reviews import RawReview, extract, extract_mentions, keep_frequent, read_review
from rankloop.lab.reviews.aspect_nouns import Aspect, find_aspects
from rankloop.lab.reviews.aspect_opinions import WINDOW, _distance, _take_nearest
from rankloop.lab.reviews.lexicon import word_set
from rankloop.lab.reviews.opinion_words import NEGATORS, Opinion, find_opinions
from rankloop.lab.reviews.review_tokens import BOUNDARY, make_token, split_sentences, split_words
from tests.lab.reviews.samples import sample

ASPECTS = ["screen", "battery life", "coffee", "waiter", "strap", "picture quality"]
PRAISE = ["good", "excellent", "crisp", "reliable", "comfortable", "sturdy"]
COMPLAINTS = ["bad", "terrible", "soggy", "flimsy", "noisy", "overpriced"]
TEXTS = [review.text for review in sample()]


def said(text: str) -> list[tuple[str, str, int]]:
    return [(each.aspect, each.opinion, each.sentiment) for each in extract_mentions(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A bright screen.", [("screen", "bright", 1)]),
        ("The battery life is terrible.", [("battery life", "terrible", -1)]),
        ("The soup was cold and salty.", [("soup", "cold", -1), ("soup", "salty", -1)]),
        ("A good, sturdy strap", [("strap", "sturdy", 1), ("strap", "good", 1)][::-1]),
        ("The staff and the food were great.", [("staff", "great", 1), ("food", "great", 1)]),
        ("I love the keyboard and the trackpad!", [("keyboard", "love", 1), ("trackpad", "love", 1)]),
        ("It is like a keyboard.", []),
        ("Nice case, but the buttons are stiff.", [("case", "nice", 1), ("buttons", "stiff", -1)]),
        ("The zipper works well.", [("zipper", "well", 1)]),
        ("The dish was poorly prepared.", [("dish", "poorly prepared", -1)]),
        ("The hinge isn't reliable.", [("hinge", "reliable", -1)]),
        ("The hinge isn’t reliable.", [("hinge", "reliable", -1)]),
        ("Not only cheap, the cable is sturdy.", [("cable", "sturdy", 1)]),
        ("The cord is too short.", [("cord", "short", -1)]),
        ("A low price", [("price", "low", 1)]),
        ("A low volume", [("volume", "low", -1)]),
        ("The hard drive is noisy.", [("hard drive", "noisy", -1)]),
        ("GREAT SOUND!!!", [("sound", "great", 1)]),
        ("The motor stopped working after two weeks.", [("motor", "stopped working", -1)]),
        ("It arrived on Tuesday.", []),
        ("¿?! ... 5/5 :-)", []),
        ("", []),
    ],
)
def test_sentences_are_read_as_people_read_them(text: str, expected: list[tuple[str, str, int]]) -> None:
    assert said(text) == expected


@given(
    st.sampled_from(ASPECTS),
    st.sampled_from(PRAISE + COMPLAINTS),
    st.lists(st.sampled_from(sorted(NEGATORS - {"n't", "nothing", "nobody", "none"})), max_size=3),
)
def test_every_negator_turns_an_opinion_round(aspect: str, opinion: str, negators: list[str]) -> None:
    sign = (1 if opinion in PRAISE else -1) * (-1) ** len(negators)
    text = f"The {aspect} is {' '.join(negators)} {opinion}."
    assert said(text) == [(aspect, opinion, sign)]


@given(st.lists(st.sampled_from(TEXTS), max_size=4), st.sampled_from([" ", "\n", "  \n\n"]))
def test_a_text_mentions_what_its_parts_mention(parts: list[str], blank: str) -> None:
    assert list(extract_mentions(blank.join(parts))) == [
        each for part in parts for each in extract_mentions(part)
    ]


@given(st.text())
def test_sentences_and_words_lose_nothing_but_blanks(text: str) -> None:
    letters = "".join(text.split())
    assert "".join("".join(sentence.split()) for sentence in split_sentences(text)) == letters
    assert "".join(word for sentence in split_sentences(text) for word in split_words(sentence)) == letters
    assert all(each.sentiment in (-1, 1) for each in extract_mentions(text))


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("One. Two! Three?", 3),
        ("It cost $3.50 at example.com today.", 1),
        ("Mr. Smith asked e.g. for this, vs. that.", 1),
        ("He said “no.” Then he left", 2),
        ("No blank here.So what", 2),
        ("Well... yes", 2),
        ("first line\nsecond line", 2),
    ],
)
def test_sentences_end_where_they_end(text: str, count: int) -> None:
    assert len(split_sentences(text)) == count


@pytest.mark.parametrize("least", [1, 3])
def test_the_order_of_the_reviews_does_not_matter(least: int) -> None:
    reviews = sample()
    shuffled = [reviews[row] for row in np.random.default_rng(1).permutation(len(reviews))]
    assert set(extract(shuffled, least=least)) == set(extract(reviews, least=least))


def test_what_is_ignored_is_no_aspect_whatever_its_case() -> None:
    review = RawReview(user="ada", item="x", rating=5, text="A great guitar and a great sound.")
    names = [{each.aspect for each in one.mentions} for one in extract([review], least=1, ignored=["Guitar"])]
    assert names == [{"sound"}]


def test_kept_aspects_are_in_enough_reviews_and_nothing_frequent_is_lost() -> None:
    reviews = [read_review(review) for review in sample()]
    for least in (1, 2, 4, 8):
        kept = keep_frequent(reviews, least=least)
        names = {each.aspect for review in kept for each in review.mentions}
        for name in names:
            assert sum(any(each.aspect == name for each in review.mentions) for review in kept) >= least or (
                sum(any(each.aspect.split()[-1] == name for each in one.mentions) for one in reviews) >= least
            )
        often = {
            name
            for name in {each.aspect for review in reviews for each in review.mentions}
            if sum(any(each.aspect == name for each in review.mentions) for review in reviews) >= least
        }
        assert often <= names


def test_aspects_that_nobody_needs_to_mention_are_refused() -> None:
    with pytest.raises(SettingError, match="1 or more, found 0"):
        extract(sample(), least=0)


SLOW_BOUNDARY = re.compile(r"""[.!?]+["')\]”’]*(?=\s|$)|[.!?]+(?=[A-Z][a-z])|\n+""")


@given(st.text(st.sampled_from(".!?\"')]” \nAbx"), max_size=30))
def test_sentences_end_where_the_slow_rule_ends_them(text: str) -> None:
    assert [each.span() for each in BOUNDARY.finditer(text)] == [
        each.span() for each in SLOW_BOUNDARY.finditer(text)
    ]


@given(
    st.lists(st.sampled_from(sorted(word_set("good bad not case screen , the was and very too top notch"))))
)
def test_the_nearest_opinion_is_the_one_that_a_search_through_all_finds(said: list[str]) -> None:
    clause = [make_token(word) for word in said]
    found = find_opinions(clause)
    links: dict[Aspect, list[Opinion]] = {each: [] for each in find_aspects(clause, found)}
    slow = {aspect: sorted((_distance(clause, aspect, each), each) for each in found)[:1] for aspect in links}
    _take_nearest(clause, links, found)
    assert links == {
        aspect: [each for distance, each in near if distance <= WINDOW] for aspect, near in slow.items()
    }


@pytest.mark.parametrize(
    "text",
    ["!" * 100_000 + "x", "." * 100_000 + "x", "good, case, " * 8_000, "good case " * 10_000, "n't" * 30_000],
    ids=["shouts", "dots", "a list without an end", "no punctuation", "apostrophes"],
)
def test_a_very_long_review_is_read_in_one_go(text: str) -> None:
    """Quadratic rules would take minutes, and the run would be stopped."""
    assert all(each.aspect for each in extract_mentions(text))
