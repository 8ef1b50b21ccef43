"""Reviews from CSV and from JSON lines: `user,item,rating[,time,title,mentions]`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from rankloop.errors import DataError
from rankloop.lab.data.table_rows import Row, name_in, number_in, table_rows, text_in, time_in
from rankloop.lab.data.text_lines import read_lines
from rankloop.lab.data.tidy import last_of_each, scaled_ratings
from rankloop.lab.data.titles import with_titles
from rankloop.recommend.reviews import NO_SENTENCE, NO_WORD, Mentions, Reviews

REQUIRED = ("user", "item", "rating")


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
    rows = list(table_rows(path, _lines(path), required=REQUIRED))
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
        time, said = time_in(row), list(_mentions(row.get("mentions") or ()))
        return {
            "user": name_in(row, "user"),
            "item": name_in(row, "item"),
            "rating": number_in(row, "rating"),
            "title": " ".join(text_in(row, "title").split()) if row.get("title") else "",
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
    return [text_in({"sentence": each}, "sentence") for each in said]


def _lines(path: Path) -> Iterator[str]:
    for chunk in read_lines(path):
        for number, line in enumerate(chunk.content, chunk.first):
            try:
                yield line.decode("utf-8")
            except UnicodeDecodeError as error:
                raise chunk.error(number, expected="text in UTF-8", found=str(error)) from None
