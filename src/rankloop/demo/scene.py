"""Scene of the demo: a corpus, who ranks it, and what its visitors search and like."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rankloop.demo.product_search import Corpus
from rankloop.demo.taste import Taste
from rankloop.service import RankerSettings


@dataclass(frozen=True, slots=True)
class Word:
    """A feature in words: what has much of it, and what has little; nothing if it is there or not."""

    much: str
    little: str = ""


@dataclass(frozen=True, eq=False, kw_only=True)
class Scene:
    """Something to search, with those who search it."""

    title: str  # in the navigation
    ranker: str  # that learns from clicks
    settings: RankerSettings  # of that ranker
    corpus: Corpus
    tastes: Mapping[str, Taste]
    searches: Sequence[str]  # that visitors make
    examples: Sequence[str]  # that the page offers
    words: Mapping[str, Word]  # of features
