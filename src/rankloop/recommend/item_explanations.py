"""Textual reasons: templates in which every slot has support in what was learned and what was said."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import islice

from rankloop.recommend.feature_ranker import FeatureRanker
from rankloop.recommend.item_catalogue import Catalogue, cells
from rankloop.recommend.phrases import Phrases
from rankloop.recommend.reasons import Part, Reasons
from rankloop.recommend.recommender import Taste
from rankloop.types import FloatArray

LEAST_SHARE = 0.02  # smaller parts are not worth a sentence
OFTEN = 2  # mentions that make "often"


def explanation(
    reasons: Reasons,
    taste: Taste,
    catalogue: Catalogue,
    *,
    user: int | None = None,
    phrases: Phrases | None = None,
    features: FeatureRanker | None = None,
    did: str = "reviewed",
) -> list[str]:
    """What to tell a person: the parts of the score, then two features of the item that reviewers praise.

    Features are those of the rules; where there are none, those that a ranker of features puts first, or
    that the reviewers praise most. `did` is what someone did with past items.
    """
    scores = None if features is None else features.of_item(reasons.item, user)
    aspects = reasons.aspects or shared_features(catalogue, reasons.item, user, scores=scores)
    named = replace(reasons, aspects=aspects[:2])
    return [
        *sentences(replace(reasons, aspects=()), taste, catalogue, user=user, did=did),
        *feature_sentences(named, catalogue, user=user, phrases=phrases),
    ]


def sentences(
    reasons: Reasons,
    taste: Taste,
    catalogue: Catalogue,
    *,
    user: int | None = None,
    limit: int = 4,
    did: str = "reviewed",
) -> list[str]:
    """What speaks for an item, in words: the parts of its score, then what reviewers say of its features.

    A sentence is left out where it has no support: a share is a part of this score, a number of reviewers was
    counted, a word was used of this item.

    >>> from rankloop.lab.data.review_data import Shop
    >>> from rankloop.recommend import IALS
    >>> import numpy as np
    >>> reviews = Shop(users=60, items=24).reviews()
    >>> model = IALS(d=8).fit(reviews, np.random.default_rng(0))
    >>> taste = model.taste([0, 4])
    >>> sentences(model.reasons(taste, 6), taste, Catalogue.of(reviews), limit=1)
    ['72 % because you reviewed Rugged Holder for Alpa.']
    """
    said = (
        text
        for part in reasons.strongest
        if reasons.exact and reasons.score > 0 and part.amount >= LEAST_SHARE * reasons.score
        for text in _part(part, reasons, taste, catalogue, user, did)
    )
    return [*islice(said, limit), *feature_sentences(reasons, catalogue, user=user)]


def feature_sentences(
    reasons: Reasons, catalogue: Catalogue, *, user: int | None = None, phrases: Phrases | None = None
) -> list[str]:
    """What reviewers say of the features that matter, with numbers that were counted.

    Whoever asks often counts the `phrases` of a catalogue once.
    """
    if not reasons.aspects:
        return []
    phrases = phrases or Phrases.of(catalogue)
    return [
        text
        for feature in reasons.aspects
        for text in _feature(reasons.item, feature, catalogue, phrases, user=user)
    ]


def _part(
    part: Part, reasons: Reasons, taste: Taste, catalogue: Catalogue, user: int | None, did: str
) -> Iterable[str]:
    share = f"{part.amount / reasons.score:.0%}".replace("%", " %")
    if part.kind == "past item":
        yield f"{share} because you {did} {catalogue.titles[part.index]}."
    elif part.kind == "popularity" and part.condition == "reviews":
        yield f"{part.amount:.0f} people reviewed it."
    elif part.condition in ("liked", "disliked"):
        yield f"{share} because you {part.condition} {catalogue.titles[part.index]}."
    elif part.kind == "rule" and part.index in taste.answers:
        yield _answer(share, part.index, taste, catalogue)
    elif part.kind == "rule" and part.index >= 0 and part.condition == "much":
        yield from _rule(share, part.index, taste, catalogue, user)
    elif part.kind == "popularity" or (part.kind == "rule" and part.index < 0):
        yield f"{share} because people like it in general."


def _answer(share: str, column: int, taste: Taste, catalogue: Catalogue) -> str:
    """A rule that was decided by an answer, whose column is a feature or a title word."""
    name = (*catalogue.features, *catalogue.tokens)[column]
    if column < len(catalogue.features):
        much = "much" if taste.answers[column] > 0 else "little"
        return f"{share} because {name} means {much} to you."
    return f"{share} because you are {'' if taste.answers[column] > 0 else 'not '}looking for {name}."


def _rule(share: str, column: int, taste: Taste, catalogue: Catalogue, user: int | None) -> Iterable[str]:
    """A rule about a feature, or about a title word; the latter counts the items that have it."""
    if column < len(catalogue.features):
        often = "often " if _often(catalogue, user, column) else ""
        yield f"{share} because you {often}mention {catalogue.features[column]}."
        return
    token = column - len(catalogue.features)
    with_it = sum(token in cells(catalogue.attributes, item) for item in taste.items.tolist())
    if with_it:
        yield f"{share} because {with_it} of your {len(taste.items)} items are for {catalogue.tokens[token]}."


def _feature(
    item: int, feature: int, catalogue: Catalogue, phrases: Phrases, *, user: int | None
) -> Iterable[str]:
    good, bad = (int(cells(each, item).get(feature, 0)) for each in (catalogue.good, catalogue.bad))
    if not good > bad:
        return
    name = catalogue.features[feature]
    start = f"You often mention {name}; " if _often(catalogue, user, feature) else f"Its {name}: "
    word = phrases.best(item, feature)
    called = f", mostly as {catalogue.words[word]}" if word is not None else ""
    yield f"{start}{good} of {good + bad} mentions praise it{called}."
    if (item, feature) in catalogue.quotes:
        yield f"A reviewer: “{catalogue.quotes[item, feature]}”"


def _often(catalogue: Catalogue, user: int | None, feature: int) -> bool:
    return user is not None and cells(catalogue.by_user, user).get(feature, 0) >= OFTEN


def shared_features(
    catalogue: Catalogue,
    item: int,
    user: int | None = None,
    *,
    count: int = 3,
    scores: FloatArray | None = None,
) -> tuple[int, ...]:
    """Features of an item that reviewers praise, by their scores or those first that the user mentions."""
    good = cells(catalogue.good, item)
    own = {} if user is None else cells(catalogue.by_user, user)
    praised = sorted(feature for feature, mentions in good.items() if mentions > 0)

    def worth(feature: int) -> float:
        return good[feature] * (1 + own.get(feature, 0)) if scores is None else float(scores[feature])

    return tuple(sorted(praised, key=worth, reverse=True)[:count])
