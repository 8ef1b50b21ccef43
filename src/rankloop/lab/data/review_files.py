"""Files of reviews: CSV and JSON lines of `user,item,rating[,time,title,mentions]`, read and written."""

from __future__ import annotations

import html
import json
import re
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from rankloop.errors import DataError
from rankloop.lab.data.table_rows import Row, get_name, get_number, get_text, get_time, read_rows
from rankloop.lab.data.text_lines import read_lines
from rankloop.recommend.reviews import NO_SENTENCE, NO_WORD, Mentions, Reviews
from rankloop.types import BoolArray, FloatArray, IntArray

REQUIRED = ("user", "item", "rating")
STOP_WORDS = frozenset(
    {
        *("a", "all", "an", "and", "at", "by", "for", "from", "in", "is", "it"),
        *("of", "on", "or", "our", "the", "this", "to", "with", "you", "your"),
    }
)


def read_reviews(path: str | Path, *, scale: tuple[float, float] = (1, 5), least: int = 5) -> Reviews:
    r"""Read reviews from a CSV file with a header, or from JSON lines; plain, gzip or xz.

    Mentions are `feature:sentiment` or `feature:sentiment:word`, with blanks between them, sentiment 1 or
    -1; in JSON they may also be lists, with the `sentences` they are from. Ratings of another `scale` are
    mapped to 1 ... 5. Words of at least so many titles become attributes.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "reviews.csv"
    >>> _ = path.write_text("user,item,rating,mentions\nanna,case,5,fit:1:snug\nben,case,2,fit:-1 colour:1\n")
    >>> reviews = read_reviews(path)
    >>> reviews.users, reviews.features, reviews.mentions.sentiment.tolist()
    (('anna', 'ben'), ('fit', 'colour'), [1, -1, 1])
    """
    path = Path(path)
    rows = list(read_rows(path, _lines(path), required=REQUIRED))
    if not rows:
        raise DataError(f"{path}: expected lines of {','.join(REQUIRED)} ..., found none")
    return _reviews(path, rows, scale, least)


def write_reviews(reviews: Reviews, path: str | Path) -> None:
    """Write reviews as JSON lines, which `read_reviews` reads."""
    mentions: dict[int, list[list[Any]]] = {}
    sentences: dict[int, list[str]] = {}
    said = reviews.mentions
    columns = (said.review, said.feature, said.sentiment, said.word, said.sentence)
    for row, feature, sentiment, word, sentence in zip(*(each.tolist() for each in columns), strict=True):
        named = [reviews.words[word]] if word != NO_WORD else []
        mentions.setdefault(row, []).append([reviews.features[feature], sentiment, *named])
        text = reviews.sentences[sentence] if sentence != NO_SENTENCE else ""
        sentences.setdefault(row, []).append(text)
    with Path(path).open("w", encoding="utf-8") as file:
        for row in range(len(reviews)):
            item = int(reviews.item[row])
            line = {
                "user": reviews.users[int(reviews.user[row])],
                "item": reviews.items[item],
                "rating": float(reviews.rating[row]),
                **({} if reviews.time is None else {"time": int(reviews.time[row])}),
                **({"title": reviews.titles[item]} if reviews.titles else {}),
                "mentions": mentions.get(row, []),
                **({"sentences": sentences.get(row, [])} if reviews.sentences else {}),
            }
            file.write(json.dumps(line) + "\n")


def scaled_ratings(rating: FloatArray, *, scale: tuple[float, float], highest: float = 5.0) -> FloatArray:
    """Map ratings of any scale linearly to 1 ... highest.

    >>> scaled_ratings(np.array([0.0, 5.0, 10.0]), scale=(0, 10)).tolist()
    [1.0, 3.0, 5.0]
    """
    low, high = scale
    if not low < high:
        raise DataError(f"a scale goes from its lowest rating to its highest, found {low:g} to {high:g}")
    if len(rating) and not low <= rating.min() <= rating.max() <= high:
        raise DataError(
            f"ratings must be from {low:g} to {high:g}, found {rating.min():g} to {rating.max():g}; "
            "say what the scale is, as in read_reviews(path, scale=(0, 10))"
        )
    return 1 + (highest - 1) * (rating - low) / (high - low)


def last_of_each(user: IntArray, item: IntArray, time: IntArray | None = None) -> BoolArray:
    """Mark the reviews to keep where a user reviewed an item again: the last one, by time or by row.

    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     last_of_each(np.array([0, 1, 0]), np.array([2, 2, 2])).tolist()
    [False, True, True]
    """
    order = np.arange(len(user)) if time is None else np.argsort(time, kind="stable")
    pairs = user.astype(np.int64) * (int(item.max(initial=0)) + 1) + item
    _, last = np.unique(pairs[order][::-1], return_index=True)
    keep = np.zeros(len(user), bool)
    keep[order[len(order) - 1 - last]] = True
    if dropped := len(user) - int(keep.sum()):
        warnings.warn(
            f"{dropped} of {len(user)} reviews are of an item that the same user reviews again later: "
            "the last is kept",
            stacklevel=2,
        )
    return keep


