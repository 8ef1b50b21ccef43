"""Shop of the demo: the real service with a recommender that was fitted to its reviews, and its shoppers."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from statistics import fmean

import numpy as np

from rankloop.demo.goods import Good, goods
from rankloop.demo.product_reviews import Review, as_reviews, written
from rankloop.errors import RequestError
from rankloop.recommend import Catalogue, FacT, FittedRecommender, Interview
from rankloop.service import (
    ClientLimit,
    GuardrailSettings,
    RankerSettings,
    Recommendation,
    RecommendRequest,
    UserEvent,
)
from rankloop.service.service_facade import ServiceFacade

RANKER = "for-you"
# The list is the recommender's, in which clicks move things by a few positions: one click far down must not
# teach that what the recommender scores low is good.
SETTINGS = RankerSettings(
    guardrails=GuardrailSettings(max_displacement=3),
    learn_late=True,
    client_limit=ClientLimit(lists=None, repeats=None),
)
# Questions are about features alone, and rules and past items count about alike.
MODEL = FacT(d=12, depth=5, min_leaf=4, attributes=False, regularisation=0.1, leaf_weight=1.0)
SHOWN = 8
CANDIDATES = 30
MOST_SHOPPERS = 1000
QUOTED = 4  # reviews of a good that are shown


@cache
def fitted() -> FittedRecommender:
    """The recommender, fitted to the shop's reviews: the same one at every start.

    >>> len(fitted().catalogue.items)
    72
    """
    reviews = as_reviews(written())
    return FittedRecommender.of(MODEL.fit(reviews, np.random.default_rng(0)), Catalogue.of(reviews))


@dataclass(eq=False)
class Shopper:
    """Someone with a cookie: what they answered, what they chose, and where things stood last."""

    answers: dict[str, str] = field(default_factory=dict)
    chosen: list[str] = field(default_factory=list)
    positions: Mapping[str, int] = field(default_factory=dict)

    def moves(self, found: Recommendation) -> dict[str, int | None]:
        """How many positions each result went up since the last look; None: it was not there."""
        now = {result.object_id: result.position for result in found.ranking}
        before, self.positions = self.positions or now, now
        return {name: before[name] - position if name in before else None for name, position in now.items()}


@dataclass(eq=False)
class CampingShop:
    """Everything behind the shop's page; any thread may call it."""

    service: ServiceFacade
    shoppers: OrderedDict[str, Shopper] = field(default_factory=OrderedDict)

    def __post_init__(self) -> None:
        """Begin the ranker, fed by the recommender."""
        if RANKER not in self.service.rankers():
            self.service.create(RANKER, SETTINGS)
        self.service.feed(RANKER, fitted())
        self._first = self.service.store.read_decisions(RANKER)[0].seq
        self.goods: Mapping[str, Good] = {each.id: each for each in goods()}
        self.reviews: dict[str, list[Review]] = {}
        for review in written():
            self.reviews.setdefault(review.good, []).append(review)

    def shopper(self, visitor: str) -> Shopper:
        """Whom a cookie belongs to."""
        found = self.shoppers.setdefault(visitor, Shopper())
        self.shoppers.move_to_end(visitor)
        while len(self.shoppers) > MOST_SHOPPERS:
            self.shoppers.popitem(last=False)
        return found

    def interview(self, shopper: Shopper) -> Interview:
        """Where the interview stands."""
        return self.service.interview(RANKER, shopper.answers)

    def answer(self, shopper: Shopper, question: str, answer: str) -> None:
        """Keep an answer, if the question was asked and can be answered so."""
        answers = {**shopper.answers, question: answer}
        self.service.interview(RANKER, answers)
        shopper.answers = answers

    def recommend(self, shopper: Shopper, *, visitor: str) -> Recommendation:
        """A list with its reasons, from what is known of a shopper."""
        return self.service.recommend(
            RecommendRequest(
                ranker=RANKER,
                items=tuple(shopper.chosen),
                answers=shopper.answers,
                k=SHOWN,
                n_candidates=CANDIDATES,
                session_id=visitor,
            )
        )

    def choose(self, shopper: Shopper, query_id: str, object_id: str, *, visitor: str) -> int:
        """Report a click and learn from it at once; the good's position in the list."""
        shown = self.service.audit(query_id).impression
        if shown.ranker != RANKER or object_id not in shown.shown:
            raise RequestError(f"{object_id[:50]!r} was not in that list of the shop")
        position = shown.shown.index(object_id) + 1
        self.service.record([UserEvent(query_id, object_id, ordinal=position, client_id=visitor)])
        self.service.flush(RANKER)
        if object_id not in shopper.chosen:
            shopper.chosen.append(object_id)
        return position

    def start_over(self, visitor: str) -> None:
        """A newcomer again, and the ranker at its first version; the log keeps everything."""
        self.shoppers.pop(visitor, None)
        self.service.rollback(RANKER, to=self._first)

    def said_of(self, name: str) -> list[Review]:
        """Some reviews of a good, those that say most first."""
        found = self.reviews.get(name, [])
        return sorted(found, key=lambda each: -len(each.said))[:QUOTED]

    def stars(self, name: str) -> tuple[float, int] | None:
        """The mean of a good's stars, and how many reviews it has; None if nobody reviewed it."""
        found = self.reviews.get(name, [])
        return (fmean(each.stars for each in found), len(found)) if found else None
