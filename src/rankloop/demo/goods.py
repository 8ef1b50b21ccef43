"""Goods of the demo's shop, and what reviewers may say of them, read from two plain texts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

FEATURES = ("weight", "warmth", "comfort", "price", "room", "sturdiness", "setup", "cleaning", "dryness")


@dataclass(frozen=True, slots=True)
class Good:
    """Something to buy; `good` and `bad` are its features that most people praise, or complain of."""

    id: str
    title: str
    kind: str
    price: int
    good: frozenset[str]
    bad: frozenset[str]
    spoken_of: tuple[str, ...]  # the features that matter in its kind


@dataclass(frozen=True, slots=True)
class Saying:
    """A sentence about a feature, with the word that praises (1) it or complains (-1)."""

    feature: str
    sentiment: int
    word: str
    sentence: str


@cache
def goods() -> tuple[Good, ...]:
    """All that is sold.

    >>> len(goods()), goods()[0].title
    (72, 'Lark 1 trekking tent')
    """
    return tuple(_goods(_lines("goods.txt")))


@cache
def sayings() -> Mapping[tuple[str, int], Sequence[Saying]]:
    """What may be said, by feature and sentiment.

    >>> sayings()["weight", 1][0].word
    'light'
    """
    found: dict[tuple[str, int], list[Saying]] = {}
    for line in _lines("sayings.txt"):
        feature, sign, word, sentence = line.split(maxsplit=3)
        sentiment = {"+": 1, "-": -1}[sign]
        found.setdefault((feature, sentiment), []).append(Saying(feature, sentiment, word, sentence))
    return found


def _goods(lines: Iterator[str]) -> Iterator[Good]:
    kind = ""
    spoken_of: tuple[str, ...] = ()
    for line in lines:
        if line.startswith("["):
            kind, _, named = line[1:].partition("]")
            spoken_of = tuple(named.split())
            continue
        name, title, price, good, bad = (each.strip() for each in line.split("|"))
        yield Good(name, title, kind, int(price), frozenset(good.split()), frozenset(bad.split()), spoken_of)


def _lines(name: str) -> Iterator[str]:
    text = files("rankloop.demo").joinpath(name).read_text("utf-8")
    return (line for line in text.splitlines() if line.strip() and not line.startswith("#"))
