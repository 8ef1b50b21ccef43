"""Explanations of recommended items: the parts of their scores with names, and sentences for people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np

from rankloop.errors import SettingError
from rankloop.recommend.item_catalogue import Catalogue, cells_of
from rankloop.recommend.recommender import ScoreSource, UserProfile, check_rows
from rankloop.recommend.recommender_file import FittedRecommender
from rankloop.types import FloatArray, IntArray

About: TypeAlias = Literal["", "feature", "attribute", "item"]
WORTH_TELLING = 0.02  # of all amounts; smaller parts are not worth a word
MOSTLY = 0.5  # of what speaks for an item
OFTEN = 2  # mentions that make "often"
FEATURES_NAMED = 2


@dataclass(frozen=True, slots=True)
class ExplanationPart:
    """A part of a score: what it comes from, by name, and how much it adds."""

    source: ScoreSource
    amount: float
    about: About  # empty: what everybody has in common
    id: str
    name: str


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why an item was recommended; if `exact`, the parts sum to its score."""

    item: int
    score: float
    parts: tuple[ExplanationPart, ...]  # the largest first
    sentences: tuple[str, ...]
    exact: bool


def explain_items(
    fitted: FittedRecommender, profile: UserProfile, items: Sequence[int] | IntArray
) -> list[Explanation]:
    """Explain some items to one person: named parts of their scores, and what reviewers say of them.

    >>> from rankloop.lab.data.review_data import AccessoryShop
    >>> from rankloop.recommend import IALS, FittedRecommender
    >>> reviews = AccessoryShop(users=60, items=24).reviews()
    >>> model = IALS(d=8).fit(reviews, np.random.default_rng(0))
    >>> fitted = FittedRecommender.of(model, Catalogue.of(reviews))
    >>> explanation, = explain_items(fitted, model.profile_newcomer([0, 4]), [6])
    >>> explanation.sentences[0]
    'Mostly because you chose Rugged Holder for Alpa; also, you chose Slim Case for Alpa.'
    """
    rows = check_rows(items, len(fitted.catalogue.items))
    split = fitted.model.split_scores(profile, rows)
    scores, features = fitted.model.score_profile(profile)[rows], _score_features(fitted, profile, rows)
    found = []
    for place, item in enumerate(rows.tolist()):
        named = [
            _name_part(fitted, source, float(amount), item)
            for source, amount in zip(split.sources, split.amounts[place], strict=True)
        ]
        parts = sorted(named, key=lambda part: -part.amount)
        own = None if features is None else features[place]
        chosen = choose_features(fitted.catalogue, item, profile.row, scores=own)
        said = write_sentences(parts, profile, fitted.catalogue) if split.exact else []
        said += write_feature_sentences(item, chosen, fitted.catalogue, user=profile.row)
        found.append(Explanation(item, float(scores[place]), tuple(parts), tuple(said), split.exact))
    return found


def write_sentences(
    parts: Sequence[ExplanationPart], profile: UserProfile, catalogue: Catalogue
) -> list[str]:
    """Say in one sentence what speaks for an item and what against it; nothing, if no part can be named.

    A part is told where it has support: what someone chose or mentions, or a number that was counted.
    """
    total = sum(abs(part.amount) for part in parts)
    told = [part for part in parts if abs(part.amount) >= WORTH_TELLING * total]
    why = [(part, _describe_part(part, profile, catalogue)) for part in told if part.amount > 0]
    speaking = [(part, text) for part, text in why if text]
    against = next((part.name for part in reversed(told) if part.amount < 0 and part.name), "")
    if speaking and speaking[0][0].source.kind == "popularity" and speaking[0][0].source.answer:
        return [speaking[0][1]]
    sentences = []
    if speaking:
        first, text = speaking[0]
        mostly = first.amount >= MOSTLY * sum(part.amount for part in parts if part.amount > 0)
        also = f"; also, {speaking[1][1]}" if len(speaking) > 1 else ""
        sentences.append(f"{'Mostly because' if mostly else 'Because'} {text}{also}.")
    if against:
        sentences.append(f"Against it: {against}.")
    return [" ".join(sentences)] if sentences else []


def write_feature_sentences(
    item: int, features: Sequence[int], catalogue: Catalogue, *, user: int | None = None
) -> list[str]:
    """Say what reviewers praise about these features of an item, with numbers that were counted."""
    return [text for feature in features for text in _describe_feature(item, feature, catalogue, user=user)]


