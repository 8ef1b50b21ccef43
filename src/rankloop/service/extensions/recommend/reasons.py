"""Reasons of a recommended list as the API gives them: named parts with shares, and sentences."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec
import numpy as np

from rankloop.errors import RequestError
from rankloop.recommend import Explanation, ExplanationPart, UserProfile, explain_items
from rankloop.service.extensions.recommend.recommender_candidates import ServedRecommender


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
    model = found.fitted.model
    if model.exact:
        return ""
    return (
        f"{type(model).__name__} cannot say why: its scores have no exact parts; for reasons use FacT, "
        "EvidenceALS, IALS or MostPopular"
    )


def item_reasons(
    found: ServedRecommender, profile: UserProfile, object_ids: Iterable[str]
) -> tuple[ItemReasons, ...]:
    """Explain these items in one call, in the order of the list: the batch can change the last bit."""
    if sentence := no_reasons(found):
        raise RequestError(sentence)
    rows = np.array([found.items[each] for each in object_ids], np.int64)
    return tuple(_name(found, each) for each in explain_items(found.fitted, profile, rows))


def _name(found: ServedRecommender, explanation: Explanation) -> ItemReasons:
    shop = found.fitted.catalogue
    return ItemReasons(
        object_id=shop.items[explanation.item],
        title=shop.titles[explanation.item],
        score=explanation.score,
        parts=tuple(_name_part(part, explanation.score) for part in explanation.parts),
        sentences=explanation.sentences,
    )


def _name_part(part: ExplanationPart, score: float) -> NamedPart:
    share = part.amount / score if score else 0.0
    source = part.source
    return NamedPart(source.kind, part.about, part.id, part.name, source.answer, part.amount, share)
