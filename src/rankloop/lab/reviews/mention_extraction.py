"""Extraction: from the text of raw reviews to reviews with mentions, and the files of both."""

from __future__ import annotations

import gzip
import html
import json
import os
import re
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TextIO

from rankloop.errors import DataError, SettingError
from rankloop.lab.data.table_rows import Row, get_name, get_number, get_text, get_time, read_rows
from rankloop.lab.reviews.aspect_nouns import WEAK
from rankloop.lab.reviews.aspect_opinions import join_opinions
from rankloop.lab.reviews.review_tokens import make_token, split_clauses, split_sentences, split_words

LEAST = 20  # reviews that must mention an aspect
REQUIRED = ("user", "item", "rating", "text")
BREAK = re.compile(r"<\s*+(?:br|/?p)\s*+(?:/\s*+)?>", re.IGNORECASE)  # never looks at a blank twice


@dataclass(frozen=True, slots=True, kw_only=True)
class RawReview:
    """What somebody wrote about an item, with the stars they gave it."""

    user: str
    item: str
    rating: float
    text: str
    time: int | None = None  # seconds since 1970
    title: str = ""  # of the item


@dataclass(frozen=True, slots=True)
class Mention:
    """An aspect of an item, the word that praises it (1) or complains of it (-1), and where that is said."""

    aspect: str
    opinion: str
    sentiment: int
    sentence: str

    def __post_init__(self) -> None:
        """Refuse a mention without an opinion."""
        if self.sentiment not in (-1, 1):
            raise DataError(f"a sentiment must be 1 or -1, found {self.sentiment!r}")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadReview:
    """A review with what it mentions instead of its text."""

    user: str
    item: str
    rating: float
    time: int | None = None
    title: str = ""
    mentions: tuple[Mention, ...] = ()


def extract(
    reviews: Iterable[RawReview], *, least: int = LEAST, ignored: Iterable[str] = ()
) -> list[ReadReview]:
    """Read reviews, and keep the aspects that at least so many of them mention.

    `ignored` are nouns of your own that are no aspects, such as the name of what you sell. What is found in a
    review follows from its text alone; which aspects are kept, from all reviews in any order.

    >>> text = "Nice shade, but the switch isn't reliable."
    >>> read, = extract([RawReview(user="ada", item="lamp", rating=2, text=text)], least=1)
    >>> [(each.aspect, each.opinion, each.sentiment) for each in read.mentions]
    [('shade', 'nice', 1), ('switch', 'reliable', -1)]
    """
    weak = WEAK.union(word.lower() for word in ignored)
    return keep_frequent([read_review(review, weak=weak) for review in reviews], least=least)


def read_review(review: RawReview, *, weak: frozenset[str] = WEAK) -> ReadReview:
    """Return a review with everything that it mentions, however rare."""
    return ReadReview(
        user=review.user,
        item=review.item,
        rating=review.rating,
        time=review.time,
        title=review.title,
        mentions=tuple(extract_mentions(review.text, weak=weak)),
    )


def extract_mentions(text: str, *, weak: frozenset[str] = WEAK) -> Iterator[Mention]:
    """Find what a text mentions, in the order of its sentences.

    >>> next(extract_mentions("I love it. The battery life is not great!"))
    Mention(aspect='battery life', opinion='great', sentiment=-1, sentence='The battery life is not great!')
    """
    for sentence in split_sentences(text):
        tokens = [make_token(word) for word in split_words(sentence)]
        for clause in split_clauses(tokens):
            inside = tokens[clause.start : clause.stop]
            for aspect, opinion in join_opinions(inside, weak=weak):
                name, said = (
                    " ".join(each.lower for each in inside[start:stop])
                    for start, stop in (aspect, (opinion.word, opinion.stop))
                )
                yield Mention(name, said, opinion.sentiment, sentence)


