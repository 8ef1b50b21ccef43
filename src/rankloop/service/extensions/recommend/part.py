"""Part of a recommendation: from what the candidates of a list were chosen."""

from __future__ import annotations

import msgspec

from rankloop.service.store import PartType


class RecommendPart(msgspec.Struct, frozen=True, kw_only=True, array_like=True, tag=1):
    """What a recommender knew when it chose the candidates of a list: with who asked, enough for reasons."""

    digest: str  # of the recommender's file
    items: tuple[str, ...] = ()  # past items that the caller named
    answers: tuple[tuple[str, str], ...] = ()  # to questions of an interview


PART = PartType("recommend", RecommendPart)
