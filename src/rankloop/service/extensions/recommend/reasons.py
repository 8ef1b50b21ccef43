"""Reasons of a recommended list, with names in place of numbers, and in sentences."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from rankloop.errors import RequestError
from rankloop.recommend import Part, Reasons
from rankloop.recommend.item_explanations import explanation
from rankloop.service.extensions.recommend.interview_session import subject
from rankloop.service.extensions.recommend.recommender_candidates import Person, ServedRecommender


class NamedPart(msgspec.Struct, frozen=True):
    """A part of a score: where it comes from, how much it is, and which share of the score."""

    kind: str  # rule, past item or popularity
    about: str  # feature, attribute or item; empty: what everybody has in common
    id: str
    name: str
    condition: str  # of a rule: much, little, unknown, liked, disliked, unrated or everybody
    amount: float
    share: float  # of the score; parts may be negative, so that others are above 1


class ItemReasons(msgspec.Struct, frozen=True):
    """Why a result was recommended: the parts sum to the recommender's score."""

    object_id: str
    title: str
    score: float
    parts: tuple[NamedPart, ...]  # the largest first
    sentences: tuple[str, ...]


def no_reasons(found: ServedRecommender) -> str:
    """Why a recommender cannot say why; empty, if it can."""
    model = found.saved.model
    if model.exact:
        return ""
    return (
        f"{model.name} cannot say why: its scores have no exact parts; for reasons use fact, evidence-als, "
        "ials, fmf or most-popular"
    )


def item_reasons(
    found: ServedRecommender, person: Person, object_ids: Iterable[str]
) -> tuple[ItemReasons, ...]:
    """Why these items were recommended to someone."""
    if sentence := no_reasons(found):
        raise RequestError(sentence)
    return tuple(_of(found, person, found.items[each]) for each in object_ids)


def _of(found: ServedRecommender, person: Person, item: int) -> ItemReasons:
    shop, reasons = found.saved.catalogue, found.saved.model.reasons(person.taste, item)
    said = explanation(
        reasons,
        person.taste,
        shop,
        user=person.row,
        phrases=found.phrases,
        features=found.saved.features,
        did="chose" if person.row is None else "reviewed",
    )
    return ItemReasons(
        object_id=shop.items[item],
        title=shop.titles[item],
        score=reasons.score,
        parts=tuple(_named(found, part, reasons) for part in reasons.strongest),
        sentences=tuple(said),
    )


def _named(found: ServedRecommender, part: Part, reasons: Reasons) -> NamedPart:
    shop = found.saved.catalogue
    about, key, name = "", "", ""
    if part.kind == "rule" and part.index >= 0:
        about, key, name = subject(found.saved, part.index)
    elif part.kind in ("past item", "popularity"):
        about, key, name = "item", shop.items[part.index], shop.titles[part.index]
    share = part.amount / reasons.score if reasons.score else 0.0
    return NamedPart(part.kind, about, key, name, part.condition, part.amount, share)