def keep_frequent(reviews: Sequence[ReadReview], *, least: int = LEAST) -> list[ReadReview]:
    """Keep the aspects that at least so many of these reviews mention.

    A rarer aspect is called by its last noun, `strap` for `red strap`, if enough reviews mention that, alone
    or as the last noun of something longer.

    >>> said = [Mention(aspect, "soft", 1, "") for aspect in ("strap", "red strap", "bag")]
    >>> reviews = [ReadReview(user="ada", item="bag", rating=5, mentions=(each,)) for each in said]
    >>> [[mention.aspect for mention in review.mentions] for review in keep_frequent(reviews, least=2)]
    [['strap'], ['strap'], []]
    """
    if least < 1:
        raise SettingError(f"aspects are kept from a number of reviews of 1 or more, found {least}")
    whole = _count_reviews({mention.aspect for mention in review.mentions} for review in reviews)
    heads = _count_reviews({_head(mention.aspect) for mention in review.mentions} for review in reviews)
    names = {
        aspect: aspect if count >= least else _head(aspect)
        for aspect, count in whole.items()
        if max(count, heads[_head(aspect)]) >= least
    }
    return [replace(review, mentions=tuple(_rename(review.mentions, names))) for review in reviews]


def _count_reviews(mentioned: Iterable[set[str]]) -> Counter[str]:
    return Counter(name for names in mentioned for name in names)


def _head(aspect: str) -> str:
    return aspect.rpartition(" ")[2]


def _rename(mentions: Iterable[Mention], names: dict[str, str]) -> Iterable[Mention]:
    kept = ((each, names[each.aspect]) for each in mentions if each.aspect in names)
    return (each if each.aspect == name else replace(each, aspect=name) for each, name in kept)


def read_raw_reviews(path: str | Path) -> list[RawReview]:
    r"""Read raw reviews from a CSV file with a header, or from JSON lines; plain or `.gz`.

    The first mistake is reported with its line. Columns that are not asked for are ignored; escaped
    characters and line breaks of web pages are read as what they stand for.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "shop.csv"
    >>> _ = path.write_text('user,item,rating,text\nada,lamp,4,"Bright, &amp; cheap"\n')
    >>> read_raw_reviews(path)
    [RawReview(user='ada', item='lamp', rating=4.0, text='Bright, & cheap', time=None, title='')]
    """
    path = Path(path)
    try:
        with _open(path) as file:
            rows = read_rows(path, file, required=REQUIRED, optional=" and perhaps time and title")
            reviews = [_review(path, row) for row in rows]
    except (UnicodeDecodeError, gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise DataError(
            f"{path}: expected text in UTF-8, plain or in a whole .gz file, found {error}"
        ) from None
    if not reviews:
        raise DataError(f"{path}: expected reviews ({', '.join(REQUIRED)}), found none")
    return reviews


def _open(path: Path) -> TextIO:
    if path.suffix == ".gz":
        return gzip.open(
            path, "rt", encoding="utf-8-sig", newline=""
        )  # newlines in quotes are the CSV reader's
    return path.open(encoding="utf-8-sig", newline="")


def _review(path: Path, row: Row) -> RawReview:
    line, values = row
    try:
        return RawReview(
            user=get_name(values, "user"),
            item=get_name(values, "item"),
            rating=get_number(values, "rating"),
            text=_clean(get_text(values, "text")),
            time=get_time(values),
            title=" ".join(_clean(get_text({"title": "", **_given(values)}, "title")).split()),
        )
    except ValueError as error:
        raise DataError(f"{path}, line {line}: {error}") from None


def _given(values: Mapping[str, object]) -> dict[str, object]:
    """Return the values that are not null."""
    return {name: value for name, value in values.items() if value is not None}


def _clean(text: str) -> str:
    return html.unescape(BREAK.sub("\n", text))


def write_extracted(reviews: Sequence[ReadReview], path: str | Path) -> None:
    """Write reviews with their mentions as JSON lines, which `read_reviews` reads: a whole new file or none.

    A line has `mentions` as `[aspect, sentiment, opinion]` and for each of them the sentence it is from.
    """
    path = Path(path)
    check_new(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        unfinished.write_text("".join(f"{_json(review)}\n" for review in reviews), "utf-8")
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


def check_new(path: Path) -> None:
    """Refuse a path that exists: nothing is ever overwritten."""
    if path.exists():
        raise DataError(f"{path} exists: name a new file, or remove it first")


def _json(review: ReadReview) -> str:
    line = {
        "user": review.user,
        "item": review.item,
        "rating": review.rating,
        **({} if review.time is None else {"time": review.time}),
        **({"title": review.title} if review.title else {}),
        "mentions": [[each.aspect, each.sentiment, each.opinion] for each in review.mentions],
        "sentences": [each.sentence for each in review.mentions],
    }
    return json.dumps(line, ensure_ascii=False)