def with_titles(reviews: Reviews, titles: Sequence[str], *, least: int = 5) -> Reviews:
    """Return the reviews with titles, and with the words of at least so many titles as attributes.

    >>> one = np.array([0])
    >>> two = Reviews(user=one, item=one, rating=np.array([5.0]), users=("anna",), items=("1", "2"))
    >>> named = with_titles(two, ["Red Case for Phones", "Case &amp; cable"], least=2)
    >>> named.tokens, named.attributes.toarray().tolist()
    (('case',), [[1.0], [1.0]])
    """
    found = [title_words(title) for title in titles]
    often = Counter(word for words in found for word in words)
    tokens = tuple(sorted(word for word, count in often.items() if count >= least))
    column = {token: number for number, token in enumerate(tokens)}
    cells = [
        (row, column[word]) for row, words in enumerate(found) for word in sorted(words) if word in column
    ]
    rows, columns = np.array(cells, np.int64).reshape(-1, 2).T
    shape = (len(titles), len(tokens))
    attributes = sparse.csr_array((np.ones(len(cells)), (rows, columns)), shape=shape)
    return replace(reviews, titles=tuple(map(html.unescape, titles)), tokens=tokens, attributes=attributes)


def title_words(title: str) -> set[str]:
    """Return the words of a title that may tell something, in small letters of any alphabet.

    >>> sorted(title_words("Case for the iPhone&reg; 5"))
    ['5', 'case', 'iphone']
    """
    return set(re.findall(r"[^\W_]+", html.unescape(title).lower())) - STOP_WORDS


def _reviews(path: Path, rows: list[Row], scale: tuple[float, float], least: int) -> Reviews:
    """Number the names in the order in which they appear."""
    users: dict[str, int] = {}
    items: dict[str, int] = {}
    features: dict[str, int] = {}
    words: dict[str, int] = {}
    sentences: dict[str, int] = {}
    cells = [_checked(path, line, row) for line, row in rows]
    user = np.array([users.setdefault(row["user"], len(users)) for row in cells])
    item = np.array([items.setdefault(row["item"], len(items)) for row in cells])
    time = np.array([row["time"] for row in cells]) if all("time" in row for row in cells) else None
    said = [
        (
            number,
            features.setdefault(feature, len(features)),
            sentiment,
            words.setdefault(word, len(words)) if word else NO_WORD,
            sentences.setdefault(sentence, len(sentences)) if sentence else NO_SENTENCE,
        )
        for number, row in enumerate(cells)
        for (feature, sentiment, word), sentence in zip(row["mentions"], row["sentences"], strict=True)
    ]
    keep = last_of_each(user, item, time)
    mentions = np.array(said, np.int64).reshape(-1, 5).T
    mentions = mentions[:, keep[mentions[0]]]
    mentions[0] = (np.cumsum(keep) - 1)[mentions[0]]
    reviews = Reviews(
        user=user[keep],
        item=item[keep],
        rating=scaled_ratings(np.array([row["rating"] for row in cells]), scale=scale)[keep],
        users=tuple(users),
        items=tuple(items),
        time=None if time is None else time[keep],
        mentions=Mentions(*mentions),
        features=tuple(features),
        words=tuple(words),
        sentences=tuple(sentences),
    )
    titles = {row["item"]: row["title"] for row in cells if row["title"]}
    return (
        with_titles(reviews, [titles.get(name, name) for name in items], least=least) if titles else reviews
    )


def _checked(path: Path, line: int, row: Mapping[str, Any]) -> dict[str, Any]:
    where = f"{path}, line {line}"
    if missing := [name for name in REQUIRED if row.get(name) in (None, "")]:
        raise DataError(f"{where}: expected {', '.join(REQUIRED)}, found no {missing[0]}")
    try:
        time, said = get_time(row), list(_mentions(row.get("mentions") or ()))
        return {
            "user": get_name(row, "user"),
            "item": get_name(row, "item"),
            "rating": get_number(row, "rating"),
            "title": " ".join(get_text(row, "title").split()) if row.get("title") else "",
            "mentions": said,
            "sentences": _sentences(row.get("sentences"), len(said)),
            **({} if time is None else {"time": time}),
        }
    except (TypeError, ValueError) as error:
        raise DataError(f"{where}: expected numbers and mentions such as fit:1; {error}") from None


def _mentions(said: str | Iterable[Any]) -> Iterator[tuple[str, int, str]]:
    parts = (each.split(":") for each in said.split()) if isinstance(said, str) else map(_cells, said)
    for part in parts:
        if len(part) not in (2, 3) or not part[0] or part[1] not in (-1, 1, "-1", "1", "+1"):
            raise ValueError(f"found the mention {':'.join(map(str, part))!r}")
        yield str(part[0]), int(part[1]), str(part[2]) if len(part) == 3 else ""


def _cells(mention: Any) -> list[Any]:
    return mention.split(":") if isinstance(mention, str) else list(mention)


def _sentences(said: Any, count: int) -> list[str]:
    """The sentence of every mention, if they are given; else empty ones."""
    if not said:
        return [""] * count
    if not (isinstance(said, list) and len(said) == count):
        raise ValueError(f"found sentences that are not one for each of {count} mentions")
    return [get_text({"sentence": each}, "sentence") for each in said]


def _lines(path: Path) -> Iterator[str]:
    for chunk in read_lines(path):
        for number, line in enumerate(chunk.content, chunk.first):
            try:
                yield line.decode("utf-8")
            except UnicodeDecodeError as error:
                raise chunk.error(number, expected="text in UTF-8", found=str(error)) from None
