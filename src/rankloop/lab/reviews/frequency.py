"""Document frequency: aspects that few reviews mention become their head noun, or are dropped."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from rankloop.errors import SettingError
from rankloop.lab.reviews.records import Mention, ReadReview

LEAST = 20
"""How many reviews must mention an aspect."""


def frequent(reviews: Sequence[ReadReview], *, least: int = LEAST) -> list[ReadReview]:
    """The reviews with the aspects that at least so many of them mention.

    A rarer aspect is called by its last noun, `strap` for `red strap`, if enough reviews mention that, alone
    or as the last noun of something longer.

    >>> said = [Mention(aspect, "soft", 1, "") for aspect in ("strap", "red strap", "bag")]
    >>> reviews = [ReadReview(user="ada", item="bag", rating=5, mentions=(each,)) for each in said]
    >>> [[mention.aspect for mention in review.mentions] for review in frequent(reviews, least=2)]
    [['strap'], ['strap'], []]
    """
    if least < 1:
        raise SettingError(f"aspects are kept from a number of reviews of 1 or more, found {least}")
    whole = _document_frequency({mention.aspect for mention in review.mentions} for review in reviews)
    heads = _document_frequency({_head(mention.aspect) for mention in review.mentions} for review in reviews)
    names = {
        aspect: aspect if count >= least else _head(aspect)
        for aspect, count in whole.items()
        if max(count, heads[_head(aspect)]) >= least
    }
    return [replace(review, mentions=tuple(_renamed(review.mentions, names))) for review in reviews]


def _document_frequency(mentioned: Iterable[set[str]]) -> Counter[str]:
    return Counter(name for names in mentioned for name in names)


def _head(aspect: str) -> str:
    return aspect.rpartition(" ")[2]


def _renamed(mentions: Iterable[Mention], names: dict[str, str]) -> Iterable[Mention]:
    kept = ((each, names[each.aspect]) for each in mentions if each.aspect in names)
    return (each if each.aspect == name else replace(each, aspect=name) for each, name in kept)
