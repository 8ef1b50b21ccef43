"""Reviews from CSV and from JSON lines: `user,item,rating[,time,title,mentions]`."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from rankloop.data.lines import read_lines
from rankloop.data.reviews.tidy import last_of_each, scaled_ratings
from rankloop.data.reviews.titles import with_titles
from rankloop.reviews import NO_WORD, Mentions, Reviews
from rankloop.types import DataError

REQUIRED = ("user", "item", "rating")


def read_reviews(path: str | Path, *, scale: tuple[float, float] = (1, 5), least: int = 5) -> Reviews:
    r"""Read reviews from a CSV file with a header, or from JSON lines; plain, gzip or xz.

    Mentions are `feature:sentiment` or `feature:sentiment:word`, with blanks between them, sentiment 1 or
    -1; in JSON they may also be lists. Ratings of another `scale` are mapped to 1 ... 5. Words of at least
    so many titles become attributes.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "reviews.csv"
    >>> _ = path.write_text("user,item,rating,mentions\nanna,case,5,fit:1:snug\nben,case,2,fit:-1 colour:1\n")
    >>> reviews = read_reviews(path)
    >>> reviews.users, reviews.features, reviews.mentions.sentiment.tolist()
    (('anna', 'ben'), ('fit', 'colour'), [1, -1, 1])
    """
    path = Path(path)
    rows = list(_rows(path))
    if not rows:
        raise DataError(f"{path}: expected lines of {','.join(REQUIRED)} ..., found none")
    return _reviews(path, rows, scale, least)


def write_reviews(reviews: Reviews, path: str | Path) -> None:
    """Write reviews as JSON lines, which `read_reviews` reads."""
    mentions: dict[int, list[list[Any]]] = {}
    said = reviews.mentions
    for row, feature, sentiment, word in zip(
        *(each.tolist() for each in (said.review, said.feature, said.sentiment, said.word)), strict=True
    ):
        named = [reviews.words[word]] if word != NO_WORD else []
        mentions.setdefault(row, []).append([reviews.features[feature], sentiment, *named])
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
            }
            file.write(json.dumps(line) + "\n")


def _reviews(
    path: Path, rows: list[tuple[int, Mapping[str, Any]]], scale: tuple[float, float], least: int
) -> Reviews:
    """Number the names in the order in which they appear."""
    users: dict[str, int] = {}
    items: dict[str, int] = {}
    features: dict[str, int] = {}
    words: dict[str, int] = {}
    cells = [_checked(path, line, row) for line, row in rows]
    user = np.array([users.setdefault(str(row["user"]), len(users)) for row in cells])
    item = np.array([items.setdefault(str(row["item"]), len(items)) for row in cells])
    time = np.array([row["time"] for row in cells]) if all("time" in row for row in cells) else None
    said = [
        (
            number,
            features.setdefault(feature, len(features)),
            sentiment,
            words.setdefault(word, len(words)) if word else NO_WORD,
        )
        for number, row in enumerate(cells)
        for feature, sentiment, word in row["mentions"]
    ]
    keep = last_of_each(user, item, time)
    mentions = np.array(said, np.int64).reshape(-1, 4).T
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
    )
    titles = {str(row["item"]): str(row["title"]) for row in cells if row.get("title")}
    return (
        with_titles(reviews, [titles.get(name, name) for name in items], least=least) if titles else reviews
    )


def _checked(path: Path, line: int, row: Mapping[str, Any]) -> dict[str, Any]:
    where = f"{path}, line {line}"
    if missing := [name for name in REQUIRED if row.get(name) in (None, "")]:
        raise DataError(f"{where}: expected {', '.join(REQUIRED)}, found no {missing[0]}")
    try:
        numbers = {"rating": float(row["rating"])}
        if row.get("time") not in (None, ""):
            numbers["time"] = int(float(row["time"]))
        return {**row, **numbers, "mentions": list(_mentions(row.get("mentions") or ()))}
    except (TypeError, ValueError) as error:
        raise DataError(f"{where}: expected numbers and mentions such as fit:1, found {error}") from None


def _mentions(said: str | Iterable[Any]) -> Iterator[tuple[str, int, str]]:
    parts = (each.split(":") for each in said.split()) if isinstance(said, str) else map(list, said)
    for part in parts:
        if len(part) not in (2, 3) or int(part[1]) not in (-1, 1):
            raise ValueError(f"the mention {':'.join(map(str, part))!r}")
        yield str(part[0]), int(part[1]), str(part[2]) if len(part) == 3 else ""


def _rows(path: Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    lines = (line.decode("utf-8") for chunk in read_lines(path) for line in chunk.content)
    first = next(lines, "")
    if first.lstrip().startswith("{"):
        yield from _json_rows(path, [first, *lines])
        return
    header = next(csv.reader([first]), [])
    if missing := [name for name in REQUIRED if name not in header]:
        raise DataError(
            f"{path}: expected a header with {', '.join(REQUIRED)}, found no {missing[0]} in {header}"
        )
    reader = csv.DictReader(lines, fieldnames=header)
    yield from ((reader.line_num + 1, row) for row in reader)


def _json_rows(path: Path, lines: list[str]) -> Iterator[tuple[int, Mapping[str, Any]]]:
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except json.JSONDecodeError as error:
            raise DataError(f"{path}, line {number}: expected a JSON object, found {error}") from None
        if not isinstance(row, dict):
            raise DataError(f"{path}, line {number}: expected a JSON object, found {line.strip()!r}")
        yield number, row