def choose_features(
    catalogue: Catalogue,
    item: int,
    user: int | None = None,
    *,
    scores: FloatArray | None = None,
    count: int = FEATURES_NAMED,
) -> tuple[int, ...]:
    """Choose features of an item to name: those that a model scores highest, or that reviewers praise.

    Praise counts more where the user mentions the feature, too. A model chooses among all features that it
    gives a score above 0; if there are none, praise decides.
    """
    if scores is not None and (scores > 0).any():
        best = np.argsort(-scores, kind="stable")
        return tuple(int(feature) for feature in best if scores[feature] > 0)[:count]
    good = cells_of(catalogue.good, item)
    own = {} if user is None else cells_of(catalogue.by_user, user)
    praised = sorted(feature for feature, mentions in good.items() if mentions > 0)
    return tuple(sorted(praised, key=lambda each: -good[each] * (1 + own.get(each, 0)))[:count])


def name_question(fitted: FittedRecommender, column: int) -> tuple[About, str, str]:
    """Name what a question of the tree is about: its kind, its id, and its name for people."""
    shop, questions = fitted.catalogue, fitted.model.question_tree()
    if questions is not None and questions.about_items:
        return "item", shop.items[column], shop.titles[column]
    if column < len(shop.features):
        return "feature", shop.features[column], shop.features[column]
    token = shop.tokens[column - len(shop.features)]
    return "attribute", token, token


def describe_answer(about: About, name: str, answer: int) -> str:
    """Say in words what an answer tells of someone.

    >>> describe_answer("feature", "weight", 1), describe_answer("item", "Lamp", -1)
    ('weight means much to you', 'you disliked Lamp')
    """
    if about == "item":
        return f"you {'liked' if answer > 0 else 'disliked'} {name}"
    if about == "feature":
        return f"{name} means {'much' if answer > 0 else 'little'} to you"
    return f"you are {'' if answer > 0 else 'not '}looking for {name}"


def _score_features(fitted: FittedRecommender, profile: UserProfile, items: IntArray) -> FloatArray | None:
    try:
        return fitted.model.score_features(profile, items)
    except SettingError:  # it says nothing about features, or not to a newcomer
        return None


def _name_part(fitted: FittedRecommender, source: ScoreSource, amount: float, item: int) -> ExplanationPart:
    shop = fitted.catalogue
    if source.kind == "rule" and source.index >= 0:
        return ExplanationPart(source, amount, *name_question(fitted, source.index))
    if source.kind == "popularity":  # of the item itself
        source = replace(source, index=item)
    if source.kind in ("past item", "popularity"):
        return ExplanationPart(source, amount, "item", shop.items[source.index], shop.titles[source.index])
    return ExplanationPart(source, amount, "", "", "")


def _describe_part(part: ExplanationPart, profile: UserProfile, catalogue: Catalogue) -> str:
    """Say a part as the end of "because ..."; nothing, if it has no support."""
    source = part.source
    if source.kind == "past item":
        return f"you {'chose' if profile.row is None else 'reviewed'} {part.name}"
    if source.kind == "popularity" and source.answer:
        return f"{part.amount:.0f} people reviewed it."
    if source.kind == "popularity" or (source.kind == "rule" and source.index < 0):
        return "people like it in general"
    return _describe_rule(part, profile, catalogue) if source.kind == "rule" else ""


def _describe_rule(part: ExplanationPart, profile: UserProfile, catalogue: Catalogue) -> str:
    """Say a rule by the answer that decided it, or by what the person mentions or owns."""
    column, answer = part.source.index, part.source.answer
    if answer in ("liked", "disliked"):
        return f"you {answer} {part.name}"
    if profile.answers.get(column):
        return describe_answer(part.about, part.name, profile.answers[column])
    if answer != "much":
        return ""
    if part.about == "feature":
        often = "often " if _mentions_often(catalogue, profile.row, column) else ""
        return f"you {often}mention {part.name}"
    token = column - len(catalogue.features)
    with_it = sum(token in cells_of(catalogue.attributes, item) for item in profile.items.tolist())
    return f"{with_it} of your {len(profile.items)} items are for {part.name}" if with_it else ""


def _describe_feature(item: int, feature: int, catalogue: Catalogue, *, user: int | None) -> Iterator[str]:
    good, bad = (int(cells_of(each, item).get(feature, 0)) for each in (catalogue.good, catalogue.bad))
    if not good > bad:
        return
    name = catalogue.features[feature]
    start = f"You often mention {name}; " if _mentions_often(catalogue, user, feature) else f"Its {name}: "
    word = catalogue.find_common_word(item, feature)
    yield f"{start}{good} of {good + bad} mentions praise it{f', mostly as {word}' if word else ''}."
    if (item, feature) in catalogue.quotes:
        yield f"A reviewer: “{catalogue.quotes[item, feature]}”"


def _mentions_often(catalogue: Catalogue, user: int | None, feature: int) -> bool:
    return user is not None and cells_of(catalogue.by_user, user).get(feature, 0) >= OFTEN
