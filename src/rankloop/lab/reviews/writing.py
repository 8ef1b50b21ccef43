"""Reviews with their mentions as files: JSON lines, and tuples of numbers with the maps that name them."""

from __future__ import annotations

import gzip
import json
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from rankloop.errors import DataError
from rankloop.lab.reviews.records import ReadReview

JSON_LINES = "reviews.jsonl"
TUPLES = "tuples.csv.gz"


def write_reviews(reviews: Sequence[ReadReview], folder: str | Path) -> None:
    """Write reviews into a new folder: all of its files, or none and no folder.

    `reviews.jsonl` has a line for each review, with `mentions` as `[aspect, sentiment, opinion]` and for each
    of them the sentence it is from. `tuples.csv.gz` has the same in numbers, `user,item,rating,time` and
    `f:w:s f:w:s ...`, with 0 for a time that is not known. The numbers are named by `usermap`, `itemmap`,
    `featuremap` and `wordmap` (`.txt.gz`), in lines of `number=name`; items have `number=name=title`, where
    `%3D` is a `=` in the name.
    """
    folder = Path(folder)
    check_new(folder)
    folder.parent.mkdir(parents=True, exist_ok=True)
    unfinished = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    try:
        unfinished.chmod(0o755)  # a temporary folder is its owner's alone
        _write_all(reviews, unfinished)
        if folder.exists():
            folder.rmdir()
        unfinished.rename(folder)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def check_new(folder: Path) -> None:
    """Refuse a folder that holds something: nothing is ever overwritten."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise DataError(f"{folder} exists and is no empty folder: name a new one, or remove it first")


def _write_all(reviews: Sequence[ReadReview], folder: Path) -> None:
    said = [mention for review in reviews for mention in review.mentions]
    users, items = _numbers(each.user for each in reviews), _numbers(each.item for each in reviews)
    features, words = _by_count(each.aspect for each in said), _by_count(each.opinion for each in said)
    titles = {review.item: review.title for review in reviews if review.title}
    entries = [f"{name.replace('=', '%3D')}={titles.get(name, name)}" for name in items]
    for kind, names in {"user": users, "item": entries, "feature": features, "word": words}.items():
        _write(folder / f"{kind}map.txt.gz", (f"{number}={name}" for number, name in enumerate(names)))
    _write(folder / TUPLES, (_tuple(each, users, items, features, words) for each in reviews))
    _write(folder / JSON_LINES, map(_json, reviews))


def _numbers(names: Iterable[str]) -> dict[str, int]:
    """Names numbered from 0 as they first appear."""
    return {name: number for number, name in enumerate(dict.fromkeys(names))}


def _by_count(names: Iterable[str]) -> dict[str, int]:
    """Names numbered from 0, the most frequent first and equals by the alphabet."""
    counts = Counter(names)
    return _numbers(sorted(counts, key=lambda name: (-counts[name], name)))


def _tuple(review: ReadReview, *numbers: dict[str, int]) -> str:
    users, items, features, words = numbers
    said = (f"{features[each.aspect]}:{words[each.opinion]}:{each.sentiment}" for each in review.mentions)
    stars = repr(float(review.rating)).removesuffix(".0")
    return f"{users[review.user]},{items[review.item]},{stars},{review.time or 0},{' '.join(said)}"


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


def _write(path: Path, lines: Iterable[str]) -> None:
    """Write lines, packed if the name says so; the same lines are the same bytes, at any time."""
    content = "".join(f"{line}\n" for line in lines).encode()
    path.write_bytes(gzip.compress(content, mtime=0) if path.suffix == ".gz" else content)
