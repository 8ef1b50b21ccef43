"""Tuple files of published collections: ratings with the features that each review mentions.

Wang, Wang, Jia, Yin: Explainable recommendation via multi-task learning in opinionated text data. SIGIR 2018.
Tao, Jia, Wang, Wang: The FacT: taming latent factor models for explainability with factorization trees.
SIGIR 2019.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

import numpy as np

from rankloop.errors import DataError
from rankloop.lab.data.review_files import with_titles
from rankloop.lab.data.text_lines import read_lines
from rankloop.recommend.reviews import NO_WORD, Mentions, Reviews

Mention: TypeAlias = tuple[int, int, int]  # feature, sentiment, word
Line: TypeAlias = tuple[int, int, float, int, list[Mention]]  # user, item, rating, time, mentions


def read_cellphones(folder: str | Path) -> tuple[Reviews, Reviews]:
    """Training and test reviews of phones and accessories, in the files of MTER or in those of FacT.

    Opinion words are known for a tenth of the tuples, and used for training reviews only.
    """
    folder = Path(folder)
    names = (
        ("train.entry.gz", "test.entry.gz")
        if (folder / "train.entry.gz").exists()
        else ("train.txt.gz", "test.txt.gz")
    )
    parse = _colons if names[0].endswith("entry.gz") else _blanks
    train, test = (_lines(folder / name, 4, parse) for name in names)
    features = _names(folder / "featuremap.txt.gz")
    both = _reviews([*train, *test], features, ())
    first: np.ndarray[tuple[int], np.dtype[np.bool_]] = np.arange(len(both)) < len(train)
    if (folder / "itemmap.txt.gz").exists():
        both = with_titles(
            replace(both, items=_names(folder / "itemmap.txt.gz")), _titles(folder / "itemmap.txt.gz")
        )
        both = _with_words(both, folder, first)
    return both.select(first), both.select(~first)


def read_instruments(folder: str | Path) -> Reviews:
    """Reviews of musical instruments with their time, features, words and sentiments."""
    folder = Path(folder)
    lines = _lines(folder / "tuples.csv.gz", 5, _triples)
    features, words = (_names(folder / f"{kind}map.txt.gz") for kind in ("feature", "word"))
    return _reviews(lines, features, words, timed=True)


def _reviews(
    lines: list[Line], features: tuple[str, ...], words: tuple[str, ...], *, timed: bool = False
) -> Reviews:
    user, item, rating, time = (np.array([line[part] for line in lines]) for part in range(4))
    cells = np.array(
        [(row, *mention) for row, line in enumerate(lines) for mention in line[4]], np.int64
    ).reshape(-1, 4)
    return Reviews(
        user=user,
        item=item,
        rating=rating.astype(float),
        users=tuple(f"user {number}" for number in range(int(user.max()) + 1)),
        items=tuple(f"item {number}" for number in range(int(item.max()) + 1)),
        time=time if timed else None,
        mentions=Mentions(cells[:, 0], cells[:, 1], cells[:, 2], cells[:, 3]),
        features=features,
        words=words,
    )


def _with_words(reviews: Reviews, folder: Path, train: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> Reviews:
    """Opinion words put where a mention of the same review and feature has none yet."""
    row_of = {pair: row for row, pair in enumerate(reviews.pairs.tolist()) if train[row]}
    free: dict[tuple[int, int], list[int]] = {}
    mentions = reviews.mentions
    good = np.argsort(
        -mentions.sentiment, kind="stable"
    ).tolist()  # words without a sentiment: positive first
    for number in reversed(good):
        free.setdefault((int(mentions.review[number]), int(mentions.feature[number])), []).append(number)
    word = mentions.word.copy()
    for user, item, feature, opinion in _words(folder / "opinion_words_10pct_sample.uifwords_entry.gz"):
        row = row_of.get(user * reviews.n_items + item)
        if row is not None and (open_ := free.get((row, feature))):
            word[open_.pop()] = opinion
    words = _names(folder / "wordmap.txt.gz")
    return replace(reviews, words=words, mentions=replace(mentions, word=word))


def _words(path: Path) -> Iterator[tuple[int, ...]]:
    for lines in read_lines(path):
        for line in lines.content:
            yield tuple(map(int, line.split(b",")[:4]))


def _lines(path: Path, columns: int, parse: Callable[[bytes], list[Mention]]) -> list[Line]:
    """Every line of a tuple file; the time is 0 where there is none."""
    read: list[Line] = []
    for lines in read_lines(path):
        for number, line in enumerate(lines.content, lines.first):
            cells = line.strip().split(b",")
            try:
                if len(cells) != columns:
                    raise ValueError
                time = int(cells[3]) if columns == 5 else 0
                read.append((int(cells[0]), int(cells[1]), float(cells[2]), time, parse(cells[-1])))
            except (ValueError, IndexError):
                expected = f"{columns} values with commas, the last one the mentions"
                raise lines.error(
                    number, expected=expected, found=repr(line.decode(errors="replace"))
                ) from None
    if not read:
        raise DataError(f"{path}: expected a review on every line, found none")
    return read


def _colons(cell: bytes) -> list[Mention]:
    pairs = (each.split(b":") for each in cell.split())
    return [(int(feature), int(sentiment), NO_WORD) for feature, sentiment in pairs]


def _blanks(cell: bytes) -> list[Mention]:
    numbers = list(map(int, cell.split()))
    return [
        (feature, sentiment, NO_WORD) for feature, sentiment in zip(numbers[::2], numbers[1::2], strict=True)
    ]


def _triples(cell: bytes) -> list[Mention]:
    triples = (tuple(map(int, each.split(b":"))) for each in cell.split())
    return [(feature, sentiment, word) for feature, word, sentiment in triples]


def _names(path: Path) -> tuple[str, ...]:
    return tuple(_columns(path, 1))


def _titles(path: Path) -> list[str]:
    return list(_columns(path, 2))


def _columns(path: Path, column: int) -> Iterator[str]:
    for lines in read_lines(path):
        for line in lines.content:
            yield line.decode("utf-8", errors="replace").strip().split("=", 2)[column]
