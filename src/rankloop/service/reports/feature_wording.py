"""Weights of features in plain words: what is better, how much it matters, and how that has changed."""

from __future__ import annotations

import re
from typing import Literal, TypeAlias

Strength: TypeAlias = Literal["decides most", "matters much", "matters", "hardly matters"]

WORDS = {  # parts of a feature's name: what more of it is called, and what less
    ("price", "cost", "fee"): ("dearer", "cheaper"),
    ("length", "len", "chars", "words", "duration", "pages"): ("longer", "shorter"),
    ("age", "old"): ("older", "newer"),
    ("freshness", "recency", "fresh", "recent"): ("newer", "older"),
    ("rating", "stars", "reviews"): ("better rated", "worse rated"),
    ("distance", "km", "miles"): ("farther away", "nearer"),
    ("popularity", "popular", "views", "sales", "clicks", "downloads"): ("more popular", "less popular"),
    ("stock", "available", "availability"): ("in stock", "out of stock"),
    ("discount", "saving"): ("a larger discount", "a smaller discount"),
    ("bm25", "match", "matches", "similarity", "relevance", "tfidf", "overlap"): (
        "a better match",
        "a weaker match",
    ),
    ("delivery", "delay", "latency", "wait"): ("slower", "faster"),
    ("size", "bytes", "weight", "volume"): ("larger", "smaller"),
    ("depth", "level", "dots", "nesting"): ("deeper", "less deep"),
}
MUCH: tuple[tuple[Strength, float], ...] = (
    ("decides most", 0.6),
    ("matters much", 0.3),
    ("matters", 0.1),
)  # of the largest weight


def better(feature: str, weight: float) -> str:
    """What is better, by the sign of a weight.

    >>> better("title_length", -0.6), better("price", -0.1), better("x7", 0.2), better("daysOld", 1.0)
    ('shorter is better', 'cheaper is better', 'more is better', 'older is better')
    """
    parts = set(re.findall(r"[a-z]+\d*|\d+", re.sub(r"([a-z])([A-Z])", r"\1 \2", feature).lower()))
    more, less = next(
        (words for stems, words in WORDS.items() if parts.intersection(stems)), ("more", "less")
    )
    return f"{more if weight >= 0 else less} is better"


def strength(weight: float, largest: float) -> Strength:
    """How much a weight matters beside the largest one.

    >>> strength(-0.64, 0.64), strength(0.2, 0.64), strength(-0.009, 0.64)
    ('decides most', 'matters much', 'hardly matters')
    """
    share = abs(weight) / largest if largest else 0.0
    return next((word for word, least in MUCH if share >= least), "hardly matters")


def changed(before: float, after: float, largest: float) -> str:
    """How a weight has changed: by how much it counts, and for what; never by its sign alone.

    >>> changed(-0.009, -0.640, 0.64), changed(-0.64, -0.2, 0.64), changed(0.3, -0.3, 0.64)
    ('counts more', 'counts less', 'turned round')
    >>> changed(0.3, 0.31, 0.64)
    'counts as before'
    """
    if abs(after - before) < 0.05 * largest:
        return "counts as before"
    if before * after < 0 and min(abs(before), abs(after)) >= 0.05 * largest:
        return "turned round"
    return "counts more" if abs(after) > abs(before) else "counts less"
