"""Simulated visitors of the demo: they search, look at the list that is really shown to them, and click."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from rankloop.candidate import Candidate
from rankloop.demo.product_search import Corpus, Hit
from rankloop.demo.taste import LIKED, Taste
from rankloop.lab.users import PresetUser
from rankloop.metrics import NDCG
from rankloop.service import UserEvent
from rankloop.service.service_facade import ServiceFacade
from rankloop.types import IntArray, Query, Ranking

SHOWN = 10  # results of a list
AT_ONCE = 10  # visitors whose clicks are learned together
GRADE = NDCG(k=SHOWN)


@dataclass(frozen=True, slots=True)
class Visit:
    """A list that a visitor saw, as their hidden taste grades it."""

    fit: float  # nDCG
    clicks: int
    own: float = 0.0  # nDCG of the search engine's own order
    first: int = 0  # the position of the first result that they like; one more than are shown: there is none
    own_first: int = 0  # the same in the search engine's own order


@dataclass(frozen=True, slots=True, eq=False)
class Topic:
    """A search that visitors make, with what can be found, and what they think of it."""

    text: str
    hits: Sequence[Hit]
    grades: IntArray
    candidates: Sequence[Candidate]


@dataclass(frozen=True, eq=False)
class Crowd:
    """Visitors with one taste; who they are and what they search follows from a seed."""

    service: ServiceFacade
    ranker: str
    topics: Sequence[Topic]
    users: PresetUser

    @classmethod
    def of(
        cls,
        service: ServiceFacade,
        ranker: str,
        corpus: Corpus,
        taste: Taste,
        *,
        searches: Sequence[str],
        users: PresetUser | None = None,
    ) -> Crowd:
        """Visitors who make these searches, as far as anything is found."""
        found = [(text, corpus.search(text)) for text in searches]
        topics = [
            Topic(text, hits, taste.grades(hits), candidates_of(hits))
            for text, hits in found
            if len(hits) > SHOWN
        ]
        return cls(service, ranker, topics, users or PresetUser("informational"))

    def visits(self, number: int, *, seed: int) -> Iterator[Visit]:
        """So many visits, one after the other; clicks of a few visitors at a time are learned together."""
        choice, clicking = map(np.random.default_rng, np.random.SeedSequence(seed).spawn(2))
        for start in range(0, number, AT_ONCE):
            batch = range(start, min(start + AT_ONCE, number))
            events: list[UserEvent] = []
            seen: list[Visit] = []
            for visitor in batch:
                topic = self.topics[int(choice.integers(len(self.topics)))]
                visit, clicks = self._visit(topic, f"visitor-{seed}-{visitor}", clicking)
                seen.append(visit)
                events += clicks
            self.service.record(events)
            self.service.flush(self.ranker)
            yield from seen

    def _visit(self, topic: Topic, visitor: str, rng: np.random.Generator) -> tuple[Visit, list[UserEvent]]:
        shown = self.service.rank(
            topic.candidates, ranker=self.ranker, k=SHOWN, user_query=topic.text, client_id=visitor
        )
        rows = {each.object_id: row for row, each in enumerate(topic.candidates)}
        order = np.array([rows[name] for name in shown.object_ids])
        clicks = self._clicks(topic, order, rng)
        events = [
            UserEvent(shown.query_id, shown.object_ids[index], ordinal=index + 1, client_id=visitor)
            for index in clicks
        ]
        own = np.arange(len(topic.hits))
        visit = Visit(
            fit=GRADE(order, topic.grades),
            clicks=len(clicks),
            own=GRADE(own, topic.grades),
            first=first_liked(order, topic.grades),
            own_first=first_liked(own, topic.grades),
        )
        return visit, events

    def _clicks(self, topic: Topic, order: IntArray, rng: np.random.Generator) -> list[int]:
        """The indices of the results that a visitor clicks."""
        query = Query(topic.text, np.zeros((len(topic.hits), 1)))  # visitors look at results, not at numbers
        user = self.users.for_grades(5)
        feedback = user.respond(Ranking(query, order), topic.grades, rng)
        return [int(index) for index in np.flatnonzero(feedback.clicks)]


def first_liked(order: IntArray, grades: IntArray) -> int:
    """The position of the first result that someone likes; one more than are shown if there is none.

    >>> first_liked(np.array([2, 0, 1]), np.array([4, 0, 0]))
    2
    """
    liked = np.flatnonzero(grades[order[:SHOWN]] >= LIKED)
    return int(liked[0]) + 1 if liked.size else SHOWN + 1


def candidates_of(hits: Sequence[Hit]) -> list[Candidate]:
    """What the ranker is asked to rank, in the search engine's own order."""
    return [
        Candidate(hit.entry.name, hit.features, group=hit.entry.seller, title=hit.entry.title) for hit in hits
    ]
